"""What a search still needs of the batches in its folder: as much for any number of them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from rolecast.core.errors import RunError
from rolecast.core.types import Float
from rolecast.platform.search.planning.budget import CONFIRMED_CANDIDATES, Budget, Spent
from rolecast.platform.search.records.history import Batch, Kind

BEST_EVALUATED: Final = CONFIRMED_CANDIDATES - 1
"""Candidates with the highest means that are looked at again at the end of a search."""

SIGNAL_FACTOR: Final = 2.0
"""Variance of means by that of their errors, above which candidates can be told apart."""

LATE_SHARE: Final = 0.5
"""Share of the budget after which the search's candidates may be among them."""

EARLIER_SHARES: Final = (0.9, 0.75)
"""Shares of the search at which the incumbent of then is looked at again at its end."""


def distinct(candidates: Iterable[Float]) -> list[Float]:
    """Return candidates [D] in their order, each once."""
    kept: list[Float] = []
    for candidate in candidates:
        if not any(np.array_equal(candidate, other) for other in kept):
            kept.append(candidate)
    return kept


@dataclass(eq=False)
class LateCandidates:
    """What is known of the candidates in the later part of a search; as much for any number."""

    best: list[tuple[float, Float]] = field(default_factory=list)
    """The highest mean returns, as paid, and their candidates [D], best first."""

    batches: int = 0
    """Batches whose candidates differ."""

    variance: float = 0.0
    """Sum over them of the mean squared distance from the median, of means above it."""

    errors: float | None = 0.0
    """Sum over them of the squared standard error of those means; None where an evaluation is one
    episode."""

    def add(self, batch: Batch) -> None:
        """Take in a batch."""
        means, stderrs = batch.observed_means, batch.observed_stderrs
        for row in np.argsort(-means, kind="stable"):
            if len(self.best) == BEST_EVALUATED and means[row] <= self.best[-1][0]:
                break
            self._place(float(means[row]), batch.candidates[row])
        median = np.median(means)
        upper = means > median
        if not upper.any():
            return
        self.batches += 1
        self.variance += float(np.square(means[upper] - median).mean())
        if self.errors is None or stderrs is None:
            self.errors = None
        else:
            self.errors += float(np.square(stderrs[upper]).mean())

    def _place(self, mean: float, candidate: Float) -> None:
        """Take a candidate among the best, unless it is one of them already."""
        if any(np.array_equal(candidate, known) for _, known in self.best):
            return
        placed = [*self.best, (mean, candidate.copy())]
        self.best = sorted(placed, key=lambda pair: -pair[0])[:BEST_EVALUATED]

    def told_apart(self, episode_variance: float = 0.0) -> bool:
        """Return whether candidates differ by more than their errors.

        Of those above the median of their batch, as a few that fail make others no better. The
        variance between means is that of candidates and of errors. Batches of a single candidate
        say nothing.

        Args:
            episode_variance: of a candidate's returns, for evaluations of one episode, which do
                not show it.
        """
        errors = self.batches * episode_variance if self.errors is None else self.errors
        return self.variance > SIGNAL_FACTOR * errors


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

    confirmed: Float | None = None
    """[D], what the last confirmation kept: a search that is extended afterwards compares it."""

    late_candidates: LateCandidates = field(default_factory=LateCandidates)
    """Those of which the best are looked at again at the end."""

    _changes: list[tuple[int, Float]] = field(default_factory=list)
    """What was used of the budget when an incumbent came, and the incumbent [D]. Those are dropped
    that no earlier share of the search can have any more."""

    def add(self, batch: Batch) -> None:
        """Take in the next batch."""
        self.count, self.last = self.count + 1, batch
        self.best_return = max(self.best_return, float(batch.means.max()))
        lows = float(batch.episode_returns.min()), float(batch.observed_returns.min())
        self.lowest = min(self.lowest[0], lows[0]), min(self.lowest[1], lows[1])
        if batch.kind is Kind.CONFIRM:
            self.confirmed = batch.incumbent
        else:
            self.searched_share = max(self.searched_share, batch.spent)
        self.spent = batch.spent_with(self.spent)
        if batch.kind is Kind.SEARCH and self.budget.share(self.spent) > LATE_SHARE:
            self.late_candidates.add(batch)
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

    @property
    def incumbent(self) -> Float:
        """[D], after the last batch."""
        if self.last is None:
            raise RunError("there is no incumbent before the first batch")
        return self.last.incumbent

    def earlier_incumbents(self) -> Sequence[Float]:
        """Return the distinct incumbents [D] of earlier shares of the search, at most 2."""
        end, known = self.budget.used(self.spent), [self.incumbent]
        for share in EARLIER_SHARES:
            before = [incumbent for used, incumbent in self._changes if used <= share * end]
            known += before[-1:]
        return distinct(known)[1:]

    def best_evaluated(self) -> Sequence[Float]:
        """Return the candidates [D] with the highest means of the later search, at most 3.

        None where candidates are not told apart: the highest mean is luck there, and the
        optimiser's incumbent is the better one.
        """
        late = self.late_candidates
        return [candidate for _, candidate in late.best] if late.told_apart() else []
