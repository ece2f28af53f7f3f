"""What `.environment(...)` may be given, and what no algorithm of continuous actions can learn."""

from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from mpe2 import simple_spread_v3
from ray.rllib.env.wrappers.pettingzoo_env import ParallelPettingZooEnv
from ray.tune.registry import register_env

from rolecast.baselines.rllib.environments import (
    check_fit,
    joint_spaces,
    own_action_sizes,
    task_of,
)
from rolecast.core.errors import RequestError
from rolecast.envs.registry import make_task
from tests.envs.adapters.test_task import Unequal


class Room(gymnasium.Env[Any, Any]):
    """As RLlib makes environments: with all options as one mapping."""

    observation_space = spaces.Box(-1.0, 1.0, (2,))

    def __init__(self, config: Any) -> None:
        self.width = config["width"]
        self.action_space = spaces.Box(-1.0, 1.0, (self.width,))

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        return np.zeros(2, dtype=np.float32), {}

    def step(self, action: Any) -> Any:
        return np.zeros(2, dtype=np.float32), 1.0, False, False, {}


def spread(config: Any) -> Any:
    return simple_spread_v3.parallel_env(continuous_actions=True, N=config.get("N", 2))


@pytest.mark.parametrize(
    ("environment", "options", "sizes"),
    [
        ("pred_prey_3", {"sparse": 5}, (3, 16, 2)),
        ("gym:Pendulum-v1", {}, (1, 3, 1)),
        ("Pendulum-v1", {"sparse": 2}, (1, 3, 1)),
        (Room, {"width": 4, "horizon": 9}, (1, 2, 4)),
        (simple_spread_v3.parallel_env, {"continuous_actions": True}, (3, 18, 5)),
    ],
)
def test_an_environment_is_found_in_every_form(
    environment: Any, options: dict[str, Any], sizes: tuple[int, int, int]
) -> None:
    spec = task_of(environment, options).spec
    assert (spec.agents, spec.observation_size, spec.action_size) == sizes
    seen, acts = joint_spaces(spec)
    assert seen.shape == sizes[:2]
    assert acts.shape == (sizes[0], sizes[2])
    assert ("sparse" in options) == ("sparse" in spec.id)


def test_agents_have_action_sizes_of_their_own() -> None:
    """Those of a Discrete space are its choices; compiled tasks pad none."""
    task = make_task(Unequal, sparse=2)
    assert own_action_sizes(task) == [4, 1]
    assert joint_spaces(task.spec, 0, [4, 1])[1].own_sizes == (4, 1)
    assert own_action_sizes(make_task("pred_prey_3")) is None
    assert joint_spaces(make_task("pred_prey_3").spec)[1].own_sizes == (2, 2, 2)


def test_a_name_that_rllib_knows_is_made_as_rllib_does_and_its_wrapper_taken_off() -> None:
    """The wrapper keeps agents in a set, so their order would change from process to process."""
    register_env("rooms", Room)
    wrapper: Any = ParallelPettingZooEnv
    register_env("wrapped_spread", lambda config: wrapper(spread(config)))
    assert task_of("rooms", {"width": 3, "horizon": 5}).spec.action_size == 3
    team: Any = task_of("wrapped_spread", {"N": 4})
    assert team.spec.agents == 4
    team.reset(np.zeros(1, dtype=np.uint64))
    assert team.agent_rewards.shape == (1, 4)


def test_without_an_environment_nothing_is_built() -> None:
    with pytest.raises(RequestError, match="has no environment"):
        task_of(None, {})


@pytest.mark.parametrize(
    ("task", "teams", "message"),
    [
        ("pettingzoo:mpe2.simple_spread_v3", False, "acts for one agent and task .* has 3"),
        ("pred_prey_3", False, "acts for one agent and task 'pred_prey_3' has 3"),
    ],
)
def test_a_task_that_does_not_fit_is_refused(task: str, teams: bool, message: str) -> None:
    with pytest.raises(RequestError, match=message) as refused:
        check_fit(make_task(task), "method", teams=teams)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    "task",
    [
        "pred_prey_3",
        "hopper",
        "pred_prey_3?sparse=2",
        "gym:CartPole-v1",
        "pettingzoo:mpe2.simple_spread_v3",
        "pettingzoo:mpe2.simple_tag_v3?continuous_actions=true",
    ],
)
def test_learners_act_by_numbers_in_all_spaces(task: str) -> None:
    check_fit(make_task(task), "method", teams=True)


def test_reward_settings_do_not_hide_the_spaces() -> None:
    check_fit(make_task("pettingzoo:mpe2.simple_tag_v3?sparse=3"), "m", teams=True, discrete=True)
    with pytest.raises(RequestError, match=r"chooses among a few actions and .* takes Box"):
        check_fit(make_task(Unequal, sparse=3), "method", teams=True, discrete=True)
