"""Covariances that the searches use: one term over all dimensions, a sum over cliques, a mixture.

Each has the value between two sets of points, and the gradient in one point of a weighted sum over
others: what posterior mean and its ascent need.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from rolecast.envs.spec import Float
from rolecast.platform.surrogate.clique_sum import (
    CliqueLayout,
    clique_sum,
    clique_sum_gradient,
)
from rolecast.platform.surrogate.matern import matern52, matern52_slope, squared_distances


class Kernel(Protocol):
    """A covariance with k(x, x) = 1."""

    def matrix(self, A: Float, B: Float) -> Float:
        """Return [N, M] between rows of A [N, D] and B [M, D]."""

    def gradient(self, point: Float, others: Float, coefficients: Float) -> Float:
        """Return the gradient [D] of sum_j c_j k(point, others_j); others [M, D], c [M]."""


@dataclass(frozen=True)
class Matern:
    """Matérn-5/2 over all dimensions with one lengthscale."""

    lengthscale: float

    def matrix(self, A: Float, B: Float) -> Float:
        """Return [N, M]."""
        return matern52(squared_distances(A, B) / self.lengthscale**2)

    def gradient(self, point: Float, others: Float, coefficients: Float) -> Float:
        """Return [D]."""
        squared = squared_distances(point[None], others)[0] / self.lengthscale**2
        factors = 2.0 / self.lengthscale**2 * matern52_slope(squared) * coefficients
        return np.asarray(factors.sum() * point - factors @ others)


class CliqueSum:
    """Weighted sum over cliques of Matérn-5/2 over the dimensions of each clique.

    Section 4.4 of the DSS-GP-UCB paper, algorithm 4 step 3; weights of sum 1, so k(x, x) = 1.
    """

    def __init__(
        self,
        cliques: Sequence[Sequence[int]],
        lengthscales: Float,
        weights: Float,
        *,
        single: bool = False,
    ) -> None:
        """Take M cliques (dimensions each), lengthscales [M] and weights [M] of sum 1.

        Computed in `single` precision, entries are good to 2e-6: for noise well above that.
        """
        self._layout = CliqueLayout.of(cliques)
        self._inverse = 1.0 / np.square(lengthscales)
        self._weights = np.asarray(weights, dtype=np.float64)
        self._precision: Any = np.float32 if single else np.float64

    def matrix(self, A: Float, B: Float) -> Float:
        """Return [N, M]."""
        found = clique_sum(
            A.astype(self._precision),
            None if A is B else B.astype(self._precision),
            self._layout,
            self._inverse,
            self._weights,
        )
        return found.astype(np.float64)

    def gradient(self, point: Float, others: Float, coefficients: Float) -> Float:
        """Return [D]."""
        found, _, _ = clique_sum_gradient(
            point[None].astype(self._precision),
            others.astype(self._precision),
            coefficients[None].astype(self._precision),
            self._layout,
            self._inverse,
            self._weights,
        )
        return np.asarray(found[0], dtype=np.float64)


@dataclass(frozen=True)
class Mixture:
    """(1 - share) of one kernel and `share` of another."""

    common: Kernel
    structured: Kernel
    share: float

    def matrix(self, A: Float, B: Float) -> Float:
        """Return [N, M]."""
        common = (1.0 - self.share) * self.common.matrix(A, B)
        return common + self.share * self.structured.matrix(A, B)

    def gradient(self, point: Float, others: Float, coefficients: Float) -> Float:
        """Return [D]."""
        common = self.common.gradient(point, others, coefficients)
        structured = self.structured.gradient(point, others, coefficients)
        return (1.0 - self.share) * common + self.share * structured
