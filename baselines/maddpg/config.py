"""Settings of MADDPG, and the algorithm that they build."""

from types import MappingProxyType
from typing import ClassVar

from rolecast.baselines.maddpg.learner import MADDPGLearner
from rolecast.baselines.maddpg.module import CRITIC_VIEWS, MADDPGModule
from rolecast.baselines.rllib.algorithm import OffPolicy
from rolecast.baselines.teams import ActionPenalty, TeamConfig
from rolecast.core.validation import Rules, one_of


class MADDPGConfig(ActionPenalty, TeamConfig):
    """MADDPG with a policy that all agents share.

    Example:
        >>> config = MADDPGConfig().environment("pred_prey_3").training(size="small")
        >>> config.critic_sees
        'all'
    """

    NAME = "maddpg"
    MODULE = MADDPGModule
    LEARNER = MADDPGLearner
    RULES: ClassVar[Rules] = MappingProxyType(
        {**TeamConfig.RULES, **ActionPenalty.RULES, "critic_sees": one_of(*CRITIC_VIEWS)}
    )

    critic_sees: str
    """"all" agents, or each critic its "own" alone, which makes it independent DDPG."""

    def __init__(self, algo_class: type | None = None) -> None:
        """Set the defaults."""
        super().__init__(algo_class or MADDPG)
        self.critic_sees = "all"
        self.action_penalty = 1e-3


class MADDPG(OffPolicy):
    """RLlib's Algorithm of MADDPG."""

    CONFIG = MADDPGConfig


class IDDPGConfig(MADDPGConfig):
    """Independent DDPG: MADDPG whose critics see their own agent alone (Lowe et al. 2017).

    Example:
        >>> IDDPGConfig().environment("pred_prey_3").critic_sees
        'own'
    """

    NAME = "iddpg"

    def __init__(self, algo_class: type | None = None) -> None:
        """Set the defaults."""
        super().__init__(algo_class)
        self.critic_sees = "own"

    @property
    def reads_state(self) -> bool:
        """Whether critics read the task's state: where they see all agents."""
        return self.critic_sees == "all" and super().reads_state
