"""What a search says and makes as it begins, and closes if it is refused."""

import errno
from pathlib import Path
from typing import Any, Final

import gymnasium
import numpy as np
import pytest

from rolecast.core.disk import LocalDisk
from rolecast.core.errors import RequestError, RunError
from rolecast.platform.cli.app import main
from rolecast.platform.search.progress import Silent
from rolecast.platform.search.records.run_folder import RunFolder
from rolecast.platform.search.run import resume, search

SMALL: dict[str, Any] = {
    "optimizer": "random",
    "env_steps": 200,
    "episodes": 2,
    "batch_size": 4,
    "test_episodes": 4,
    "task_options": {"horizon": 5},
}


QUICK: Final = ("--evaluations", "6", "--episodes", "2", "--test-episodes", "2", "--workers", "0")


class Counted(gymnasium.Env[Any, Any]):
    """Counts how many of it are open."""

    observation_space = gymnasium.spaces.Box(-1.0, 1.0, (2,))
    action_space = gymnasium.spaces.Box(-1.0, 1.0, (1,))
    opened, closed = 0, 0

    def __init__(self) -> None:
        self.open = True
        Counted.opened += 1

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        return np.zeros(2, dtype=np.float32), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        return np.zeros(2, dtype=np.float32), float(action[0]), False, False, {}

    def close(self) -> None:
        Counted.closed += self.open
        self.open = False


@pytest.fixture
def counted() -> type[Counted]:
    Counted.opened = Counted.closed = 0
    return Counted


@pytest.mark.parametrize(
    "wrong",
    [
        {"test_episodes": 10**12},
        {"policy_options": {"hidden": 3}},
        {"address": "127.0.0.1:1", "workers": 2},
        {"out": "."},
    ],
)
def test_a_refused_search_closes_what_it_has_made(
    wrong: dict[str, Any], counted: type[Counted], tmp_path: Path
) -> None:
    settings = SMALL | {"out": tmp_path / "run"} | wrong
    with pytest.raises(RequestError):
        search(counted, **settings)
    assert counted.opened == counted.closed > 0


def test_a_refused_resume_closes_what_it_has_made(counted: type[Counted], tmp_path: Path) -> None:
    search(counted, out=tmp_path / "run", **SMALL)
    assert counted.opened == counted.closed
    with pytest.raises(RequestError):
        resume(tmp_path / "run", task=counted, workers=2, address="127.0.0.1:1")
    assert counted.opened == counted.closed
    resume(tmp_path / "run", task=counted, env_steps="+50")
    assert counted.opened == counted.closed


class Notes(Silent):
    """Keeps what it is told."""

    def __init__(self) -> None:
        self.said: list[str] = []

    def note(self, text: str) -> None:
        self.said.append(text)


def test_remarks_are_made_once_a_run(counted: type[Counted], tmp_path: Path) -> None:
    """Some of them cost episodes."""
    first, second = Notes(), Notes()
    settings = SMALL | {"policy": "hom"}
    search(counted, out=tmp_path / "run", progress=first, **settings)
    resume(tmp_path / "run", task=counted, env_steps="+50", progress=second)
    (remark,) = [text for text in first.said if "policy linear" in text]
    assert remark not in second.said
    assert "going on after 20 evaluations" in second.said


def test_a_finished_search_is_not_extended_by_less_than_an_evaluation(
    counted: type[Counted], tmp_path: Path
) -> None:
    """It did nothing, and told the old result. Two evaluations of the budget are confirmation."""
    search(counted, out=tmp_path / "run", **SMALL | {"policy": "linear"})
    with pytest.raises(RequestError, match="env_steps is 210; expected at least 230, with which"):
        resume(tmp_path / "run", task=counted, env_steps="+10")
    again = resume(tmp_path / "run", task=counted, env_steps="+30")
    assert again.summary["env_steps"] == 230


class Uneven(Counted):
    """Ends after 1 step, and every tenth time after 40."""

    episode, steps = 0, 0

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        self.episode, self.steps = self.episode + 1, 0
        return super().reset(seed=seed)

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.steps += 1
        over = self.steps >= (40 if self.episode % 10 == 0 else 1)
        return np.zeros(2, dtype=np.float32), float(action[0]), over, False, {}


def test_a_search_without_a_horizon_is_extended_by_its_dearest_evaluation_or_refused(
    tmp_path: Path,
) -> None:
    """An evaluation must fit that is as long as the longest so far, of 40 steps here."""
    settings = SMALL | {"task_options": {}, "episodes": 1, "policy": "linear", "env_steps": 1500}
    before = search(Uneven, out=tmp_path / "run", workers=0, **settings).summary
    with pytest.raises(RequestError, match="with which one evaluation more fits"):
        resume(tmp_path / "run", task=Uneven, env_steps="+20")
    again = resume(tmp_path / "run", task=Uneven, env_steps="+90").summary
    assert again["policy_evaluations"] > before["policy_evaluations"]


def test_a_folder_that_a_full_disk_left_without_a_run_is_begun_again(tmp_path: Path) -> None:
    class FullDisk(LocalDisk):
        def create(self, path: Path, data: bytes) -> None:
            super().create(path, data[:10])
            raise OSError(errno.ENOSPC, "No space left on device", str(path))

    out = tmp_path / "run"
    with pytest.raises(RunError, match="make room or mend it, then give the command again"):
        RunFolder(out, disk=FullDisk()).make({})
    assert out.is_dir()
    assert not (out / "run.json").exists()
    assert len(search(Counted, out=out, workers=0, **SMALL).history) > 0
    with pytest.raises(RequestError, match="exists; expected a path that does not, or `rolecast"):
        search(Counted, out=out, workers=0, **SMALL)


@pytest.mark.parametrize("inside", ["", "checkpoint"])
def test_a_folder_that_an_interrupt_left_empty_is_begun_again(tmp_path: Path, inside: str) -> None:
    out = tmp_path / "run"
    (out / inside).mkdir(parents=True)
    assert main(["search", "pred_prey_3", "--resume", *QUICK, "--out", str(out)]) == 0
    assert RunFolder(out).read_summary() is not None


def test_a_file_is_no_folder_for_a_run(tmp_path: Path) -> None:
    out = tmp_path / "run"
    out.write_text("notes")
    with pytest.raises(RequestError, match="exists; expected a path that does not, the folder of"):
        search(Counted, out=out, workers=0, **SMALL)
    assert out.read_text() == "notes"
