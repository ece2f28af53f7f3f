"""The page of a running search: reloaded while a process holds the run's lock, final after it."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rolecast.core.errors import RequestError
from rolecast.platform.cli.app import main
from rolecast.platform.reports.watch import watch_pages
from rolecast.platform.search.records.run_folder import RunFolder
from rolecast.platform.search.run import search

RELOAD = re.compile(r'<meta http-equiv="refresh" content="(\d+)">')


@pytest.fixture
def running(small_run: Path, tmp_path: Path) -> Iterator[RunFolder]:
    """A run in the middle: it has batches and no result, and its lock is held, as by a search."""
    folder = RunFolder.open(shutil.copytree(small_run, tmp_path / "run"))
    (folder.path / "summary.json").unlink()
    folder.lock()
    yield folder
    folder.release()


def test_a_page_reloads_itself_until_the_search_ends(running: RunFolder) -> None:
    waited: list[float] = []
    pages = watch_pages(running.path, every_s=2.5, sleep=waited.append)
    text = next(pages).read_text()
    assert RELOAD.findall(text) == ["3"]
    assert re.search(r"Running at \d\d:\d\d:\d\d on .*of the budget is spent", text)
    assert "Learning curve" in text
    assert "<h2>An episode</h2>" not in text
    next(pages)
    assert waited
    assert min(waited) >= 2.5
    running.release()
    (last,) = list(pages)
    assert last == running.path / "watch.html"
    assert not RELOAD.search(last.read_text())
    assert not (running.path / "report.html").exists()


def test_a_page_that_is_watched_no_more_reloads_no_more(
    running: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*given: Any, **options: Any) -> Iterator[Path]:
        page = next(watch_pages(*given, **options))
        assert RELOAD.search(page.read_text())
        yield page
        raise KeyboardInterrupt

    monkeypatch.setattr("rolecast.platform.reports.watch.watch_pages", interrupted)
    assert main(["watch", str(running.path)]) == 0
    text = (running.path / "watch.html").read_text()
    assert not RELOAD.search(text)
    assert "Nobody has watched since." in text


def test_a_page_reads_as_one_who_holds_no_lock(
    running: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Batches that move from one file to the next meanwhile are missing to a reader in order."""

    def of_the_search(_: RunFolder) -> Iterator[Any]:
        raise RequestError("batch 0 is missing")

    monkeypatch.setattr(RunFolder, "batches", of_the_search)
    assert "Learning curve" in next(watch_pages(running.path, every_s=1.0)).read_text()


def test_a_page_loads_nothing(running: RunFolder) -> None:
    text = next(watch_pages(running.path, every_s=1.0)).read_text()
    assert not re.search(r"https?://|<link|<script src|@import|fetch\(|src=\"(?!data:)", text)


def test_the_first_batch_is_waited_for(tmp_path: Path, running: RunFolder) -> None:
    for name in ("history.parquet", "incumbents.parquet", "journal"):
        path = running.path / name
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
    waited: list[float] = []

    def sleep(seconds: float) -> None:
        waited.append(seconds)
        if len(waited) == 3:
            running.release()

    with pytest.raises(RequestError, match="no evaluation yet"):
        list(watch_pages(running.path, every_s=0.5, sleep=sleep))
    assert waited == [0.5] * 3


def test_watching_a_finished_run_writes_one_page(
    small_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = shutil.copytree(small_run, tmp_path / "run")
    assert main(["watch", str(run)]) == 0
    said = capsys.readouterr()
    assert "watch.html" in said.out + said.err
    assert "the search has finished" in said.out + said.err
    assert "Held-out return" in (run / "watch.html").read_text()


def test_a_run_that_was_extended_and_stopped_is_watched_as_one_that_goes_on(
    extended_run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["watch", str(extended_run)]) == 0
    said = capsys.readouterr()
    assert f"no search runs any more; next: rolecast resume {extended_run}" in said.out + said.err
    text = (extended_run / "watch.html").read_text()
    assert "Not finished; go on with" in text
    assert "incumbent, held out" not in text


def test_a_search_can_be_watched_from_beside_it(tmp_path: Path) -> None:
    """A callback looks on: the search's own process holds the lock meanwhile."""
    seen: list[str] = []

    class Watcher:
        def log_trial_start(self, trial: Any) -> None:
            self.pages = watch_pages(Path(trial.local_path), every_s=1.0, sleep=lambda _: None)

        def log_trial_result(self, iteration: int, trial: Any, result: dict[str, Any]) -> None:
            if iteration in {1, 2} and "test_return" not in result:
                seen.append(next(self.pages).read_text())

        def log_trial_end(self, trial: Any, failed: bool = False) -> None:
            pass

    small: dict[str, Any] = {"policy": "mlp", "env_steps": 6_000, "episodes": 4, "batch_size": 10}
    search(
        "pred_prey_3",
        out=tmp_path / "run",
        workers=0,
        test_episodes=20,
        optimizer="local_gp",
        callbacks=[Watcher()],
        **small,
    )
    assert len(seen) == 2
    assert all(RELOAD.search(text) for text in seen)
    shown = [re.findall(r"([\d,]+) evaluations", text)[0] for text in seen]
    assert shown[0] != shown[1]


@pytest.mark.parametrize(
    ("words", "said"),
    [(["--every", "0"], "expected seconds above 0"), ([], "expected the folder of a run")],
)
def test_a_wrong_request_is_one_sentence(
    words: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["watch", str(tmp_path / "none"), *words]) == 2
    lines = capsys.readouterr().err.splitlines()
    (line,) = (each for each in lines if not each.startswith("rolecast: loading"))
    assert said in line
