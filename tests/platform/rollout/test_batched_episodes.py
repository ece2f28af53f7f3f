"""Lanes that are refilled: every episode is what it is alone."""

import threading
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from rolecast.core.errors import RunError
from rolecast.core.types import Float, Seeds
from rolecast.envs.mujoco.robots import ROBOT_MODELS
from rolecast.envs.mujoco.task import MujocoTask
from rolecast.envs.registry import make_task
from rolecast.envs.rewards.task import unwrapped
from rolecast.envs.spec import TaskSpec
from rolecast.platform.rollout import batched_episodes
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
    seeds = np.arange(9, dtype=np.uint64)
    together = played(task_id, seeds, 5, summed=5.0)
    assert len(set(together.lengths.ravel().tolist())) > 5
    monkeypatch.setattr(batched_episodes, "BATCHED_LANES", 1)
    are_equal(together, played(task_id, seeds, 5, summed=5.0))


@pytest.mark.parametrize("task_id", ["ant", "hopper?delay=5&survival=0", "ma_hopper_3x1"])
def test_threads_that_share_episodes_earn_what_one_earns(task_id: str) -> None:
    seeds = np.arange(9, dtype=np.uint64)
    alone = played(task_id, seeds, 5, summed=5.0, threads=1)
    are_equal(played(task_id, seeds, 5, summed=5.0, threads=3), alone)
    few = played(task_id, seeds[:1], 2, summed=5.0, threads=3)
    np.testing.assert_array_equal(few.returns, alone.returns[:2, :1])


class Twice:
    """Pays twice what the robot pays, which it forwards to."""

    def __init__(self, task: Any) -> None:
        self.task = task

    def __getattr__(self, name: str) -> Any:
        return getattr(self.task, name)

    def step(self, actions: Float) -> Any:
        observations, reward, done, metrics = self.task.step(actions)
        return observations, 2.0 * reward, done, metrics


class Double(MujocoTask):
    """The same by inheritance."""

    def step(self, actions: Float) -> Any:
        observations, reward, done, metrics = super().step(actions)
        return observations, 2.0 * reward, done, metrics


@pytest.mark.parametrize("threads", [1, 2])
def test_a_task_that_changes_a_robots_steps_is_played_itself(threads: int) -> None:
    double = Double("double", ROBOT_MODELS["hopper"], summary="", source="", threads=threads)
    robot = make_task("hopper", threads=threads)
    returns = []
    for task in (robot, Twice(robot), double):
        policy = make_policy("mlp", task)
        weights = policy.space.weights(np.full((2, policy.space.size), 0.6))
        returns.append(rollout(task, policy, weights, np.arange(3, dtype=np.uint64)).returns)
        task.close()
    np.testing.assert_array_equal(2.0 * returns[0], returns[1])
    np.testing.assert_array_equal(returns[1], returns[2])


@pytest.mark.parametrize("end", [RunError("the robot is out"), KeyboardInterrupt()])
def test_whatever_ends_one_thread_ends_the_others_with_their_step(end: BaseException) -> None:
    """Episodes that wait are begun no more."""
    task = make_task("swimmer", threads=2)
    policy = make_policy("mlp", task)
    weights = policy.space.weights(np.full((32, policy.space.size), 0.5))
    others, twins = 0, task.twins()  # type: ignore[attr-defined]  # a robot has them
    begun, step = threading.Event(), twins[0].step

    def counted(actions: Float) -> object:
        nonlocal others
        others += 1
        begun.set()
        return step(actions)

    def broken(actions: Float) -> object:
        begun.wait(20.0)
        raise end

    twins[0].step, twins[1].step = counted, broken
    with pytest.raises(type(end)):
        rollout(task, policy, weights, np.arange(2, dtype=np.uint64))
    assert 0 < others < task.spec.horizon
    task.close()


def test_each_thread_plays_some_of_the_episodes() -> None:
    task = make_task("hopper?delay=5", threads=2)
    policy = make_policy("mlp", task)
    weights = policy.space.weights(np.random.default_rng(1).random((8, policy.space.size)))
    twins = unwrapped(task).twins()  # type: ignore[attr-defined]  # a robot has them
    meeting = threading.Barrier(2, timeout=20.0)

    def met(begin: Callable[[Seeds], Float], seeds: Seeds) -> Float:
        meeting.wait()
        return begin(seeds)

    for twin in twins:
        twin.reset = partial(met, twin.reset)
    rollout(task, policy, weights, np.arange(2, dtype=np.uint64))
    assert not meeting.broken
    task.close()


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
