"""Posterior over fixed candidates, exact or sparse, updated point by point."""

from collections.abc import Callable
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_solve, cholesky, solve_triangular

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
        self._row, self.noise = row, noise
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
        row = self.covariance_row(place) / np.sqrt(before + self.noise)
        innovation = (value - self.mean[place]) / np.sqrt(before + self.noise)
        self.mean += innovation * row
        self.variance -= np.square(row)
        if self._count == len(self._rows):
            self._rows = np.concatenate([self._rows, np.empty_like(self._rows)])
        self._rows[self._count] = row
        self._count += 1
        return before

    def add_all(self, places: NDArray[np.int64], values: Float) -> None:
        """Add values [m] observed at candidates [m], in one product of matrices."""
        known = self._rows[: self._count]
        single, order = np.unique(places, return_inverse=True)
        rows = np.array([self._row(int(place)) for place in single])
        rows = (rows - known[:, single].T @ known)[order]
        covariance = rows[:, places] + self.noise * np.eye(len(places))
        factor = cholesky(covariance, lower=True, check_finite=False)
        innovations = solve_triangular(
            factor, values - self.mean[places], lower=True, check_finite=False
        )
        added = solve_triangular(factor, rows, lower=True, check_finite=False)
        self.mean += innovations @ added
        self.variance -= np.square(added).sum(0)
        self._rows = np.concatenate([known, added])
        self._count = len(self._rows)

    def upper(self, beta: float) -> Float:
        """Return the upper confidence bound [C]."""
        return np.asarray(self.mean + beta * np.sqrt(np.maximum(self.variance, 0.0)))

    def forks(self, count: int) -> list["CandidatePosterior"]:
        """Return posteriors that go on from here by themselves; this one must not change then."""
        row = cache(self.covariance_row)
        return [CandidatePosterior(row, self.mean, self.variance, self.noise) for _ in range(count)]


def sparse_posterior(
    features: Float, gram: Float, vector: Float, noise: float
) -> CandidatePosterior:
    """Return the posterior of statistics in features; its variance lacks what these do.

    Args:
        features: z' of all candidates, [C, S].
        gram: Z'Z [S, S] of the data.
        vector: Z'y [S] of the data.
        noise: lambda.
    """
    outer = cholesky(gram + noise * np.eye(len(gram)), lower=True, check_finite=False)
    weights = cho_solve((outer, True), vector)
    # s~^2 = k - z'z + lambda z' (lambda I + Z'Z)^-1 z
    solved = solve_triangular(outer, features.T, lower=True, check_finite=False)
    return CandidatePosterior(
        lambda place: noise * (solved[:, place] @ solved),
        features @ weights,
        noise * np.square(solved).sum(0),
        noise,
    )
