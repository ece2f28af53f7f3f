"""Lanes that are refilled: every episode is what it is alone."""

from collections.abc import Mapping

import numpy as np
import pytest
from numpy.typing import NDArray

from rolecast.core.errors import RunError
from rolecast.core.types import Float, Seeds
from rolecast.envs.registry import make_task
from rolecast.envs.spec import TaskSpec
from rolecast.platform.rollout import batched_episodes
from rolecast.platform.rollout import rollout as rollouts
from rolecast.platform.rollout.rollout import Rollout, rollout
from rolecast.platform.rollout.sizes import BATCHED_LANES
from rolecast.policies.registry import make_policy


def played(
    task_id: str, seeds: Seeds, count: int, summed: float | None = None, **options: int
) -> Rollout:
    task = make_task(task_id, **options)
    policy = make_policy("mlp", task)
    weights = policy.space.weights(np.random.default_rng(1).random((count, policy.space.size)))
    result = rollout(task, policy, weights, seeds, summed=summed)
    task.close()
    return result


def are_equal(one: Rollout, other: Rollout) -> None:
    np.testing.assert_array_equal(one.returns, other.returns)
    np.testing.assert_array_equal(one.observed_returns, other.observed_returns)
    np.testing.assert_array_equal(one.lengths, other.lengths)
    np.testing.assert_array_equal(one.sums, other.sums)
    assert one.metrics.keys() == other.metrics.keys()
    for name, values in one.metrics.items():
        np.testing.assert_array_equal(values, other.metrics[name])


@pytest.mark.parametrize("task_id", ["hopper", "hopper?delay=5&survival=0", "gym:CartPole-v1"])
def test_a_refilled_lane_earns_what_an_episode_earns_alone(
    task_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rollouts, "play_whole", lambda _: None)  # a robot in lanes, too
    seeds = np.arange(9, dtype=np.uint64)
    together = played(task_id, seeds, 5, summed=5.0)
    assert len(set(together.lengths.ravel().tolist())) > 5
    monkeypatch.setattr(batched_episodes, "BATCHED_LANES", 1)
    are_equal(together, played(task_id, seeds, 5, summed=5.0))


def test_lanes_are_refilled_while_others_play_on() -> None:
    """Steps of the task are about those of all episodes by the lanes, not of the longest ones."""
    task = make_task("gym:CartPole-v1")
    policy = make_policy("mlp", task)
    weights = policy.space.weights(np.random.default_rng(1).random((30, policy.space.size)))
    steps = 0
    step = task.step

    def counted(actions: object) -> object:
        nonlocal steps
        steps += 1
        return step(actions)  # type: ignore[arg-type]  # handed through

    task.step = counted  # type: ignore[assignment,method-assign]  # counts
    result = rollout(task, policy, weights, np.arange(10, dtype=np.uint64))
    assert steps < result.env_steps / BATCHED_LANES + result.lengths.max()


class Shifts:
    """Two agents observe 5 in steps in which they are present; which ones depends on the seed."""

    spec = TaskSpec(id="shifts", agents=2, observation_size=1, action_size=1, horizon=6)

    def reset(self, seeds: Seeds) -> Float:
        self.seeds, self.steps = seeds.astype(np.int64), 0
        return self.look()

    @property
    def present(self) -> NDArray[np.bool_]:
        turn = (self.seeds + self.steps) % 3
        return np.stack([turn == 0, turn == 1], axis=1)

    def look(self) -> Float:
        return np.where(self.present[:, :, None], 5.0, 0.0)

    def step(self, actions: Float) -> tuple[Float, Float, NDArray[np.bool_], Mapping[str, Float]]:
        self.steps += 1
        batch = len(self.seeds)
        return self.look(), np.zeros(batch), np.full(batch, self.steps == 6), {}

    def close(self) -> None:
        """Nothing."""


@pytest.mark.parametrize("paid", [{}, {"delay": 1}])
def test_agents_that_are_absent_are_not_summed(paid: dict[str, int]) -> None:
    """In six steps, each of two agents is there in two."""
    task = make_task(Shifts, **paid)
    policy = make_policy("linear", task)
    sums = rollout(task, policy, policy.space.centre[None], np.arange(5), summed=10.0).sums
    assert sums is not None
    np.testing.assert_array_equal(sums[0, :, :, 0], [[4.0, 20.0, 100.0]] * 5)


class Tells(Shifts):
    """Shifts that earn 1 a step, and tell a metric by the name that reward settings use."""

    def step(self, actions: Float) -> tuple[Float, Float, NDArray[np.bool_], Mapping[str, Float]]:
        seen, none, done, _ = super().step(actions)
        return seen, none + 1.0, done, {"raw_reward": none - 7.0}


@pytest.mark.parametrize("paid", [{}, {"sparse": 2}])
def test_the_return_is_what_was_earned_whatever_a_metric_is_named(paid: dict[str, int]) -> None:
    task = make_task(Tells, **paid)
    policy = make_policy("linear", task)
    found = rollout(task, policy, policy.space.centre[None], np.arange(2, dtype=np.uint64))
    np.testing.assert_array_equal(found.returns, [[6.0, 6.0]])
    assert set(found.metrics) == (set() if paid else {"raw_reward"})


class Restarts(Shifts):
    """Shifts whose episodes end one after the other, and which shows those begun anew alone."""

    def restart(self, episodes: NDArray[np.int64], seeds: Seeds) -> Float:
        self.seeds[episodes] = seeds.astype(np.int64)
        return self.look()[episodes]

    def step(self, actions: Float) -> tuple[Float, Float, NDArray[np.bool_], Mapping[str, Float]]:
        seen, none, _, metrics = super().step(actions)
        return seen, none, self.seeds % 4 < self.steps % 6, metrics


def test_a_restart_that_shows_some_episodes_alone_is_refused() -> None:
    """Lanes were filled up with the last of them, and earned what no episode earns."""
    task = make_task(Restarts)
    policy = make_policy("linear", task)
    with pytest.raises(RunError, match=r"from restart; expected \(16, 2, 1\), those of all"):
        rollout(task, policy, policy.space.centre[None], np.arange(40, dtype=np.uint64))
