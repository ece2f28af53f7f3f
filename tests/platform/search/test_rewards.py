"""A search learns from what it is paid, and is scored by what was earned."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

import rolecast
from rolecast.core.seeds import Purpose, episode_seeds
from rolecast.platform.search.progress import ProgressSnapshot, Silent
from rolecast.platform.search.records import metrics
from rolecast.platform.search.records.frames import read_history, read_incumbents
from rolecast.platform.search.run import SearchInterrupted, resume, search

SMALL: dict[str, Any] = {
    "policy": "mlp",
    "policy_options": {"hidden": [4]},
    "optimizer": "local_gp",
    "env_steps": 6_000,
    "episodes": 4,
    "batch_size": 10,
    "seed": 3,
    "workers": 0,
    "test_episodes": 40,
}

TASK = "pred_prey_3?sparse=4&delay=3&noise=2&flip=0.05&drop=0.1"

SameHistory = Callable[[Path, Path], None]


class Lever(gymnasium.Env[Any, Any]):
    """Pays how near the action is to what is seen, times a number; four steps."""

    observation_space = gymnasium.spaces.Box(-1.0, 1.0, (2,))
    action_space = gymnasium.spaces.Box(-1.0, 1.0, (1,))

    def __init__(self, times: float = 1.0) -> None:
        self.times = times

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.left = 4
        self.seen = self.np_random.uniform(-1.0, 1.0, 2)
        return self.seen, {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.left -= 1
        reward = 1.0 - abs(float(action[0]) - self.seen[0])
        self.seen = self.np_random.uniform(-1.0, 1.0, 2)
        return self.seen, self.times * reward, self.left == 0, False, {}


class Watches(Silent):
    """Keeps the figures, and raises what Ctrl-C raises after some batches."""

    def __init__(self, until: int = -1) -> None:
        self.until = until
        self.seen: list[ProgressSnapshot] = []

    def update(self, figures: ProgressSnapshot) -> None:
        self.seen.append(figures)
        if figures.batch == self.until:
            raise KeyboardInterrupt


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A search in a task with every setting."""
    out = tmp_path_factory.mktemp("whole") / "run"
    search(TASK, out=out, **SMALL)
    return out


@pytest.mark.parametrize("optimizer", ["dss_gp_ucb", "cmaes", "gp_ucb"])
def test_no_decision_of_a_learner_sees_the_raw_return(tmp_path: Path, optimizer: str) -> None:
    """With every sign flipped, a search is one in a task that pays the negative, to the end.

    Initial design, structure, candidates, incumbents and their confirmation are the same, and the
    scores are the negative of each other.
    """
    settings = SMALL | {"optimizer": optimizer, "env_steps": 3_000, "batch_size": 20}
    flipped = search(
        Lever, out=tmp_path / "one", task_options={"horizon": 4, "flip": 1}, **settings
    )
    negative = search(
        Lever, out=tmp_path / "two", task_options={"horizon": 4, "times": -1.0}, **settings
    )
    one, other = flipped.history, negative.history
    for name in ("candidate", "observed_returns"):
        np.testing.assert_array_equal(np.stack(one[name].tolist()), np.stack(other[name].tolist()))
    np.testing.assert_array_equal(one["observed_return_mean"], other["return_mean"])
    np.testing.assert_array_equal(one["return_mean"], -other["return_mean"])
    np.testing.assert_array_equal(flipped.incumbent, negative.incumbent)
    assert flipped.test_return == -negative.test_return
    rows = [read_incumbents(result.out)["candidate"] for result in (flipped, negative)]
    np.testing.assert_array_equal(np.stack(rows[0].tolist()), np.stack(rows[1].tolist()))


def test_the_history_has_both_returns_and_scores_are_raw(whole: Path) -> None:
    history, loaded = read_history(whole), rolecast.load_policy(whole)
    row = history.iloc[17]
    weights = loaded.policy.space.weights(np.array(row["candidate"]))[None]
    seeds = episode_seeds(3, Purpose.SEARCH, int(row["episodes_of"]), 4)
    dense, paid = (
        rolecast.rollout(rolecast.make_task(task), loaded.policy, weights, seeds)
        for task in ("pred_prey_3", TASK)
    )
    np.testing.assert_array_equal(row["episode_returns"], dense.returns[0])
    np.testing.assert_array_equal(row["episode_returns"], paid.returns[0])
    np.testing.assert_array_equal(row["observed_returns"], paid.observed_returns[0])
    assert row["observed_return_mean"] == paid.observed_returns.mean()
    assert row["observed_return_stderr"] == pytest.approx(paid.observed_returns.std(ddof=1) / 2.0)
    assert (history["observed_return_mean"] != history["return_mean"]).all()
    held_out = episode_seeds(0, Purpose.HELD_OUT, 0, 40)
    earned = rolecast.rollout(
        rolecast.make_task("pred_prey_3"), loaded.policy, loaded.weights[None], held_out
    ).returns
    summary = json.loads((whole / "summary.json").read_text())
    assert summary["test_return"] == earned.mean()
    assert summary["best_return"] == history["return_mean"].max()
    assert summary["task"] == rolecast.make_task(TASK).spec.id


def test_an_interrupted_search_resumes_to_the_same_history(
    whole: Path, tmp_path: Path, same_history: SameHistory
) -> None:
    out = tmp_path / "run"
    with pytest.raises(SearchInterrupted):
        search(TASK, out=out, progress=Watches(until=3), **SMALL)
    resume(out)
    same_history(out, whole)


def test_without_settings_both_returns_are_one(tmp_path: Path) -> None:
    result = search("pred_prey_3", out=tmp_path / "run", **SMALL | {"env_steps": 2_000})
    history = result.history
    np.testing.assert_array_equal(
        np.stack(history["observed_returns"].tolist()),
        np.stack(history["episode_returns"].tolist()),
    )


def test_what_the_optimizer_believes_of_paid_rewards_is_not_shown_as_a_score(
    tmp_path: Path,
) -> None:
    dense, sparse = Watches(), Watches()
    search("pred_prey_3", out=tmp_path / "dense", progress=dense, **SMALL)
    search(TASK, out=tmp_path / "sparse", progress=sparse, **SMALL)
    assert dense.seen[-2].incumbent_return is not None
    assert sparse.seen[-2].incumbent_return is None
    assert "observed_return_mean" in metrics.METRIC_VOCABULARY


def test_an_evaluation_is_of_the_raw_return_and_tells_the_paid_one(whole: Path) -> None:
    own = rolecast.evaluate(whole, episodes=60)
    dense = rolecast.evaluate(whole, task="pred_prey_3", episodes=60)
    late = rolecast.evaluate(whole, task_options={"delay": 30}, episodes=60)
    assert own.episode_return_mean == dense.episode_return_mean == late.episode_return_mean
    assert dense.observed_return_mean == dense.episode_return_mean
    assert own.observed_return_mean != own.episode_return_mean
    assert late.observed_return_mean == 0.0
    assert "delay=30" in late.task
    chase = [rolecast.evaluate("chase", task=task, episodes=50) for task in ("pred_prey_3", TASK)]
    assert chase[0].episode_return_mean == chase[1].episode_return_mean > 0.0
    assert chase[1].observed_return_mean is None
