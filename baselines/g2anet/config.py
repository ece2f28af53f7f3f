"""Settings of G2ANet, and the algorithm that they build."""

from types import MappingProxyType
from typing import ClassVar

from rolecast.baselines.g2anet.learner import G2ANetLearner
from rolecast.baselines.g2anet.module import G2ANetModule
from rolecast.baselines.maddpg.config import MADDPGConfig
from rolecast.baselines.rllib.algorithm import OffPolicy
from rolecast.core.validation import POSITIVE_NUMBER, Rules


class G2ANetConfig(MADDPGConfig):
    """MADDPG whose agents attend to each other's observations as they act.

    Example:
        >>> config = G2ANetConfig().environment("pred_prey_3").training(gate_temperature=0.5)
        >>> config.gate_temperature
        0.5
    """

    NAME = "g2anet"
    MODULE = G2ANetModule
    LEARNER = G2ANetLearner
    REFUSED_OPTIONS = ("share_policy",)
    RULES: ClassVar[Rules] = MappingProxyType(
        {**MADDPGConfig.RULES, "gate_temperature": POSITIVE_NUMBER}
    )

    hidden: tuple[int, ...] | None
    """Widths of the policy's encoder, instead of those of `size`; None for these. Queries, keys and
    gates are half as wide as its last layer."""

    gate_temperature: float
    """Temperature of the Gumbel softmax through which gradients reach the gates of attention."""

    def __init__(self, algo_class: type | None = None) -> None:
        """Set the defaults."""
        super().__init__(algo_class or G2ANet)
        self.gate_temperature = 1.0


class G2ANet(OffPolicy):
    """RLlib's Algorithm of G2ANet."""

    CONFIG = G2ANetConfig
