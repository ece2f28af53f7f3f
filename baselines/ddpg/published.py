"""The settings that DDPG's authors printed, apart from the config, which loads RLlib."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

LILLICRAP_SETTINGS: Final[Mapping[str, Any]] = MappingProxyType(
    {
        "critic_hidden": (400, 300),
        "actor_lr": 1e-4,
        "critic_lr": 1e-3,
        "tau": 0.001,
        "train_batch_size_per_learner": 64,
        "noise_process": "ornstein_uhlenbeck",
        "exploration_noise": 0.2,
        "last_layer": 3e-3,
    }
)
"""Settings of Lillicrap et al. (2016), for `training`, less batch normalisation and weight decay.

Policies were 400-300, which is `hidden=(400, 300)`.
"""
