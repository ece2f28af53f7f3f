"""Settings of FACMAC, and the algorithm that they build."""

from types import MappingProxyType
from typing import ClassVar, Self

from rolecast.baselines.facmac.learner import FACMACLearner
from rolecast.baselines.facmac.module import FACMACModule
from rolecast.baselines.rllib.algorithm import OffPolicy
from rolecast.baselines.rllib.mixing import MIXER_NAMES
from rolecast.baselines.teams import LONG_HORIZON, ActionPenalty, MixingSettings, TeamConfig
from rolecast.core.validation import Rules, one_of


class FACMACConfig(ActionPenalty, MixingSettings, TeamConfig):
    """FACMAC with a policy that all agents share.

    Example:
        >>> config = FACMACConfig().environment("pred_prey_3").training(mixer="nonmonotonic")
        >>> config.mixer
        'nonmonotonic'
    """

    NAME = "facmac"
    MODULE = FACMACModule
    LEARNER = FACMACLearner
    RULES: ClassVar[Rules] = MappingProxyType(
        {
            **TeamConfig.RULES,
            **ActionPenalty.RULES,
            "mixer": one_of(*MIXER_NAMES),
            **MixingSettings.RULES,
        }
    )

    mixer: str
    """How utilities become one value: "monotonic", "nonmonotonic", or their "sum"."""

    def __init__(self, algo_class: type | None = None) -> None:
        """Set the defaults."""
        super().__init__(algo_class or FACMAC)
        self.mixer = "monotonic"
        self.mixing_embedding = 64
        self.mixing_hypernet = 0
        self.action_penalty = 1e-3

    def suit(self, horizon: int) -> Self:
        """Take the authors' settings for tasks of this length; see `TeamConfig.suit`."""
        if horizon > LONG_HORIZON:
            self._default_to({"mixing_hypernet": 64})
        return super().suit(horizon)


class FACMAC(OffPolicy):
    """RLlib's Algorithm of FACMAC."""

    CONFIG = FACMACConfig
