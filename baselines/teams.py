"""What the learners of teams share: Adam's epsilon of their authors, and the team's reward."""

from types import MappingProxyType
from typing import Any, ClassVar, Final

from torch import Tensor

from rolecast.baselines.joint.config import OffPolicyConfig
from rolecast.baselines.joint.learner import Net, OffPolicyLearner, Tensors
from rolecast.baselines.joint.rules import NOT_NEGATIVE, POSITIVE, Rules

TEAM_RULES: Final[Rules] = MappingProxyType({"adam_epsilon": POSITIVE})
"""Settings that all of them have, beside those of every off-policy learner."""


class TeamConfig(OffPolicyConfig):
    """Settings of an off-policy learner for teams."""

    TEAMS = True
    RULES: ClassVar[Rules] = MappingProxyType({**OffPolicyConfig.RULES, **TEAM_RULES})

    adam_epsilon: float
    """Epsilon of Adam; a large one, such as 0.01, shortens the steps of small gradients."""

    def __init__(self, algo_class: type | None = None) -> None:
        """Set the defaults that all share."""
        super().__init__(algo_class)
        self.adam_epsilon = 1e-8


class TeamLearner(OffPolicyLearner[Net]):
    """An off-policy learner whose optimisers have an epsilon of their own."""

    def configure_optimizers_for_module(self, module_id: str, config: Any = None) -> None:
        """Register one Adam for each parameter group."""
        super().configure_optimizers_for_module(module_id, config)
        for optimizer, _ in self._groups.values():
            for group in optimizer.param_groups:
                group["eps"] = self.config.adam_epsilon


ACTION_PENALTY: Final[Rules] = MappingProxyType({"action_penalty": NOT_NEGATIVE})
"""Setting of learners with an actor: weight of its mean squared action in its loss."""


def team_reward(batch: Tensors) -> Tensor:
    """Return the reward [N] that the agents share: the mean of theirs [N, n]."""
    return batch["rewards"].mean(dim=1)
