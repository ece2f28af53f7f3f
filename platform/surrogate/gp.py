"""Gaussian-process regression with a known shape of noise: posterior, gradient and evidence.

Equation 1 of the DSS-GP-UCB paper, with noise variance r w_i for observation i and an output scale
that is integrated out by maximum likelihood. Matrices are where the kernel makes them.
"""

from dataclasses import dataclass

import numpy as np

from rolecast.core.types import Float
from rolecast.platform.surrogate import dense
from rolecast.platform.surrogate.dense import Matrix
from rolecast.platform.surrogate.kernels import Kernel


@dataclass(frozen=True)
class Fit:
    """A Cholesky factor of K + r diag(w), what it says of the targets, and their evidence."""

    factor: Matrix
    """[N, N], lower triangle, where the covariance was."""

    weights: Float
    """[N], (K + r diag(w))^-1 z."""

    scale: float
    """Output variance of greatest likelihood."""

    log_evidence: float
    """Log marginal likelihood at that scale, up to a constant."""


def fit(covariance: Matrix, targets: Float, noise: Float) -> Fit:
    """Condition on targets.

    Args:
        covariance: [N, N], k between the observed points, k(x, x) = 1.
        targets: [N], transformed returns of mean 0.
        noise: [N], noise variance of each as a share of the output variance, above 0.
    """
    return _conditioned(dense.factor(covariance, noise), targets)


def extend(known: Fit, cross: Matrix, own: Matrix, targets: Float, noise: Float) -> Fit:
    """Condition on K more points, of the same kernel: the same as `fit` of all, in O(N^2 K).

    Args:
        known: fit of the N points before.
        cross: [N, K], k between old and new points.
        own: [K, K], k between the new ones.
        targets: [N + K], of all points; those of the old ones may have changed.
        noise: [K], of the new points; that of the old ones stays.
    """
    rows = dense.solve_lower(known.factor, cross).T
    corner = dense.factor(own - rows @ rows.T, noise)
    return _conditioned(dense.bordered(known.factor, rows, corner), targets)


def _conditioned(factor: Matrix, targets: Float) -> Fit:
    """Return the fit of a factor [N, N]."""
    weights = dense.solve(factor, targets)
    count = len(targets)
    scale = max(float(targets @ weights) / count, 1e-12)
    log_evidence = -0.5 * count * np.log(scale) - dense.log_root_determinant(factor)
    return Fit(factor, weights, scale, float(log_evidence))


@dataclass(frozen=True)
class Posterior:
    """The process given observations at `points` [N, D]."""

    kernel: Kernel
    points: Float
    fit: Fit

    def mean(self, queries: Float) -> Float:
        """Return posterior means [Q] at queries [Q, D]."""
        return dense.product(self.kernel.matrix(queries, self.points), self.fit.weights)

    def mean_and_deviation(self, queries: Float) -> tuple[Float, Float]:
        """Return posterior means and standard deviations [Q], without observation noise."""
        cross = self.kernel.matrix(queries, self.points)
        half = dense.solve_lower(self.fit.factor, cross.T)
        variance = self.fit.scale * np.maximum(1.0 - dense.column_squares(half), 1e-12)
        return dense.product(cross, self.fit.weights), np.sqrt(variance)

    def mean_gradient(self, point: Float) -> Float:
        """Return the gradient [D] of the posterior mean at a point [D]."""
        return self.kernel.gradient(point, self.points, self.fit.weights)

    def extended(self, points: Float, targets: Float, noise: Float) -> "Posterior":
        """Return the process given further points too; see `extend`.

        Args:
            points: [N + K, D], those of this process first.
            targets: [N + K], of all points.
            noise: [N + K], of which that of the new ones is read.
        """
        known = len(self.points)
        fresh = points[known:]
        found = extend(
            self.fit,
            self.kernel.matrix(points[:known], fresh),
            self.kernel.matrix(fresh, fresh),
            targets,
            noise[known:],
        )
        return Posterior(self.kernel, points, found)
