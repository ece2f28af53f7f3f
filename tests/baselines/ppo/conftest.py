"""Learners of a team of two, without an environment."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from ray.rllib.core import DEFAULT_MODULE_ID

from rolecast.baselines.ppo.config import PPOConfig
from rolecast.baselines.ppo.learner import PPOLearner
from rolecast.baselines.rllib.environments import joint_spaces
from rolecast.envs.spec import TaskSpec

AGENTS, SEEN, ACTS = 2, 3, 2

Samples = dict[str, np.ndarray[Any, Any]]


@pytest.fixture
def make_learner() -> Callable[..., PPOLearner]:
    """Return a function that builds a learner from the settings that differ."""

    def make(
        seed: int = 0,
        kind: type[PPOConfig] = PPOConfig,
        own_sizes: tuple[int, ...] | None = None,
        **settings: Any,
    ) -> PPOLearner:
        given = {"num_epochs": 2, "minibatch_size": 16, "lr": 3e-3, "critic_hidden": (16,)}
        config: Any = kind().debugging(seed=seed).training(size="small", **{**given, **settings})
        config.check_settings()
        spec = TaskSpec(
            id="none", agents=AGENTS, observation_size=SEEN, action_size=ACTS, horizon=9
        )
        torch.manual_seed(seed)
        spaces = {DEFAULT_MODULE_ID: joint_spaces(spec, own_sizes=own_sizes)}
        module = config.get_multi_rl_module_spec(spaces=spaces, inference_only=False)
        learner: PPOLearner = config.LEARNER(config=config, module_spec=module)
        learner.build()
        return learner

    return make


@pytest.fixture
def samples() -> Samples:
    """Return 12 steps of 5 episodes, with ends of both kinds."""
    rng = np.random.default_rng(1)
    ended = rng.random((12, 5)) < 0.2
    return {
        "observations": rng.normal(5.0, 2.0, size=(12, 5, AGENTS, SEEN)),
        "actions": rng.normal(size=(12, 5, AGENTS, ACTS)),
        "rewards": rng.normal(size=(12, 5, AGENTS)),
        "next_observations": rng.normal(5.0, 2.0, size=(12, 5, AGENTS, SEEN)),
        "states": np.zeros((12, 5, 0)),
        "next_states": np.zeros((12, 5, 0)),
        "terminated": ended & (rng.random((12, 5)) < 0.5),
        "ended": ended,
        "live": np.ones((12, 5)),
    }
