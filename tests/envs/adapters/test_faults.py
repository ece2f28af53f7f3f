"""What a user's environment does wrong in an episode is told with its seed and step."""

import sys
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

from rolecast.core.errors import RunError
from rolecast.envs.registry import make_task
from tests.envs.adapters.plain_team import PlainTeam
from tests.envs.adapters.test_task import Unequal


class Faulty(gymnasium.Env[Any, Any]):
    """Does something wrong in its third step."""

    observation_space = spaces.Box(-1.0, 1.0, (2,))
    action_space = spaces.Box(-1.0, 1.0, (1,))

    def __init__(self, fault: str) -> None:
        self.fault, self.steps = fault, 0

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.steps = 0
        if self.fault == "reset":
            raise ValueError("no start")
        return np.zeros(2), {}

    def step(self, action: Any) -> Any:
        self.steps += 1
        seen, reward = np.zeros(2), 1.0
        if self.steps == 3:
            if self.fault == "raise":
                raise ZeroDivisionError("first line\nsecond line")
            if self.fault == "exit":
                sys.exit(0)
            seen = {"nan": np.full(2, np.nan), "shape": np.zeros(3)}.get(self.fault, seen)
            reward = np.nan if self.fault == "reward" else reward
        return seen, reward, False, False, {}

    def close(self) -> None:
        if self.fault == "close":
            raise OSError("gone already")


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("raise", r"raised ZeroDivisionError \(first line\) in step 3 of the episode of seed 9"),
        ("exit", r"raised SystemExit \(0\) in step 3 of the episode of seed 9"),
        ("reset", r"raised ValueError \(no start\) in the reset of the episode of seed 9"),
        ("nan", "showed NaN or infinity in step 3 of the episode of seed 9"),
        ("shape", "showed 3 numbers to 'agent' in step 3 of the episode of seed 9; expected 2"),
    ],
)
def test_a_fault_of_the_environment_is_named_with_seed_and_step(fault: str, message: str) -> None:
    task = make_task(Faulty, fault=fault, horizon=5)
    with pytest.raises(RunError, match=message) as failed:  # noqa: PT012 - any step may fail
        task.reset(np.array([9], dtype=np.uint64))
        for _ in range(3):
            task.step(np.zeros((1, 1, 1)))
    assert "\n" not in str(failed.value)
    assert "Faulty?fault=" in str(failed.value)


def test_an_environment_that_cannot_be_closed_costs_nothing(
    caplog: pytest.LogCaptureFixture,
) -> None:
    task = make_task(Faulty, fault="close", horizon=5)
    task.reset(np.array([9], dtype=np.uint64))
    task.close()
    assert "raised OSError (gone already) as it was closed" in caplog.text


@pytest.mark.parametrize(
    ("shown", "message"),
    [
        (
            {"tall": np.zeros(3)},
            "left out 'small' in step 1 of the episode of seed 0; expected an obs",
        ),
        (
            {"tall": np.zeros(3), "small": "dark"},
            "showed what is not in the observation space of 'small' in step 1",
        ),
    ],
)
def test_what_an_environment_fails_to_show_is_named(
    shown: dict[str, Any], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    env = Unequal()
    task = make_task(lambda: env)
    task.reset(np.zeros(1, dtype=np.uint64))
    monkeypatch.setattr(env, "look", lambda: shown)
    with pytest.raises(RunError, match=message):
        task.step(np.zeros((1, 2, 4)))


def test_a_live_agent_without_a_reward_is_named_and_one_that_left_is_not() -> None:
    class Stingy(Unequal):
        def step(self, actions: dict[str, Any]) -> Any:
            seen, rewards, *others = super().step(actions)
            return seen, {name: paid for name, paid in rewards.items() if name != unpaid}, *others

    unpaid = "small"
    task = make_task(Stingy, leaves_at=1)
    task.reset(np.zeros(1, dtype=np.uint64))
    task.step(np.zeros((1, 2, 4)))
    unpaid = "tall"
    with pytest.raises(RunError, match="left out 'tall' in step 2 of the episode of seed 0"):
        task.step(np.zeros((1, 2, 4)))


def test_a_reward_that_is_not_finite_is_passed_on() -> None:
    task = make_task(Faulty, fault="reward", horizon=5)
    task.reset(np.array([9], dtype=np.uint64))
    rewards = [task.step(np.zeros((1, 1, 1)))[1][0] for _ in range(4)]
    np.testing.assert_array_equal(rewards, [1.0, 1.0, np.nan, 1.0])


class Deserted(PlainTeam):
    """Two agents, whose list is set anew in some way before an episode of one step."""

    def __init__(self, way: str) -> None:
        self.possible_agents, self.way, self.agents = ["left", "right"], way, []

    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        if self.way != "forgotten":
            self.agents = self.possible_agents
        return {agent: np.zeros(1) for agent in self.agents}, {}

    def step(self, actions: Any) -> Any:
        before = list(self.agents)
        for agent in before:
            self.agents.remove(agent)  # of possible_agents, too
        ends = dict.fromkeys(before, True)
        return {}, dict.fromkeys(before, -1.0), ends, dict.fromkeys(before, False), {}


@pytest.mark.parametrize("way", ["forgotten", "shared"])
def test_an_episode_that_begins_without_agents_is_refused(way: str) -> None:
    """It earned 0 in one step, which is more than any episode of costs."""
    task = make_task(Deserted, way=way, horizon=5)
    seeds = np.array([9], dtype=np.uint64)
    if way == "shared":
        task.reset(seeds)
        assert task.step(np.zeros((1, 2, 1)))[1] == [-2.0]
    with pytest.raises(RunError, match="has no agents after the reset of the episode of seed 9; "):
        task.reset(seeds)
