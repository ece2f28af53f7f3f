"""Settings of PPO with a learned intrinsic reward."""

from types import MappingProxyType
from typing import ClassVar

from rolecast.baselines.intrinsic_ppo.learner import IntrinsicPPOLearner
from rolecast.baselines.intrinsic_ppo.module import IntrinsicPPOModule
from rolecast.baselines.ppo.config import PPOConfig
from rolecast.core.validation import LAYER_WIDTHS, NOT_NEGATIVE, POSITIVE_NUMBER, Rules, or_none


class IntrinsicPPOConfig(PPOConfig):
    """PPO on a mixture of the task's reward and one that is learned; Zheng et al. 2018.

    Example:
        >>> config = IntrinsicPPOConfig().environment("hopper", env_config={"sparse": 20})
        >>> config.intrinsic_lr
        0.0001
    """

    NAME = "intrinsic_ppo"
    MODULE = IntrinsicPPOModule
    LEARNER = IntrinsicPPOLearner
    RULES: ClassVar[Rules] = MappingProxyType(
        {
            **PPOConfig.RULES,
            "reward_hidden": or_none(LAYER_WIDTHS),
            "intrinsic_lr": POSITIVE_NUMBER,
            "intrinsic_coeff": NOT_NEGATIVE,
            "extrinsic_coeff": NOT_NEGATIVE,
        }
    )

    reward_hidden: tuple[int, ...] | None
    """Widths of the hidden layers of the reward's network; None for 64, 64."""

    intrinsic_lr: float
    """Learning rate of the learned reward and of the critic of the task's own."""

    intrinsic_coeff: float
    """Weight of the learned reward, in (-1, 1), in the training reward: the sum of both rewards."""

    extrinsic_coeff: float
    """Weight of the task's reward in the training reward; its unit is the return's deviation."""

    def __init__(self, algo_class: type | None = None) -> None:
        """Set the defaults."""
        super().__init__(algo_class)
        self.reward_hidden = None
        self.intrinsic_lr = 1e-4
        self.intrinsic_coeff = 1.0
        self.extrinsic_coeff = 0.01
