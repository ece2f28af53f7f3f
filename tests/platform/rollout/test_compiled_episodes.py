"""Steps of compiled tasks without Python between them are those that Python takes one by one."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import rolecast.platform.rollout.compiled_episodes as module
from rolecast.core import kernel_address
from rolecast.core.compiled import compiled
from rolecast.core.kernel_address import at_step, call_all
from rolecast.core.types import LANE_COUNT, STEP_ARGUMENT, Float32, KernelCalls, Seeds
from rolecast.envs.registry import make_task
from rolecast.envs.spec import TaskSpec
from rolecast.platform.rollout.compiled_episodes import play_compiled
from rolecast.platform.rollout.played import Episodes, Played
from rolecast.policies.mlp_fused import MlpLanes
from rolecast.policies.registry import make_policy

TASKS = [
    "pred_prey_3",
    "pred_prey_6?sparse=5",
    "het_pred_prey_3?delay=3&flush_on_end=true&noise=2&flip=0.2",
    "drone_delivery_3",
    "drone_delivery_3?drop=0.5&delay=5",
]


def asked(task_id: str, policy_name: str, summed: float | None = None) -> Episodes:
    task = make_task(task_id)
    policy = make_policy(policy_name, task)
    points = np.random.default_rng(0).random((5, policy.space.dimension))
    return Episodes(
        task=task,
        policy=policy,
        weights=policy.space.weights(points),
        candidate=np.repeat(np.arange(5), 8),
        seeds=np.arange(40, dtype=np.uint64),
        summed=summed,
    )


def assert_equal(one: Played, other: Played) -> None:
    np.testing.assert_array_equal(one.returns, other.returns)
    np.testing.assert_array_equal(one.observed, other.observed)
    np.testing.assert_equal(one.sums, other.sums)
    assert len(one.observations) == len(other.observations)
    for mine, theirs in zip(one.observations, other.observations, strict=True):
        np.testing.assert_array_equal(mine, theirs)


def one_by_one(episodes: Episodes, record: int, monkeypatch: pytest.MonkeyPatch) -> Played:
    with monkeypatch.context() as patched:
        patched.setattr(module, "_together", lambda *_: None)
        return play_compiled(episodes, record)


@pytest.fixture
def acted(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Return a list of the policies that acted from Python."""
    policies: list[object] = []
    act = MlpLanes.act

    def count(self: MlpLanes, weights: Float32, observations: Float32, actions: Float32) -> None:
        policies.append(self)
        act(self, weights, observations, actions)

    monkeypatch.setattr(MlpLanes, "act", count)
    return policies


@pytest.mark.parametrize("policy_name", ["mlp", "hom"])
@pytest.mark.parametrize("task_id", TASKS)
def test_steps_together_are_those_that_python_takes(
    task_id: str, policy_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    episodes = asked(task_id, policy_name, summed=2.0)
    played = play_compiled(episodes, 90)
    assert len(played.observations) == 3
    assert np.ptp(played.observed) > 0.0
    assert_equal(played, one_by_one(episodes, 90, monkeypatch))


def test_python_takes_the_first_step_alone(acted: list[object]) -> None:
    play_compiled(asked("pred_prey_3", "mlp"), 0)
    assert len(acted) == 1


@dataclass(frozen=True, kw_only=True)
class Backwards(MlpLanes):
    """Acts the other way round, and says nothing of kernels."""

    def act(self, weights: Float32, observations: Float32, actions: Float32) -> None:
        super().act(weights, observations, actions)
        np.negative(actions, out=actions)


class Otherwise:
    """Acts as another, and tells of other kernels."""

    def __init__(self, lanes: MlpLanes) -> None:
        self._lanes, self.workspace_rows = lanes, lanes.workspace_rows

    def act(self, weights: Float32, observations: Float32, actions: Float32) -> None:
        self._lanes.act(weights, observations, actions)


class Copying(Otherwise):
    """Gives its kernels copies of the weights."""

    def calls(self, weights: Float32, observations: Float32, actions: Float32) -> KernelCalls:
        return self._lanes.calls(0.5 * weights, observations, actions)


@compiled
def stop_later(step: int | None, actions: Float32) -> None:
    """Do nothing in the first step, of which the number is not told."""
    if step is not None:
        actions[:] = 0.0


class WithoutNumber(Otherwise):
    """Has a kernel with None among its arguments, which is no step."""

    def act(self, weights: Float32, observations: Float32, actions: Float32) -> None:
        super().act(weights, observations, actions)
        stop_later(None, actions)
        stop_later(1, actions.copy())  # so that there is a kernel of these types

    def calls(self, weights: Float32, observations: Float32, actions: Float32) -> KernelCalls:
        return (*self._lanes.calls(weights, observations, actions), (stop_later, (None, actions)))


@pytest.mark.parametrize("kind", [Copying, WithoutNumber, Backwards])
def test_what_kernels_do_not_tell_is_played_step_by_step(
    kind: type[Any], acted: list[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    episodes = asked("pred_prey_3", "mlp")
    lanes: Any = episodes.policy.lanes()
    other = kind(**vars_of(lanes)) if kind is Backwards else kind(lanes)
    monkeypatch.setattr(type(episodes.policy), "lanes", lambda _: other)
    played = play_compiled(episodes, 0)
    assert len(acted) == episodes.task.spec.horizon
    assert_equal(played, one_by_one(episodes, 0, monkeypatch))


def vars_of(lanes: MlpLanes) -> dict[str, Any]:
    return {
        "widths": lanes.widths,
        "observation_clip": lanes.observation_clip,
        "output_gain": lanes.output_gain,
    }


def test_episodes_that_advance_otherwise_are_advanced_themselves(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    episodes = asked("pred_prey_3", "mlp")
    begun: Any = episodes.task.lanes().start(episodes.seeds)  # type: ignore[attr-defined]
    steps = []

    class Counting(type(begun)):  # type: ignore[misc]  # the class is known when it is made
        def advance(self, actions: Float32) -> None:
            steps.append(1)
            super().advance(actions)

    expected = play_compiled(episodes, 0)
    monkeypatch.setattr(begun, "__class__", Counting)
    lanes = type("Lanes", (), {"start": lambda _self, _seeds: begun})()
    monkeypatch.setattr(type(episodes.task), "lanes", lambda _: lanes)
    assert_equal(play_compiled(episodes, 0), expected)
    assert len(steps) == episodes.task.spec.horizon


@compiled
def count_up(step: int, actions: Float32, observations: Float32, returns: Float32) -> None:
    """Observe the number of steps taken."""
    for block, agent, number, lane in np.ndindex(observations.shape):
        observations[block, agent, number, lane] = step + 1
        returns[block, lane] += 0.0 * actions[block, 0, 0, lane]


class CountedEpisodes:
    """A user's running episodes, whose observations have gaps in memory."""

    def __init__(self, seeds: Seeds, spec: TaskSpec) -> None:
        blocks, self._step = -(-seeds.size // LANE_COUNT), 0
        shape = (LANE_COUNT, blocks, spec.agents, spec.observation_size)
        self.observations = np.zeros(shape, np.float32).transpose(1, 2, 3, 0)
        self.returns = np.zeros((blocks, LANE_COUNT), np.float32)
        self.rewards = np.zeros_like(self.returns)

    def calls(self, actions: Float32) -> KernelCalls:
        return ((count_up, (STEP_ARGUMENT, actions, self.observations, self.returns)),)

    def advance(self, actions: Float32) -> None:
        call_all(at_step(self.calls(actions), self._step))
        self._step += 1


@compiled
def stand_still(weights: Float32, observations: Float32, actions: Float32) -> None:
    """Act by 0."""
    actions[:] = 0.0


class StandingLanes(Otherwise):
    """Takes observations as they lie."""

    def act(self, weights: Float32, observations: Float32, actions: Float32) -> None:
        call_all(self.calls(weights, observations, actions))

    def calls(self, weights: Float32, observations: Float32, actions: Float32) -> KernelCalls:
        return ((stand_still, (weights, observations, actions)),)


def test_observations_with_gaps_are_summed_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    episodes = asked("pred_prey_3", "mlp", summed=100.0)
    lanes, spec = StandingLanes(episodes.policy.lanes()), episodes.task.spec  # type: ignore[arg-type]
    monkeypatch.setattr(type(episodes.policy), "lanes", lambda _: lanes)
    begin = {"start": lambda _self, seeds: CountedEpisodes(seeds, spec)}
    monkeypatch.setattr(type(episodes.task), "lanes", lambda _: type("Lanes", (), begin)())
    sums = play_compiled(episodes, 0).sums
    assert sums is not None
    np.testing.assert_array_equal(sums[:, 1], 3 * sum(range(25)))


def test_a_call_has_few_steps_so_that_an_interrupt_is_heeded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    taken: list[range] = []
    take = kernel_address.take_steps

    def count(first: int, end: int, *others: Any) -> None:
        taken.append(range(first, end))
        take(first, end, *others)

    monkeypatch.setattr(kernel_address, "take_steps", count)
    play_compiled(asked("pred_prey_3", "mlp"), 0)
    assert [step for steps in taken for step in steps] == list(range(1, 25))
    assert max(map(len, taken)) == kernel_address.STEPS_OF_CALL
