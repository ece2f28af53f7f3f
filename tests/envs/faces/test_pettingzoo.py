from typing import Any

import numpy as np
import pytest
from gymnasium import spaces
from pettingzoo import ParallelEnv
from pettingzoo.test import parallel_api_test, parallel_seed_test

from rolecast.core.errors import RequestError
from rolecast.envs.registry import make_env, make_task

TASKS = [
    "pred_prey_3",
    "pred_prey_3?sparse=5&delay=2&noise=0.1",
    "het_pred_prey_6?observation=full",
    "pettingzoo:mpe2.simple_spread_v3?N=2&continuous_actions=true",
]


class Leaving(ParallelEnv):  # type: ignore[misc]  # PettingZoo has no types
    """Two agents that terminate together after three steps; nobody states a horizon."""

    metadata = {"name": "leaving"}  # noqa: RUF012 - the interface's own form
    possible_agents = ["left", "right"]  # noqa: RUF012 - the interface's own form

    def __init__(self) -> None:
        self.agents: list[str] = []
        self.steps = 0

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        return spaces.Box(-9.0, 9.0, (1,))

    def action_space(self, agent: str) -> spaces.Space[Any]:
        return spaces.Box(-1.0, 1.0, (1,))

    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        self.agents, self.steps = list(self.possible_agents), 0
        return {a: np.zeros(1) for a in self.agents}, {a: {} for a in self.agents}

    def step(self, actions: dict[str, Any]) -> Any:
        self.steps += 1
        acted = list(self.agents)
        over = dict.fromkeys(acted, self.steps >= 3)
        self.agents = [] if self.steps >= 3 else acted
        seen = {a: np.full(1, float(self.steps)) for a in acted}
        return seen, dict.fromkeys(acted, 1.0), over, dict.fromkeys(acted, False), {}


@pytest.mark.parametrize("task", TASKS)
def test_it_passes_the_api_test_of_pettingzoo(task: str) -> None:
    parallel_api_test(make_env(task), num_cycles=250)


@pytest.mark.parametrize("task", TASKS)
def test_it_passes_the_seed_test_of_pettingzoo(task: str) -> None:
    parallel_seed_test(lambda: make_env(task), num_cycles=30)


@pytest.mark.parametrize(
    "task", [*TASKS, "pettingzoo:mpe2.simple_spread_v3?N=3&continuous_actions=true"]
)
def test_it_runs_through_the_trajectory_of_the_batched_task(task: str) -> None:
    batched, env = make_task(task), make_env(task)
    spec, rng = batched.spec, np.random.default_rng(1)
    observations = batched.reset(np.array([4, 9], dtype=np.uint64))
    by_agent, _ = env.reset(seed=9)
    assert list(by_agent) == env.possible_agents
    for _ in range(min(spec.horizon, 30)):
        np.testing.assert_array_equal(np.stack(list(by_agent.values())), observations[1])
        np.testing.assert_array_equal(env.state(), observations[1].ravel())
        actions = rng.uniform(-1.0, 1.0, (2, spec.agents, spec.action_size))
        observations, reward, done, _ = batched.step(actions)
        by_agent, rewards, terminated, truncated, _ = env.step(
            dict(zip(env.agents, actions[1], strict=True))
        )
        assert set(rewards.values()) == {reward[1]}
        assert not any(terminated.values())
        assert all(truncated.values()) == done[1] == (not env.agents)


def test_an_episode_that_ends_before_the_horizon_is_terminated() -> None:
    env = make_env("python:tests.envs.faces.test_pettingzoo:Leaving")
    env.reset(seed=0)
    while env.agents:
        _, _, terminated, truncated, _ = env.step(dict.fromkeys(env.agents, np.zeros(1)))
    assert terminated == {"left": True, "right": True}
    assert truncated == {"left": False, "right": False}


def test_without_a_seed_each_episode_is_a_new_one_yet_repeatable() -> None:
    starts = []
    for _ in range(2):
        env = make_env("pred_prey_3")
        starts.append([env.reset()[0]["agent_0"] for _ in range(3)])
    np.testing.assert_array_equal(starts[0], starts[1])
    assert len(np.unique(np.stack(starts[0]), axis=0)) == 3


@pytest.mark.parametrize("task", ["pred_prey_6", "gym:CartPole-v1"])
def test_it_draws_itself_on_request(task: str) -> None:
    env = make_env(task, render_mode="rgb_array")
    env.reset(seed=0)
    picture = env.render()
    assert picture is not None
    assert picture.ndim == 3
    assert picture.dtype == np.uint8
    env.close()
    assert make_env(task).render() is None


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (np.zeros(3), r"is \(3,\); expected shape \(2,\)"),
        (0.5, r"is \(\); expected shape \(2,\)"),
        (np.array([0.5, np.nan]), r"is \[0.5, nan\]; expected finite numbers"),
        (np.array([-np.inf, 0.0]), r"is \[-inf, 0.0\]; expected finite numbers"),
        (["left", "right"], r"is \['left', 'right'\]; expected numbers of shape \(2,\)"),
        (None, r"is \(\); expected shape"),
    ],
    ids=str,
)
def test_a_wrong_action_names_its_agent_and_the_step(action: Any, message: str) -> None:
    env = make_env("pred_prey_3")
    env.reset(seed=0)
    good = dict.fromkeys(env.agents, np.zeros(2))
    env.step(good)
    with pytest.raises(RequestError, match=r"action of .agent_1. in step 2.*" + message):
        env.step(good | {"agent_1": action})
    with pytest.raises(RequestError, match=r"action of 'agent_2' .* is None; expected an array"):
        env.step({agent: good[agent] for agent in ("agent_0", "agent_1")})
    env.step(good)


def test_an_episode_is_neither_stepped_before_its_reset_nor_after_its_end() -> None:
    env = make_env("python:tests.envs.faces.test_pettingzoo:Leaving")
    with pytest.raises(RequestError, match="was stepped before its reset; expected a reset"):
        env.step({"left": np.zeros(1), "right": np.zeros(1)})
    env.reset(seed=0)
    while env.agents:
        env.step({"left": np.zeros(1), "right": np.zeros(1)})
    with pytest.raises(RequestError, match="was stepped after its last step; expected a reset"):
        env.step({"left": np.zeros(1), "right": np.zeros(1)})
    env.reset(seed=0)
    env.step({"left": np.zeros(1), "right": np.zeros(1)})


def test_wrong_requests_are_refused() -> None:
    with pytest.raises(RequestError, match="render_mode is 'human'; expected 'rgb_array'"):
        make_env("pred_prey_3", render_mode="human")
    with pytest.raises(RequestError, match="seed is -1; expected an integer from 0 to"):
        make_env("pred_prey_3").reset(seed=-1)
