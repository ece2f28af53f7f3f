"""Batched uniform elimination: DUETS with exact means, all raw data sent, no shared randomness."""

from dataclasses import dataclass
from typing import Any

from rolecast.baselines.bandits.settings import UcbSettings
from rolecast.core.validation import POSITIVE_INTEGER, check
from rolecast.platform.optimizers.duets.protocol import DuetsProtocol
from rolecast.platform.search.bandit.duets import DuetsMethod
from rolecast.platform.search.bandit.ledger import Ledger
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
        """Return server and agents."""
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

    @property
    def ledger(self) -> Ledger:
        """Raw data of the epochs that ended with an exchange."""
        records = self.records()
        return Ledger(
            uplink=sum(record["uplink"] for record in records),
            downlink=sum(record["downlink"] for record in records),
        )

    def records(self) -> list[dict[str, Any]]:
        """Return the epochs that ended with an exchange, with what raw data cost."""
        width = self.protocol.domain.dimension + 1
        return [
            {
                **record,
                "uplink": record["length"] * width,
                "downlink": self.protocol.agents * record["length"] * width,
            }
            for record in super().records()
        ]
