"""Learners of teams on a game where trust pays: centralised ones learn it, independent ones do not.

Over five seeds with these settings the returns were 0.78 (MADDPG), 0.87 (FACMAC) and 0.07
(independent DDPG), the best possible 1.
"""

from typing import Any

import numpy as np
import pytest

from rolecast.baselines import FACMACConfig, MADDPGConfig
from rolecast.baselines.rllib.actor_policy import ActorPolicy
from rolecast.baselines.rllib.trial import configured
from rolecast.baselines.teams import AUTHORS_SETTINGS, TeamConfig
from rolecast.envs.registry import make_task
from rolecast.platform.rollout.rollout import rollout
from tests.envs.adapters.plain_team import PlainTeam

VENTURE = "python:rolecast.baselines.games:venture"

QUICK: dict[str, Any] = {
    "hidden": (32, 32),
    "critic_hidden": (32, 32),
    "actor_lr": 1e-2,
    "critic_lr": 1e-2,
    "gamma": 0.99,
    "train_batch_size_per_learner": 64,
    "updates_per_step": 0.25,
    "noise_process": "gaussian",
    "exploration_noise": 0.1,
    "random_steps": 800,
    "num_steps_sampled_before_learning_starts": 800,
}


def learnt(config: TeamConfig) -> float:
    """Return what the greedy policy earns after 3,600 env steps, 700 updates."""
    config.environment(VENTURE).training(**QUICK).debugging(seed=1)
    algorithm: Any = config.build_algo()
    try:
        algorithm.pause_at = 3600
        algorithm.train()
        policy = ActorPolicy(config.NAME, algorithm.get_module())
    finally:
        algorithm.stop()
    task = make_task(VENTURE)
    return float(rollout(task, policy, policy.weights, [1]).returns[0, 0])


@pytest.mark.usefixtures("ray_cluster")
@pytest.mark.parametrize(
    ("config", "lowest", "highest"),
    [
        (MADDPGConfig(), 0.6, 1.0),
        (FACMACConfig().training(mixing_embedding=16), 0.6, 1.0),
        (MADDPGConfig().training(critic_sees="own"), -0.3, 0.25),
    ],
    ids=["maddpg", "facmac", "independent"],
)
def test_trust_is_learnt_by_centralised_critics_alone(
    config: TeamConfig, lowest: float, highest: float
) -> None:
    assert lowest <= learnt(config) <= highest


@pytest.mark.parametrize("kind", AUTHORS_SETTINGS)
@pytest.mark.parametrize("name", ["maddpg", "facmac", "comix", "covdn"])
def test_every_method_takes_its_authors_settings(name: str, kind: str) -> None:
    from rolecast.baselines.registry import algorithm_config

    config = algorithm_config(name)()
    config.tuned(config.authors_settings(kind))
    assert config.gamma == AUTHORS_SETTINGS[kind]["gamma"]


@pytest.mark.parametrize("name", ["maddpg", "facmac", "comix", "covdn"])
def test_a_trial_on_long_episodes_has_the_settings_that_the_authors_had_for_them(name: str) -> None:
    """Numbers of the published code; what an experiment sets stays, and short tasks keep theirs."""
    long = configured(name, "ma_hopper_3x1?obs=own", {"size": "small", "tau": 0.5})
    assert (long.gamma, long.train_batch_size_per_learner, long.updates_per_step) == (0.99, 100, 1)
    assert long.paper_hidden == (400, 400)
    if "critic_hidden" in long.RULES:
        assert long.critic_hidden == (400, 400)
    assert (long.size, long.tau) == ("small", 0.5)
    if name == "facmac":
        assert long.mixing_hypernet == 64
    short = configured(name, "pred_prey_3", {})
    assert (short.gamma, short.critic_hidden) == (0.85, (64, 64))
    assert short.to_dict()["updates_per_step"] == type(short)().updates_per_step


def test_a_trial_of_one_agent_has_the_defaults() -> None:
    config = configured("td3", "hopper", {"tau": 0.5})
    assert (config.gamma, config.tau, config.critic_hidden) == (0.99, 0.5, (400, 300))


def test_an_rllib_users_config_suits_the_task_when_it_is_built() -> None:
    """Without a comparison in between; `validate` is what `build_algo` calls."""
    config: Any = FACMACConfig().environment("ma_hopper_3x1").training(tau=0.5)
    config.validate()
    assert (config.gamma, config.updates_per_step, config.tau) == (0.99, 1.0, 0.5)
    assert config.mixing_hypernet == 64
    short: Any = FACMACConfig().environment("pred_prey_3")
    short.validate()
    assert short.gamma == 0.85


@pytest.mark.parametrize(("horizon", "gamma"), [(5, 0.85), (25, 0.85), (50, 0.925), (100, 0.9625)])
def test_the_discount_reaches_the_same_part_of_an_episode(horizon: int, gamma: float) -> None:
    assert MADDPGConfig().suit(horizon).gamma == pytest.approx(gamma)


class Fragile(PlainTeam):
    """States no limit, and ends in its second step."""

    metadata = {"name": "fragile"}  # noqa: RUF012 - the interface's own form
    possible_agents = ["left", "right"]  # noqa: RUF012 - the interface's own form

    def step(self, actions: dict[str, Any]) -> Any:
        self.steps += 1
        over = dict.fromkeys(self.agents, self.steps == 2)
        seen, rewards = {agent: np.zeros(1) for agent in over}, dict.fromkeys(over, 1.0)
        self.agents = [] if self.steps == 2 else self.agents
        return seen, rewards, over, dict.fromkeys(over, False), {}


@pytest.mark.parametrize(("options", "gamma"), [("", 0.99), ("?horizon=9", 0.85)])
def test_a_task_without_a_stated_limit_has_the_settings_of_long_episodes(
    options: str, gamma: float
) -> None:
    """Random episodes that end early say nothing about those of a good policy."""
    task = f"python:tests.baselines.test_teams:Fragile{options}"
    assert configured("masac", task, {}).gamma == gamma
    own: Any = MADDPGConfig().environment(task)
    own.validate()
    assert own.gamma == gamma


def test_a_discount_that_the_user_set_stays_even_where_it_is_the_default() -> None:
    assert MADDPGConfig().training(gamma=0.85).suit(1000).gamma == 0.85
    plain = MADDPGConfig()
    plain.gamma = 0.7  # set as an attribute, as `update_from_dict` does
    assert plain.suit(1000).gamma == 0.7


def test_settings_that_come_as_a_dictionary_stay_the_users() -> None:
    config = FACMACConfig().environment("ma_hopper_3x1").training(gamma=0.85)
    again: Any = FACMACConfig().update_from_dict(config.to_dict())
    again.validate()
    assert (again.gamma, again.updates_per_step) == (0.85, 1.0)
