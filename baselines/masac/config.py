"""Settings of MASAC, and the algorithm that they build."""

from types import MappingProxyType
from typing import ClassVar

from rolecast.baselines.masac.independent import ISACLearner, ISACModule
from rolecast.baselines.masac.learner import MASACLearner
from rolecast.baselines.rllib.algorithm import OffPolicy
from rolecast.baselines.sac.config import NOISE_SETTINGS, EntropySettings
from rolecast.baselines.sac.module import SACModule
from rolecast.baselines.teams import TeamConfig
from rolecast.core.validation import Rules, without


class MASACConfig(EntropySettings, TeamConfig):
    """Soft actor-critic for a team that shares one stochastic policy.

    Example:
        >>> MASACConfig().environment("pred_prey_3").training(initial_alpha=0.2).initial_alpha
        0.2
    """

    NAME = "masac"
    MODULE = SACModule
    LEARNER = MASACLearner
    REFUSED_OPTIONS = ("share_policy",)
    RULES: ClassVar[Rules] = MappingProxyType(
        {**without(TeamConfig.RULES, *NOISE_SETTINGS), **EntropySettings.RULES}
    )

    target_entropy: float | None
    """Target of the joint entropy in nats; None for minus the size of a joint action."""

    def __init__(self, algo_class: type | None = None) -> None:
        """Set the defaults."""
        super().__init__(algo_class or MASAC)
        self.alpha_lr = 1e-3
        self.initial_alpha = 1.0
        self.learn_alpha = True
        self.target_entropy = None


class MASAC(OffPolicy):
    """RLlib's Algorithm of MASAC."""

    CONFIG = MASACConfig


class ISACConfig(MASACConfig):
    """Independent SAC: MASAC whose critics see their own agent alone.

    Example:
        >>> ISACConfig().environment("pred_prey_3").reads_state
        False
    """

    NAME = "isac"
    MODULE = ISACModule
    LEARNER = ISACLearner
    RULES: ClassVar[Rules] = MappingProxyType(without(MASACConfig.RULES, "use_state"))

    target_entropy: float | None
    """Target of each agent's entropy in nats; None for minus the size of its action."""

    @property
    def reads_state(self) -> bool:
        """Return False: no critic sees all agents."""
        return False
