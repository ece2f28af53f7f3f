"""Whole episodes in compiled code: what they give is what the same task gives step by step."""

import threading
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from rolecast.core.errors import ConfigError, RunError
from rolecast.core.types import Float, Float32, KernelCalls, Seeds
from rolecast.envs.mujoco.robots import ROBOT_MODELS
from rolecast.envs.mujoco.task import MujocoTask
from rolecast.envs.registry import make_task
from rolecast.envs.rewards.task import unwrapped
from rolecast.envs.spec import BatchedTask
from rolecast.platform.rollout.batched_episodes import play_batched
from rolecast.platform.rollout.played import Episodes, Played
from rolecast.platform.rollout.rollout import rollout
from rolecast.platform.rollout.whole_episodes import STEPS_TOGETHER, play_whole
from rolecast.policies.mlp import MlpPolicy
from rolecast.policies.registry import make_policy


def asked(task: BatchedTask, policy_name: str, summed: float | None = None) -> Episodes:
    """Five candidates of three episodes each."""
    policy = make_policy(policy_name, task)
    return Episodes(
        task=task,
        policy=policy,
        weights=policy.space.weights(np.random.default_rng(1).random((5, policy.space.size))),
        candidate=np.repeat(np.arange(5), 3),
        seeds=np.tile(np.arange(3, dtype=np.uint64), 5),
        summed=summed,
    )


def are_equal(one: Played | None, other: Played) -> None:
    assert one is not None
    np.testing.assert_array_equal(one.returns, other.returns)
    np.testing.assert_array_equal(one.observed, other.observed)
    np.testing.assert_array_equal(one.lengths, other.lengths)
    np.testing.assert_array_equal(one.sums, other.sums)
    assert one.metrics.keys() == other.metrics.keys()
    for name, values in one.metrics.items():
        np.testing.assert_array_equal(values, other.metrics[name])


@pytest.mark.parametrize(
    ("task_id", "policy"),
    [
        ("ant", "mlp"),
        ("hopper", "hom"),
        ("hopper?delay=5&survival=0&flush_on_end=true", "linear"),
        ("walker2d?noise=2&flip=0.3&drop=0.2", "mlp"),
        ("swimmer?sparse=7&horizon=150", "linear"),
        ("ma_ant_4x2?horizon=100", "hom"),
        ("ma_walker2d_2x3?obs=own&survival=0.5", "mlp"),
    ],
)
@pytest.mark.parametrize("threads", [1, 3])
def test_whole_episodes_are_those_of_the_batched_contract(
    task_id: str, policy: str, threads: int
) -> None:
    task = make_task(task_id, threads=threads)
    for summed in (None, 5.0):
        episodes = asked(task, policy, summed)
        stepwise = play_batched(episodes, 0)
        assert len(set(stepwise.lengths.tolist())) > 5 or "horizon" in task_id
        are_equal(play_whole(episodes), stepwise)
    task.close()


def test_an_episode_may_end_where_a_compiled_call_does() -> None:
    for horizon in (STEPS_TOGETHER, STEPS_TOGETHER + 1):
        task = make_task("swimmer", horizon=horizon, threads=1)
        episodes = asked(task, "linear")
        are_equal(play_whole(episodes), play_batched(episodes, 0))


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


class OtherKernels(MlpPolicy):
    """Acts by its own compiled form, which tells of its kernels otherwise."""

    told: Callable[[KernelCalls], KernelCalls]

    def lanes(self) -> Any:
        lanes: Any = super().lanes()
        told = self.told

        class Otherwise:
            act, workspace_rows = lanes.act, lanes.workspace_rows

            def calls(self, *arrays: Float32) -> KernelCalls:
                return told(lanes.calls(*arrays))

        return Otherwise()


def copied(calls: KernelCalls) -> KernelCalls:
    """Act on other weights than those that were given."""
    ((kernel, arguments),) = calls
    return ((kernel, tuple(each.copy() if np.ndim(each) == 3 else each for each in arguments)),)


@pytest.mark.parametrize("told", [lambda calls: calls * 2, lambda _: (), copied])
def test_what_cannot_be_played_whole_is_played_step_by_step(
    told: Callable[[KernelCalls], KernelCalls],
) -> None:
    task = make_task("hopper", threads=1)
    episodes = asked(task, "mlp")
    expected = rollout(task, episodes.policy, episodes.weights, episodes.seeds[:3])
    policy: Any = episodes.policy
    policy.__class__ = OtherKernels
    policy.told = told
    assert play_whole(episodes) is None
    played = rollout(task, policy, episodes.weights, episodes.seeds[:3])
    np.testing.assert_array_equal(played.returns, expected.returns)


def test_a_policy_without_kernels_is_played_step_by_step() -> None:
    task = make_task("hopper", threads=1)
    episodes = asked(task, "constant")
    assert play_whole(episodes) is None
    played = rollout(task, episodes.policy, episodes.weights, episodes.seeds[:3])
    assert played.lengths.min() > 5


def test_one_thread_plays_large_teams_step_by_step() -> None:
    """A kernel computes a block of lanes; with many agents that costs more than Python's steps."""
    for threads, whole in ((1, False), (2, True)):
        task = make_task("manyagent_swimmer_10?horizon=5", threads=threads)
        assert (play_whole(asked(task, "mlp")) is not None) is whole
        task.close()


def test_several_running_episodes_are_not_played_on() -> None:
    task: Any = make_task("hopper")
    task.reset(np.arange(2, dtype=np.uint64))
    nothing = np.zeros((1, 2))
    with pytest.raises(ConfigError, match="running episodes is 2; expected one"):
        task.play_on((0, ()), (nothing, nothing), 0.0, nothing, nothing, nothing)


def test_an_action_that_is_not_finite_is_named() -> None:
    task = make_task("hopper", threads=1)
    episodes = asked(task, "mlp")
    episodes.weights[2] = np.nan
    with pytest.raises(
        ConfigError, match="action of agent 0 at step 1 of the episode of seed 0 is nan"
    ):
        play_whole(episodes)


def test_a_robot_that_diverges_is_named_with_seed_and_step() -> None:
    task = make_task("swimmer", threads=1)
    (twin,) = task.twins()  # type: ignore[attr-defined]  # a robot has them
    reset = twin.reset

    def thrown(seeds: Seeds) -> Float:
        observations: Float = reset(seeds)
        twin._pool.place[0] = np.nan
        return observations

    twin.reset = thrown
    with pytest.raises(RunError, match="diverged in step 1 of the episode of seed 0;"):
        play_whole(asked(task, "mlp"))


@pytest.mark.parametrize("end", [RunError("the robot is out"), KeyboardInterrupt()])
def test_whatever_ends_one_thread_ends_the_others_with_their_call(end: BaseException) -> None:
    """Episodes that wait are begun no more."""
    task = make_task("swimmer?horizon=100000", threads=2)
    others, twins = 0, task.twins()  # type: ignore[attr-defined]  # a robot has them
    begun, play_on = threading.Event(), twins[0].play_on

    def counted(*arguments: object) -> object:
        nonlocal others
        others += 1
        begun.set()
        return play_on(*arguments)

    def broken(*_: object) -> object:
        begun.wait(20.0)
        raise end

    twins[0].play_on, twins[1].play_on = counted, broken
    with pytest.raises(type(end)):
        play_whole(asked(task, "mlp"))
    assert 0 < others < 100000 / STEPS_TOGETHER
    task.close()


def test_each_thread_plays_some_of_the_episodes() -> None:
    task = make_task("hopper?delay=5", threads=2)
    twins = unwrapped(task).twins()  # type: ignore[attr-defined]  # a robot has them
    meeting, met_once = threading.Barrier(2, timeout=20.0), set[int]()

    def met(thread: int, begin: Callable[[Seeds], Float], seeds: Seeds) -> Float:
        if thread not in met_once:
            met_once.add(thread)
            meeting.wait()
        return begin(seeds)

    for thread, twin in enumerate(twins):
        twin.reset = partial(met, thread, twin.reset)
    play_whole(asked(task, "mlp"))
    assert met_once == {0, 1}
    assert not meeting.broken
    task.close()
