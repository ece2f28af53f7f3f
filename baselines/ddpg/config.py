"""Settings of DDPG, and the algorithm that they build."""

from types import MappingProxyType
from typing import ClassVar

from rolecast.baselines.ddpg.learner import DDPGLearner
from rolecast.baselines.ddpg.module import DDPGModule
from rolecast.baselines.rllib.algorithm import OffPolicy, OffPolicyConfig
from rolecast.core.validation import POSITIVE_NUMBER, Rules, or_none


class DDPGConfig(OffPolicyConfig):
    """DDPG with its authors' settings, as far as its README does not say otherwise.

    Example:
        >>> DDPGConfig().environment("gym:Pendulum-v1").training(actor_lr=1e-3).actor_lr
        0.001
    """

    NAME = "ddpg"
    MODULE = DDPGModule
    LEARNER = DDPGLearner
    RULES: ClassVar[Rules] = MappingProxyType(
        {**OffPolicyConfig.RULES, "last_layer": or_none(POSITIVE_NUMBER)}
    )

    last_layer: float | None
    """The last layers of policy and critic are drawn within this of 0; None as torch draws them."""

    def __init__(self, algo_class: type | None = None) -> None:
        """Set the defaults."""
        super().__init__(algo_class or DDPG)
        self.paper_hidden = self.critic_hidden = (400, 300)
        self.actor_lr, self.critic_lr = 1e-4, 1e-3
        self.tau = 0.001
        self.train_batch_size_per_learner = 64
        self.noise_process = "ornstein_uhlenbeck"
        self.exploration_noise = 0.2
        self.last_layer = 3e-3


class DDPG(OffPolicy):
    """RLlib's Algorithm of DDPG."""

    @classmethod
    def get_default_config(cls) -> DDPGConfig:
        """Return the settings of DDPG."""
        return DDPGConfig()
