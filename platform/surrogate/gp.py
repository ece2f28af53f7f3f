"""Gaussian-process regression with a known shape of noise: posterior, gradient and evidence.

Equation 1 of the DSS-GP-UCB paper, with noise variance r w_i for observation i and an output scale
that is integrated out by maximum likelihood.
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve, solve_triangular

from rolecast.envs.spec import Float
from rolecast.platform.surrogate.kernels import Kernel


@dataclass(frozen=True)
class Fit:
    """A Cholesky factor of K + r diag(w), what it says of the targets, and their evidence."""

    factor: Float
    """[N, N], lower triangle."""

    weights: Float
    """[N], (K + r diag(w))^-1 z."""

    scale: float
    """Output variance of greatest likelihood."""

    log_evidence: float
    """Log marginal likelihood at that scale, up to a constant."""


def fit(covariance: Float, targets: Float, noise: Float) -> Fit:
    """Condition on targets.

    Args:
        covariance: [N, N], k between the observed points, k(x, x) = 1.
        targets: [N], levelled returns of mean 0.
        noise: [N], noise variance of each as a share of the output variance, above 0.
    """
    # Transposed: LAPACK reads columns first, and makes no copy of its own.
    noisy = covariance.T.copy(order="K")
    noisy[np.diag_indices_from(noisy)] += noise
    factor, _ = cho_factor(noisy, lower=True, check_finite=False, overwrite_a=True)
    return _conditioned(factor, targets)


def extend(known: Fit, cross: Float, own: Float, targets: Float, noise: Float) -> Fit:
    """Condition on K more points, of the same kernel: the same as `fit` of all, in O(N^2 K).

    Args:
        known: fit of the N points before.
        cross: [N, K], k between old and new points.
        own: [K, K], k between the new ones.
        targets: [N + K], of all points; those of the old ones may have changed.
        noise: [K], of the new points; that of the old ones stays.
    """
    count = len(cross)
    factor = np.zeros((len(targets), len(targets)), order="F")
    factor[:count, :count] = known.factor
    rows = solve_triangular(known.factor, cross, lower=True, check_finite=False).T
    factor[count:, :count] = rows
    rest = own - rows @ rows.T
    rest[np.diag_indices_from(rest)] += noise
    factor[count:, count:], _ = cho_factor(rest, lower=True, check_finite=False, overwrite_a=True)
    return _conditioned(factor, targets)


def _conditioned(factor: Float, targets: Float) -> Fit:
    """Return the fit of a factor [N, N]."""
    weights = cho_solve((factor, True), targets, check_finite=False)
    count = len(targets)
    scale = max(float(targets @ weights) / count, 1e-12)
    log_evidence = -0.5 * count * np.log(scale) - np.log(np.diag(factor)).sum()
    return Fit(factor, weights, scale, float(log_evidence))


@dataclass(frozen=True)
class Posterior:
    """The process given observations at `points` [N, D]."""

    kernel: Kernel
    points: Float
    fit: Fit

    def mean(self, queries: Float) -> Float:
        """Return posterior means [Q] at queries [Q, D]."""
        return self.kernel.matrix(queries, self.points) @ self.fit.weights

    def mean_and_deviation(self, queries: Float) -> tuple[Float, Float]:
        """Return posterior means and standard deviations [Q], without observation noise."""
        cross = self.kernel.matrix(queries, self.points)
        half = solve_triangular(self.fit.factor, cross.T, lower=True, check_finite=False)
        variance = self.fit.scale * np.maximum(1.0 - np.square(half).sum(0), 1e-12)
        return cross @ self.fit.weights, np.sqrt(variance)

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
