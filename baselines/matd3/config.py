"""Settings of MATD3, and the algorithm that they build."""

from types import MappingProxyType
from typing import ClassVar

from rolecast.baselines.maddpg.config import MADDPGConfig
from rolecast.baselines.matd3.learner import MATD3Learner
from rolecast.baselines.matd3.module import MATD3Module
from rolecast.baselines.rllib.algorithm import OffPolicy
from rolecast.baselines.td3.smoothing import SmoothingSettings
from rolecast.core.validation import Rules


class MATD3Config(SmoothingSettings, MADDPGConfig):
    """MADDPG with the three changes of TD3.

    Example:
        >>> MATD3Config().environment("pred_prey_3").training(policy_delay=1).policy_delay
        1
    """

    NAME = "matd3"
    MODULE = MATD3Module
    LEARNER = MATD3Learner
    RULES: ClassVar[Rules] = MappingProxyType({**MADDPGConfig.RULES, **SmoothingSettings.RULES})

    def __init__(self, algo_class: type | None = None) -> None:
        """Set the defaults."""
        super().__init__(algo_class or MATD3)
        self.policy_delay = 2
        self.target_noise = 0.2
        self.target_noise_clip = 0.5


class MATD3(OffPolicy):
    """RLlib's Algorithm of MATD3."""

    CONFIG = MATD3Config
