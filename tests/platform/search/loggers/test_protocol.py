"""What a search tells its callbacks, when, and whose time that is."""

import time
from pathlib import Path
from typing import Any, Final

import pytest

from rolecast.core.errors import RequestError
from rolecast.platform.search.progress import ProgressSnapshot, Silent
from rolecast.platform.search.run import resume, search
from rolecast.platform.tuning.comparison import compare

SMALL: Final[dict[str, Any]] = {
    "policy": "mlp",
    "optimizer": "local_gp",
    "env_steps": 5_000,
    "episodes": 4,
    "batch_size": 10,
    "workers": 0,
    "test_episodes": 20,
}


class Recorder:
    """Keeps what it is told of searches."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self.results = 0

    def log_trial_start(self, trial: Any) -> None:
        self.begun.append(str(trial))

    def log_trial_result(self, iteration: int, trial: Any, result: dict[str, Any]) -> None:
        self.results += 1

    def log_trial_end(self, trial: Any, failed: bool = False) -> None:
        pass


class Slow(Recorder):
    """Takes its time, as a server does that is far away."""

    def log_trial_start(self, trial: Any) -> None:
        time.sleep(1.0)

    def log_trial_result(self, iteration: int, trial: Any, result: dict[str, Any]) -> None:
        super().log_trial_result(iteration, trial, result)
        time.sleep(0.2)


class Snapshots(Silent):
    """Keeps what it is told."""

    def __init__(self) -> None:
        self.told: list[ProgressSnapshot] = []

    def update(self, figures: ProgressSnapshot) -> None:
        self.told.append(figures)


@pytest.mark.parametrize("asynchronous", [False, True])
def test_the_time_of_callbacks_is_no_time_of_searching(tmp_path: Path, asynchronous: bool) -> None:
    slow, progress = Slow(), Snapshots()
    settings = SMALL | {"asynchronous": asynchronous, "threads": 1}
    began = time.monotonic()
    result = search(
        "pred_prey_3", out=tmp_path / "run", callbacks=[slow], progress=progress, **settings
    )
    elapsed = time.monotonic() - began
    assert result.summary["wall_time_s"] < elapsed - 1.0 - 0.2 * slow.results
    first, *_, last = progress.told
    running = last.wall_time_s - first.wall_time_s
    assert last.env_steps_per_s == pytest.approx((last.env_steps - first.env_steps) / running)


def test_where_episodes_run_while_callbacks_are_told_it_is_searching(tmp_path: Path) -> None:
    settings = SMALL | {"asynchronous": True, "threads": 2}
    progress = Snapshots()
    result = search(
        "pred_prey_3", out=tmp_path / "run", callbacks=[Slow()], progress=progress, **settings
    )
    first, *between, last = progress.told
    assert last.wall_time_s - first.wall_time_s > 0.2 * len(between)
    shares = result.summary["time_shares"]
    assert shares["workers_wait"] > 0.5
    assert sum(shares.values()) - shares["workers_wait"] == pytest.approx(1.0)


def test_time_left_includes_that_of_callbacks_to_come(tmp_path: Path) -> None:
    progress = Snapshots()
    search("pred_prey_3", out=tmp_path / "run", callbacks=[Slow()], progress=progress, **SMALL)
    _, second, *others = progress.told
    assert second.time_left_s is not None
    assert second.time_left_s > 0.2 * (len(others) - 1)


class Unready(Recorder):
    """Cannot open its store."""

    def setup(self, **info: Any) -> None:
        raise RequestError("the store is not there")


def test_callbacks_make_ready_before_a_folder_is_made(tmp_path: Path) -> None:
    unready, out = Unready(), tmp_path / "run"
    with pytest.raises(RequestError, match="the store is not there"):
        search("pred_prey_3", out=out, callbacks=[unready], **SMALL)
    with pytest.raises(RequestError, match="the store is not there"):
        compare("quickstart", out=out, callbacks=[unready])
    assert not out.exists()
    search("pred_prey_3", out=out, **SMALL)
    with pytest.raises(RequestError, match="the store is not there"):
        resume(out, callbacks=[unready])


def test_a_search_is_told_by_the_name_of_its_folder_from_inside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    search("pred_prey_3", out=tmp_path / "run", **SMALL)
    monkeypatch.chdir(tmp_path / "run")
    recorder = Recorder()
    resume(".", callbacks=[recorder])
    assert recorder.begun == ["run"]
