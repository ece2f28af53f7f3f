"""Exact posterior over fixed candidates, updated point by point in the time of one row."""

from collections.abc import Callable

import numpy as np

from rolecast.core.types import Float

CovarianceRow = Callable[[int], Float]
"""Prior covariance [C] of a candidate with all candidates."""


class CandidatePosterior:
    """Gaussian process on C candidates, at which it is also observed (equations 3 and 4)."""

    def __init__(self, row: CovarianceRow, mean: Float, variance: Float, noise: float) -> None:
        """Begin with a prior.

        Args:
            row: prior covariance with a candidate.
            mean: prior mean [C].
            variance: prior variance [C].
            noise: lambda, variance of the noise.
        """
        self._row, self._noise = row, noise
        self.mean, self.variance = mean.copy(), variance.copy()
        self._rows = np.empty((8, len(mean)))
        self._count = 0

    def covariance_row(self, place: int) -> Float:
        """Return the posterior covariance [C] of a candidate with all."""
        known = self._rows[: self._count]
        return np.asarray(self._row(place) - known[:, place] @ known)

    def add(self, place: int, value: float) -> float:
        """Add a value observed at a candidate; return the variance that it had before."""
        before = max(float(self.variance[place]), 0.0)
        row = self.covariance_row(place) / np.sqrt(before + self._noise)
        innovation = (value - self.mean[place]) / np.sqrt(before + self._noise)
        self.mean += innovation * row
        self.variance -= np.square(row)
        if self._count == len(self._rows):
            self._rows = np.concatenate([self._rows, np.empty_like(self._rows)])
        self._rows[self._count] = row
        self._count += 1
        return before

    def upper(self, beta: float) -> Float:
        """Return the upper confidence bound [C]."""
        return np.asarray(self.mean + beta * np.sqrt(np.maximum(self.variance, 0.0)))

    def fork(self) -> "CandidatePosterior":
        """Return a posterior that goes on from here by itself; this one must not change then."""
        return CandidatePosterior(self.covariance_row, self.mean, self.variance, self._noise)
