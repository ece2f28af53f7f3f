"""Nystrom features of a dictionary of candidates that only grows."""

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky, solve_triangular

from rolecast.core.types import Float
from rolecast.platform.optimizers.duets.kernel import StationaryKernel
from rolecast.platform.optimizers.duets.posterior import RELATIVE_JITTER


class Dictionary:
    """Features z(x) = L^-1 k_S(x) of all candidates, L the Cholesky factor of K_SS.

    A new point adds a feature and changes none, so that statistics in the features of fewer points
    are, with zeros, statistics in those of more: of the data as the fewer points describe them.
    """

    def __init__(self, kernel: StationaryKernel, points: Float) -> None:
        """Begin without a point.

        Args:
            kernel: prior covariance.
            points: candidates [C, d].
        """
        self._kernel, self._points = kernel, points
        self.places: NDArray[np.int64] = np.empty(0, dtype=np.int64)
        self.features = np.zeros((len(points), 0))
        self.lacking = np.ones(len(points))

    @property
    def size(self) -> int:
        """Number of points, S."""
        return len(self.places)

    def add(self, places: NDArray[np.int64]) -> None:
        """Add candidates that are not among them."""
        if not len(places):
            return
        rest = self._kernel.matrix(self._points[places], self._points)
        rest -= self.features[places] @ self.features.T
        covariance = rest[:, places] + RELATIVE_JITTER * np.eye(len(places))
        factor = cholesky(covariance, lower=True, check_finite=False)
        added = solve_triangular(factor, rest, lower=True, check_finite=False).T
        self.places = np.append(self.places, places)
        self.features = np.concatenate([self.features, added], axis=1)
        self.lacking = np.maximum(self.lacking - np.square(added).sum(1), 0.0)


def log_determinant(gram: Float, noise: float) -> float:
    """Return log det(I + Z'Z / lambda) of a Gram matrix Z'Z [S, S]."""
    return float(np.linalg.slogdet(np.eye(len(gram)) + gram / noise)[1])
