"""A small finished run to look at, a browser, and the moment in which they stop a search."""

import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import rolecast
from rolecast.platform.search.progress import ProgressSnapshot, Silent
from rolecast.platform.search.records import journal
from rolecast.platform.search.records.measurements import complete_run
from rolecast.platform.search.records.run_folder import RunFolder
from rolecast.platform.search.run import SearchInterrupted
from tests.platform.chromium import Browser

AwaitBatch = Callable[..., bool]


class Interrupts(Silent):
    """Raises what Ctrl-C raises, after some batches."""

    def __init__(self, after: int) -> None:
        self.after = after

    def update(self, figures: ProgressSnapshot) -> None:
        if figures.batch == self.after:
            raise KeyboardInterrupt


@pytest.fixture(scope="session")
def interrupts_after() -> Callable[[int], Silent]:
    """Return what interrupts a search after so many batches, as its progress."""
    return Interrupts


@pytest.fixture(scope="session")
def await_batch() -> AwaitBatch:
    """Wait until the search in a folder has kept whole batches, or until it is known to be over.

    The file itself shows earlier: a write that has begun is not a batch.
    """

    def wait(out: Path, over: Callable[[], bool], batches: int = 1) -> bool:
        deadline = time.monotonic() + 120.0
        while len(journal.read(out / "checkpoint" / "journal.bin")) < batches:
            if over():
                return False
            assert time.monotonic() < deadline, f"no {batches} in {out} after two minutes"
            time.sleep(0.002)
        return True

    return wait


@pytest.fixture(scope="session")
def small_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of a finished search of a second, without Ray; tests only read it."""
    out = tmp_path_factory.mktemp("runs") / "small"
    rolecast.search(
        "pred_prey_3",
        optimizer="local_gp",
        evaluations=60,
        episodes=4,
        batch_size=10,
        workers=0,
        test_episodes=20,
        out=str(out),
    )
    complete_run(out)
    return out


@pytest.fixture
def extended_run(small_run: Path, tmp_path: Path) -> Path:
    """Folder of a finished search that was extended, and interrupted after one more batch."""
    out = tmp_path / "extended"
    shutil.copytree(small_run, out)
    last, _ = RunFolder.open(out).read_end()
    assert last is not None
    with pytest.raises(SearchInterrupted):
        rolecast.resume(out, evaluations="+30", progress=Interrupts(last.index + 2))
    return out


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """A page that tests share."""
    if shutil.which("chromium") is None:
        pytest.skip("needs the Debian package chromium")
    made = Browser(tmp_path_factory.mktemp("chromium"))
    yield made
    made.close()
