"""What a search may still spend. The worst case counts, so that a budget is never exceeded."""

from dataclasses import dataclass
from math import ceil
from typing import Final, Literal

from rolecast.core.errors import ConfigError

LEAST_CONFIRMATION: Final = 2
"""Evaluations that the confirmation has at least, in a budget large enough for a search too."""


@dataclass(frozen=True, kw_only=True)
class Spent:
    """What a search has used."""

    env_steps: int = 0
    """Steps of all its episodes."""

    evaluations: int = 0
    """Its evaluations, those of the confirmation included."""


@dataclass(frozen=True, kw_only=True)
class Budget:
    """A limit in env steps or in evaluations, a part of which the confirmation keeps."""

    unit: Literal["env_steps", "evaluations"]
    """What is counted."""

    total: int
    """The limit."""

    worst_steps: int
    """Env steps of one evaluation at most: episodes x horizon.

    Of a task without a horizon: episodes x the longest measured one, which an evaluation may
    exceed."""

    confirm_share: float
    """Share of the total kept for the confirmation, in [0, 0.5]."""

    before: int = 0
    """What was used before the first evaluation, in the budget's unit."""

    def __post_init__(self) -> None:
        if self.total - self.before < self.cost:
            raise ConfigError(
                f"SearchConfig.{self.unit}",
                self.total,
                f"at least {self.before + self.cost}, one evaluation of this task",
            )

    @property
    def cost(self) -> int:
        """What one evaluation may cost at most, in the budget's unit."""
        return self.worst_steps if self.unit == "env_steps" else 1

    @property
    def affordable(self) -> int:
        """Evaluations that fit in the whole budget at their highest cost."""
        return (self.total - self.before) // self.cost

    @property
    def confirmations(self) -> int:
        """Evaluations kept for the confirmation; at most a third of what fits."""
        if self.confirm_share == 0.0:
            return 0
        wanted = max(LEAST_CONFIRMATION, ceil(self.confirm_share * self.affordable))
        return min(wanted, self.affordable // 3)

    def used(self, spent: Spent) -> int:
        """Return what is used, in the budget's unit."""
        return self.before + (spent.env_steps if self.unit == "env_steps" else spent.evaluations)

    def share(self, spent: Spent) -> float:
        """Return the share of the budget that is used, in [0, 1]."""
        return min(1.0, self.used(spent) / self.total)

    def search_fits(self, spent: Spent) -> int:
        """Return how many evaluations still fit beside the confirmation."""
        return max(0, self._fits(spent) - self.confirmations)

    def confirmation_fits(self, spent: Spent) -> int:
        """Return the evaluations of the confirmation; fewer than were kept where less is left."""
        return min(self.confirmations, self._fits(spent))

    def _fits(self, spent: Spent) -> int:
        """Return how many evaluations fit in what is left."""
        return max(0, self.total - self.used(spent)) // self.cost
