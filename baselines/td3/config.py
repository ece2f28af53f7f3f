"""Settings of TD3, and the algorithm that they build."""

from types import MappingProxyType
from typing import ClassVar

from rolecast.baselines.rllib.algorithm import OffPolicy, OffPolicyConfig
from rolecast.baselines.td3.learner import TD3Learner
from rolecast.baselines.td3.module import TD3Module
from rolecast.baselines.td3.smoothing import SmoothingSettings
from rolecast.core.validation import Rules


class TD3Config(SmoothingSettings, OffPolicyConfig):
    """TD3 with the settings of its authors' paper, whose learning curves are published.

    Updates begin with the first batch, while actions are still uniform, as in the paper's code.

    Example:
        >>> config = TD3Config().environment("hopper").training(size="small", tau=0.01)
        >>> config.tau
        0.01
    """

    NAME = "td3"
    MODULE = TD3Module
    LEARNER = TD3Learner
    RULES: ClassVar[Rules] = MappingProxyType({**OffPolicyConfig.RULES, **SmoothingSettings.RULES})

    def __init__(self, algo_class: type | None = None) -> None:
        """Set the defaults."""
        super().__init__(algo_class or TD3)
        self.paper_hidden = self.critic_hidden = (400, 300)
        self.actor_lr = self.critic_lr = 1e-3
        self.train_batch_size_per_learner = 100
        self.policy_delay = 2
        self.target_noise = 0.2
        self.target_noise_clip = 0.5
        self.random_steps = 1_000
        self.num_steps_sampled_before_learning_starts = 100


class TD3(OffPolicy):
    """RLlib's Algorithm of TD3."""

    CONFIG = TD3Config
