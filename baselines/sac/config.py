"""Settings of SAC, and the algorithm that they build."""

from types import MappingProxyType
from typing import ClassVar, Final

from rolecast.baselines.rllib.algorithm import OffPolicy, OffPolicyConfig
from rolecast.baselines.sac.learner import SACLearner
from rolecast.baselines.sac.module import SACModule
from rolecast.core.validation import (
    BOOLEAN_VALUE,
    FINITE_NUMBER,
    POSITIVE_NUMBER,
    Rules,
    or_none,
    without,
)

NOISE_SETTINGS: Final = ("exploration_noise", "noise_process")
"""Settings of noise on actions, which a stochastic policy does without."""


class EntropySettings:
    """Settings of the entropy temperature alpha; what `target_entropy` counts is the method's."""

    RULES: ClassVar[Rules] = MappingProxyType(
        {
            "alpha_lr": POSITIVE_NUMBER,
            "initial_alpha": POSITIVE_NUMBER,
            "learn_alpha": BOOLEAN_VALUE,
            "target_entropy": or_none(FINITE_NUMBER),
        }
    )

    alpha_lr: float
    """Learning rate of the entropy temperature alpha."""

    initial_alpha: float
    """Temperature alpha at the start."""

    learn_alpha: bool
    """Whether alpha is learned; otherwise it stays at `initial_alpha`."""


class SACConfig(EntropySettings, OffPolicyConfig):
    """SAC with its authors' settings of the version with automatic entropy.

    Example:
        >>> SACConfig().environment("hopper").training(size="small").size
        'small'
    """

    NAME = "sac"
    MODULE = SACModule
    LEARNER = SACLearner
    RULES: ClassVar[Rules] = MappingProxyType(
        {**without(OffPolicyConfig.RULES, *NOISE_SETTINGS), **EntropySettings.RULES}
    )

    target_entropy: float | None
    """Target entropy in nats; None for minus the size of an action."""

    def __init__(self, algo_class: type | None = None) -> None:
        """Set the defaults."""
        super().__init__(algo_class or SAC)
        self.alpha_lr = 3e-4
        self.initial_alpha = 1.0
        self.learn_alpha = True
        self.target_entropy = None


class SAC(OffPolicy):
    """RLlib's Algorithm of SAC."""

    CONFIG = SACConfig
