"""What a search still needs of the batches in its folder: as much for any number of them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from rolecast.core.types import Float
from rolecast.platform.search.planning.budget import Budget, Spent
from rolecast.platform.search.records.history import Batch, Kind

EARLIER_SHARES: Final = (0.9, 0.75)
"""Shares of the search at which the incumbent of then is looked at again at its end."""


@dataclass(eq=False)
class BatchSummary:
    """Summary of the batches so far."""

    budget: Budget
    count: int = 0
    last: Batch | None = None
    best_return: float = float("-inf")
    """Highest mean return of an evaluation."""

    lowest: tuple[float, float] = (float("inf"), float("inf"))
    """Lowest return of an episode, as earned and as paid."""

    spent: Spent = field(default_factory=Spent)
    """What the search has used."""

    searched_share: float = 0.0
    """Greatest share of the budget that was spent before a batch of the search. The budget is that
    of its time: a larger one later makes the share no smaller."""

    next_number: int = 0
    """Number from which the next evaluation's seeds are derived: that of the evaluation. It is more
    where numbers above it were used, in asynchronous searches alone."""

    _changes: list[tuple[int, Float]] = field(default_factory=list)
    """What was used of the budget when an incumbent came, and the incumbent [D]. Those are dropped
    that no earlier share of the search can have any more."""

    def add(self, batch: Batch) -> None:
        """Take in the next batch."""
        self.count, self.last = self.count + 1, batch
        self.best_return = max(self.best_return, float(batch.means.max()))
        lows = float(batch.episode_returns.min()), float(batch.observed_returns.min())
        self.lowest = min(self.lowest[0], lows[0]), min(self.lowest[1], lows[1])
        if batch.kind is not Kind.CONFIRM:
            self.searched_share = max(self.searched_share, batch.spent)
        self.spent = batch.spent_with(self.spent)
        used_numbers = int(batch.episodes_of.max()) + 1
        self.next_number = max(self.next_number, used_numbers, self.spent.evaluations)
        used = self.budget.used(self.spent)
        if not self._changes or not np.array_equal(self._changes[-1][1], batch.incumbent):
            self._changes.append((used, np.array(batch.incumbent)))
        while len(self._changes) > 1 and self._changes[1][0] <= min(EARLIER_SHARES) * used:
            del self._changes[0]

    @property
    def wall_time_s(self) -> float:
        """Seconds of searching up to the last batch."""
        return 0.0 if self.last is None else self.last.wall_time_s

    def incumbents(self) -> Sequence[Float]:
        """Return the distinct incumbents [D] of now and of earlier, at most 3, now first."""
        if self.last is None:
            return []
        end = self.budget.used(self.spent)
        chosen = [self.last.incumbent]
        for share in EARLIER_SHARES:
            before = [incumbent for used, incumbent in self._changes if used <= share * end]
            if before and not any(np.array_equal(before[-1], known) for known in chosen):
                chosen.append(before[-1])
        return chosen
