"""What was observed of candidates so far, for the live view: the best one, and any one's mean."""

import hashlib
from math import sqrt

from rolecast.core.types import Float
from rolecast.platform.search.history import Batch

Estimate = tuple[float, float | None]
"""A mean return and its standard error, None where it is not known."""


class Scoreboard:
    """Sums of the returns of each candidate; exact repeats of a candidate count together."""

    def __init__(self) -> None:
        self._sums: dict[bytes, tuple[int, float, float]] = {}
        self.best: Estimate = (float("-inf"), None)
        """Highest mean of one evaluation."""

    def add(self, batch: Batch) -> None:
        """Take in a batch."""
        means, stderrs = batch.means, batch.stderrs
        for row, (candidate, returns) in enumerate(
            zip(batch.candidates, batch.episode_returns, strict=True)
        ):
            key = _key(candidate)
            count, total, squares = self._sums.get(key, (0, 0.0, 0.0))
            self._sums[key] = (
                count + returns.size,
                total + float(returns.sum()),
                squares + float((returns**2).sum()),
            )
            if means[row] > self.best[0]:
                self.best = (float(means[row]), None if stderrs is None else float(stderrs[row]))

    def observed(self, candidate: Float) -> Estimate | None:
        """Return the estimate from all episodes of a candidate [D]; None if it never ran."""
        count, total, squares = self._sums.get(_key(candidate), (0, 0.0, 0.0))
        if count == 0:
            return None
        mean = total / count
        if count == 1:
            return mean, None
        variance = max(0.0, squares - count * mean**2) / (count - 1)
        return mean, sqrt(variance / count)


def _key(candidate: Float) -> bytes:
    return hashlib.blake2b(candidate.tobytes(), digest_size=16).digest()
