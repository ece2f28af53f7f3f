"""The dial: every setting pays something else, and no search is run twice for the same reward."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rolecast import compare
from rolecast.core.counter_random import episode_keys
from rolecast.envs.registry import make_task
from rolecast.envs.scripted import ChasePolicy
from rolecast.platform.tuning.methods import SearchMethod
from rolecast.platform.tuning.rewards import task_with_reward
from rolecast.tune_configs.dial import EXPERIMENT, SPARSE_REWARDS
from rolecast.tune_configs.dial_long import EXPERIMENT as LONG_EXPERIMENT


def paid(reward: str) -> list[float]:
    """Return the returns of the chase as paid, over 30 episodes."""
    task: Any = task_with_reward("pred_prey_3", reward)
    seeds = np.arange(30, dtype=np.uint64)
    task.reset(seeds)
    plain: Any = make_task("pred_prey_3")
    plain.reset(seeds)
    total = np.zeros(30)
    for step in range(25):
        actions = ChasePolicy().act(plain, episode_keys(seeds), step)
        plain.step(actions)
        total += task.step(actions)[1]
    return total.tolist()


def test_sparse_reward_changes_no_sum_and_is_left_out_for_searches() -> None:
    for reward in SPARSE_REWARDS:
        assert paid(reward) == pytest.approx(paid("dense"))
    for method in EXPERIMENT.methods:
        if isinstance(method, SearchMethod):
            assert not {*method.rewards} & {*SPARSE_REWARDS}


def test_every_other_setting_pays_a_search_something_else() -> None:
    sums = {reward: paid(reward) for reward in EXPERIMENT.rewards if reward not in SPARSE_REWARDS}
    assert len({tuple(np.round(each, 6)) for each in sums.values()}) == len(sums) == 8


def test_the_long_dial_is_the_same_but_for_budget_and_seeds() -> None:
    assert LONG_EXPERIMENT.methods == EXPERIMENT.methods
    assert LONG_EXPERIMENT.rewards == EXPERIMENT.rewards
    assert (LONG_EXPERIMENT.env_steps, EXPERIMENT.env_steps) == (800_000, 200_000)


@pytest.mark.nightly(
    "tuning/test_comparison.py runs a comparison piece by piece, and test_experiments.py plans the "
    "searches of the dial and checks its learners"
)
@pytest.mark.usefixtures("ray_cluster")
def test_a_piece_of_the_dial_runs_and_the_next_goes_on(tmp_path: Path) -> None:
    """A search and a learner at a hundredth of the budget: one piece, then the other."""

    def piece(method: str, *, resume: bool) -> set[tuple[str, bool]]:
        result = compare(
            "dial",
            seeds=1,
            budget_fraction=0.01,
            out=tmp_path / "dial",
            resume=resume,
            only=lambda plan: plan.reward == "flip=0.2" and plan.method == method,
        )
        result.require_success()
        last = result.rows.sort_values("env_steps").groupby("method").tail(1)
        return {
            (name, steps > 1500) for name, steps in zip(last.method, last.env_steps, strict=True)
        }

    assert piece("cmaes", resume=False) == {("cmaes", True)}
    assert piece("facmac", resume=True) == {("cmaes", True), ("facmac", True)}
