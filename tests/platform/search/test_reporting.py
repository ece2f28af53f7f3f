import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from rolecast.core.rounding import mean_and_error
from rolecast.core.types import Float
from rolecast.platform.reports.run import write_report
from rolecast.platform.search.loop import Search
from rolecast.platform.search.progress import ProgressSnapshot, Silent
from rolecast.platform.search.records.history import Batch, Kind
from rolecast.platform.search.records.run_folder import RunFolder
from rolecast.platform.search.reporting import CandidateStats, Events, time_shares
from rolecast.platform.search.run import SearchInterrupted, resume, search
from rolecast.platform.search.session import LocalSession, OptimizerReply


def test_tensorboard_shows_curves_over_env_steps(tmp_path: Path) -> None:
    events = Events(tmp_path)
    for step in (100, 250):
        events.write({"env_steps": step, "best_return": step / 10, "test_return": float("nan")})
    events.close()
    shown = EventAccumulator(str(tmp_path))
    shown.Reload()
    points = shown.Scalars("best_return")
    assert [(point.step, point.value) for point in points] == [(100, 10.0), (250, 25.0)]
    # What is no number, and the axis itself, are no curves.
    assert shown.Tags()["scalars"] == ["best_return"]


def batch_of(candidates: Float, returns: Float) -> Batch:
    return Batch(
        index=0,
        kind=Kind.SEARCH,
        first=0,
        spent=0.0,
        candidates=candidates,
        episodes_of=np.arange(len(returns)),
        episode_returns=returns,
        observed_returns=np.zeros_like(returns),
        env_steps=np.arange(1, len(returns) + 1),
        wall_time_s=0.0,
        incumbent=candidates[0],
    )


def test_repeats_of_a_candidate_count_together() -> None:
    scores, rng = CandidateStats(), np.random.default_rng(0)
    returns = rng.normal(size=(3, 5))
    scores.add(batch_of(np.array([[0.1], [0.2], [0.1]]), returns))
    both = returns[[0, 2]].ravel()
    observed = scores.observed(np.array([0.1]))
    assert observed == pytest.approx((both.mean(), both.std(ddof=1) / np.sqrt(10)))
    assert scores.observed(np.array([0.3])) is None
    assert scores.best[0] == returns.mean(axis=1).max()


@pytest.mark.parametrize("offset", [0.0, 5e9, -1e12])
def test_the_error_is_that_of_the_differences_however_large_the_returns(offset: float) -> None:
    scores, rng = CandidateStats(), np.random.default_rng(1)
    returns = rng.normal(size=(4, 16)) + offset
    scores.add(batch_of(np.full((4, 1), 0.1), returns))
    observed = scores.observed(np.array([0.1]))
    expected = (returns.mean(), (returns - offset).std(ddof=1) / np.sqrt(returns.size))
    assert observed == pytest.approx(expected, rel=1e-3)


class Snapshots(Silent):
    """Progress that keeps what it is told."""

    def __init__(self) -> None:
        self.told: list[ProgressSnapshot] = []

    def update(self, figures: ProgressSnapshot) -> None:
        self.told.append(figures)


def test_a_first_batch_foretells_no_time(tmp_path: Path) -> None:
    """It may have compiled for half a minute, so a search of seconds was told to last an hour."""
    progress = Snapshots()
    search(
        "pred_prey_3", policy="linear", optimizer="random", evaluations=12, episodes=1,
        batch_size=4, workers=0, test_episodes=2, out=str(tmp_path / "run"), progress=progress,
    )  # fmt: skip
    first, second, *_ = (each.time_left_s for each in progress.told)
    assert first is None
    assert second is not None


def test_a_confirmed_incumbent_is_told_by_its_new_episodes_alone(tmp_path: Path) -> None:
    """Those by which it was chosen would flatter it."""
    progress = Snapshots()
    search(
        "pred_prey_3", policy="linear", optimizer="random", evaluations=60, episodes=4,
        batch_size=18, workers=0, test_episodes=2, out=str(tmp_path / "run"), progress=progress,
    )  # fmt: skip
    last = RunFolder.open(tmp_path / "run").read_batches()[-1]
    rows = (last.candidates == last.incumbent).all(axis=1)
    mean, error = mean_and_error(last.episode_returns[rows].ravel())
    assert last.kind is Kind.CONFIRM
    assert (progress.told[-1].incumbent_return, progress.told[-1].incumbent_stderr) == (mean, error)


def test_one_episode_has_no_error() -> None:
    scores = CandidateStats()
    scores.add(batch_of(np.array([[0.1]]), np.array([[3.0]])))
    assert scores.observed(np.array([0.1])) == (3.0, None)
    assert scores.best == (3.0, None)


def test_workers_wait_while_a_slow_optimiser_alone_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Episodes of an asynchronous search take a millisecond here, and have long ended."""
    tell = LocalSession.tell_and_ask

    def slow(self: LocalSession, *told: Any, **keep: Any) -> OptimizerReply:
        time.sleep(0.1)
        return replace(tell(self, *told, **keep), tell_s=0.1)

    monkeypatch.setattr(LocalSession, "tell_and_ask", slow)
    result = search(
        "pred_prey_3", policy="linear", optimizer="random", evaluations=60, episodes=1,
        batch_size=4, workers=0, threads=2, asynchronous=True, test_episodes=2,
        out=str(tmp_path / "run"),
    )  # fmt: skip
    shares = result.summary["time_shares"]
    assert shares["workers_wait"] > 0.5
    assert shares["optimizer"] > 0.5


@pytest.mark.parametrize(("optimizer", "told"), [(3.0, 0.3), (8.0, 0.4)])
def test_an_optimiser_beside_episodes_leaves_shares_that_add_up_to_one(
    optimizer: float, told: float
) -> None:
    shares = time_shares(whole=10.0, evaluating=9.0, rollouts=6.0, optimizer=optimizer)
    assert shares["workers_wait"] == pytest.approx(0.1)
    assert shares["optimizer"] == pytest.approx(told)
    assert sum(shares.values()) - shares["workers_wait"] == pytest.approx(1.0)


def test_time_shares_are_of_searching_and_not_of_the_held_out_test(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor are there any where a process has only tested."""
    last = dict[str, float]()

    def slow_test(self: Search) -> tuple[float, float | None]:
        last.update(self.time_shares())
        time.sleep(0.5)
        raise KeyboardInterrupt

    run: dict[str, Any] = {"policy": "linear", "optimizer": "random", "evaluations": 12}
    out, test = str(tmp_path / "run"), Search.test
    monkeypatch.setattr(Search, "test", slow_test)
    with pytest.raises(SearchInterrupted):
        search("pred_prey_3", **run, workers=0, test_episodes=2, out=out)
    assert last["workers_wait"] < 1.0
    monkeypatch.setattr(Search, "test", test)
    resume(out)
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert summary["time_shares"] == {}
    text = write_report(Path(out)).read_text()
    assert f"{summary['wall_time_s']:.1f} s of searching with 0 workers." in text
    assert "--evaluations +12" in text
    whole = search("pred_prey_3", **run, workers=0, test_episodes=2, out=str(tmp_path / "whole"))
    shares = json.loads((whole.out / "summary.json").read_text())["time_shares"]
    assert sum(shares.values()) - shares["workers_wait"] == pytest.approx(1.0)
