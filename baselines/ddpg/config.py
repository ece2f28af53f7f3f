"""Settings of DDPG, and the algorithm that they build."""

from types import MappingProxyType
from typing import ClassVar

from rolecast.baselines.ddpg.learner import DDPGLearner
from rolecast.baselines.ddpg.module import DDPGModule
from rolecast.baselines.rllib.algorithm import OffPolicy, OffPolicyConfig
from rolecast.core.validation import POSITIVE_NUMBER, Rules, or_none


class DDPGConfig(OffPolicyConfig):
    """DDPG with the settings of Tianshou's benchmark, whose results are published.

    Example:
        >>> DDPGConfig().environment("gym:Pendulum-v1").training(actor_lr=1e-4).actor_lr
        0.0001
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
        self.actor_lr = self.critic_lr = 1e-3
        self.last_layer = None


class DDPG(OffPolicy):
    """RLlib's Algorithm of DDPG."""

    CONFIG = DDPGConfig
