"""Batched uniform elimination: DUETS with exact means, all raw data sent, no shared randomness."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from rolecast.baselines.bandits.settings import UcbSettings
from rolecast.core.validation import POSITIVE_INTEGER, check
from rolecast.platform.optimizers.duets.protocol import DuetsProtocol
from rolecast.platform.optimizers.duets.server import EpochRecord
from rolecast.platform.search.bandit.duets import DuetsMethod, require_few_dimensions
from rolecast.platform.search.bandit.method import BanditMethod, BanditProblem

ALL_POINTS = 1e300
"""p_0 with which every point is an inducing point, so that the sparse mean is the exact one."""


@dataclass(frozen=True, kw_only=True)
class EliminationConfig(UcbSettings):
    """Batched uniform elimination with N T queries, on the epochs of DUETS."""

    first_epoch: int = 2
    """T_1, at least 1."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check(type(self).__name__, vars(self), {"first_epoch": POSITIVE_INTEGER})

    def build(self, problem: BanditProblem) -> BanditMethod:
        """Return server and agents.

        Raises:
            ConfigError: there are more than ten dimensions.
        """
        require_few_dimensions("elimination", problem)
        protocol = DuetsProtocol(
            domain=problem.domain,
            kernel=self.kernel_of(problem),
            agents=problem.agents,
            rounds=problem.rounds,
            seed=problem.seed,
            first_epoch=self.first_epoch,
            beta=self.beta,
            inducing_factor=ALL_POINTS,
            noise_variance=self.noise_variance,
        )
        return Elimination(protocol)


class Elimination(DuetsMethod):
    """DUETS with all points inducing; every point and value is counted up, and their union down."""

    def exchanges(self) -> Sequence[EpochRecord]:
        """Return the epochs that ended with an exchange, with what raw data cost."""
        width, agents = self.protocol.domain.dimension + 1, self.protocol.agents
        return [
            replace(each, uplink=each.length * width, downlink=agents * each.length * width)
            for each in super().exchanges()
        ]
