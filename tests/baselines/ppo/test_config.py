"""What the settings refuse, and how large the networks are that they give."""

from typing import Any

import gymnasium
import numpy as np
import pytest
import torch

from rolecast.baselines.ppo.config import MAPPOConfig, PPOConfig
from rolecast.core.errors import ConfigError, RequestError


def module(config: PPOConfig, agents: int, seen: int, acts: int) -> Any:
    spec = config.get_default_rl_module_spec()
    spec.observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (agents, seen), np.float32)
    spec.action_space = gymnasium.spaces.Box(-1.0, 1.0, (agents, acts), np.float32)
    return spec.build()


@pytest.mark.parametrize(
    ("agents", "seen", "acts", "parameters"),
    [(1, 27, 8, 478), (1, 11, 3, 263), (2, 4, 2, 310), (3, 2, 1, 267), (6, 16, 2, 478)],
)
def test_small_policies_have_the_parameters_of_the_paper(
    agents: int, seen: int, acts: int, parameters: int
) -> None:
    """Ant, Hopper, and the teams of Ant, Hopper and PredPrey in the paper's tables 2 and 3."""
    net = module(PPOConfig().training(size="small"), agents, seen, acts).acting_layers()
    assert sum(parameter.numel() for parameter in net.parameters()) == parameters


@pytest.mark.parametrize(("size", "wide"), [("paper", 64), ("xl", 400)])
def test_larger_sizes_have_two_hidden_layers(size: str, wide: int) -> None:
    built = module(PPOConfig().training(size=size), 3, 16, 2)
    assert [layer.out_features for layer in built.policy[::2]] == [wide, wide, 2]
    assert [layer.out_features for layer in built.critic[::2]] == [wide, wide, 1]


def test_a_centralised_critic_sees_all_agents_and_values_each() -> None:
    built = module(MAPPOConfig(), 3, 16, 2)
    assert (built.critic[0].in_features, built.critic[-1].out_features) == (48, 3)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"size": "huge"}, "PPOConfig.size is 'huge'; expected 'small' or 'paper' or 'xl'"),
        ({"hidden": [64, 0]}, r"PPOConfig.hidden is \[64, 0\]; expected one or more"),
        ({"lambda_": 1.5}, r"PPOConfig.lambda_ is 1.5; expected a number in \[0, 1\]"),
        ({"num_epochs": 0}, "PPOConfig.num_epochs is 0; expected an integer >= 1"),
        ({"minibatch_size": 4096}, "PPOConfig.minibatch_size is 4096; expected at most"),
        ({"use_gae": False}, "PPOConfig.use_gae is False; expected True: this PPO has nothing"),
        ({"use_critic": False}, "PPOConfig.use_critic is False; expected True"),
        ({"grad_clip_by": "value"}, "PPOConfig.grad_clip_by is 'value'; expected 'global_norm'"),
    ],
)
def test_wrong_settings_are_named(settings: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ConfigError, match=sentence):
        PPOConfig().training(**settings).validate()


def test_greedy_episodes_are_refused_in_training_and_not_in_evaluation() -> None:
    with pytest.raises(ConfigError, match="explore is False; expected True: PPO learns"):
        PPOConfig().env_runners(explore=False).validate()
    config: Any = PPOConfig().environment("pred_prey_3")
    config.evaluation(evaluation_interval=1, evaluation_config={"explore": False}).validate()
    config.get_evaluation_config_object().validate()


def test_an_unknown_setting_is_answered_by_the_nearest() -> None:
    with pytest.raises(RequestError, match="did you mean 'clip_param'"):
        PPOConfig().training(clip_parm=0.1)


def test_the_acting_network_does_what_the_module_does() -> None:
    built = module(PPOConfig(), 2, 3, 2)
    observations = torch.from_numpy(np.random.default_rng(0).normal(4.0, 9.0, (50, 2, 3))).float()
    built.normaliser.see(observations.flatten(0, 1))
    with torch.no_grad():
        for parameter in built.policy.parameters():
            parameter += 0.3 * torch.randn(parameter.shape)
        expected = built.forward_inference({"obs": observations})["actions"]
        found = built.acting_layers()(observations).clamp(-1.0, 1.0)
    assert float(expected.abs().max()) == 1.0
    np.testing.assert_allclose(found, expected, atol=1e-5)
