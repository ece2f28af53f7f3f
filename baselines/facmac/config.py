"""Settings of FACMAC, and the algorithm that they build."""

from types import MappingProxyType
from typing import ClassVar, Final, Self

from rolecast.baselines.facmac.learner import FACMACLearner
from rolecast.baselines.facmac.module import FACMACModule
from rolecast.baselines.rllib.algorithm import OffPolicy
from rolecast.baselines.rllib.mixing import MIXER_NAMES
from rolecast.baselines.teams import ACTION_PENALTY, LONG_HORIZON, TeamConfig
from rolecast.core.validation import COUNT_OR_ZERO, POSITIVE_INTEGER, Rules, one_of

MIXING_RULES: Final[Rules] = MappingProxyType(
    {
        "mixer": one_of(*MIXER_NAMES),
        "mixing_embedding": POSITIVE_INTEGER,
        "mixing_hypernet": COUNT_OR_ZERO,
    }
)
"""Settings of a mixing network."""


class FACMACConfig(TeamConfig):
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
        {**TeamConfig.RULES, **ACTION_PENALTY, **MIXING_RULES}
    )

    mixer: str
    """How utilities become one value: "monotonic", "nonmonotonic", or their "sum"."""

    mixing_embedding: int
    """Hidden units of the mixing network."""

    mixing_hypernet: int
    """Hidden units between the state and the mixing weights; 0 for a linear map."""

    action_penalty: float
    """Weight of the mean squared action in the policy's loss."""

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
