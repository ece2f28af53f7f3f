"""Gaussian-process regression with a known shape of noise: posterior, gradient and evidence.

Equation 1 of the DSS-GP-UCB paper, with noise variance r w_i of observation i. Observations with a
common error have a noise matrix r W instead. The output variance is its maximum-likelihood
estimate, at or above a bound. Matrices are on the device of the kernel.
"""

from dataclasses import dataclass

import numpy as np

from rolecast.core.types import Float
from rolecast.platform.surrogate import dense
from rolecast.platform.surrogate.dense import Matrix
from rolecast.platform.surrogate.kernels import Kernel


@dataclass(frozen=True)
class Fit:
    """Fit of the targets z: Cholesky factor of K + r diag(w), weights and evidence."""

    factor: Matrix
    """Lower factor L [N, N] of K + r diag(w), on the device of the covariance."""

    weights: Float
    """Weights [N]: (K + r diag(w))^-1 z."""

    scale: float
    """Output variance of maximum likelihood: z^T (K + r diag(w))^-1 z / N, or its lower bound."""

    log_evidence: float
    """Log marginal likelihood at that scale, up to a constant."""


def fit(covariance: Matrix, targets: Float, noise: Float, least_scale: float = 0.0) -> Fit:
    """Return the fit of targets.

    Args:
        covariance: [N, N], k between the observed points, k(x, x) = 1.
        targets: [N], transformed returns of mean 0.
        noise: noise variances r w_i [N] as shares of the output variance, above 0; or their
            covariance matrix r W [N, N], positive definite.
        least_scale: lower bound of the output variance, for noise whose variance is known.
    """
    return _conditioned(dense.factor(covariance, noise), targets, least_scale)


def extend(
    known: Fit,
    cross: Matrix,
    own: Matrix,
    targets: Float,
    noise: Float,
    least_scale: float = 0.0,
) -> Fit:
    """Return the fit with K more points of the same kernel, equal to `fit` of all, in O(N^2 K).

    Args:
        known: fit of the first N points.
        cross: [N, K], k between old and new points.
        own: [K, K], k between the new points.
        targets: [N + K], of all points; old targets may have changed.
        noise: [K] or [K, K], of the new points; the noise of the old points stays. Old and new
            points have no common error.
        least_scale: lower bound of the output variance.
    """
    # The new factor is [[L, 0], [R, S]], R = (L^-1 C)^T and S S^T = K' + diag(noise) - R R^T.
    rows = dense.solve_lower(known.factor, cross).T
    corner = dense.factor(own - rows @ rows.T, noise)
    return _conditioned(dense.bordered(known.factor, rows, corner), targets, least_scale)


def _conditioned(factor: Matrix, targets: Float, least_scale: float) -> Fit:
    """Return the fit of targets z [N] by a factor L [N, N]."""
    weights = dense.solve(factor, targets)
    count = len(targets)
    likeliest = max(float(targets @ weights) / count, 1e-12)
    scale = max(likeliest, least_scale)
    # Equation 2.30 of Rasmussen and Williams (2006), less its value N / 2 at scale = likeliest:
    # log p(z) = -N / 2 (log(scale) + likeliest / scale - 1) - sum_i log L_ii + const.
    # It falls on either side of likeliest, so the bound is the best of the scales above it.
    misfit = np.log(scale) + (likeliest / scale - 1.0)
    log_evidence = -0.5 * count * misfit - dense.log_root_determinant(factor)
    return Fit(factor, weights, scale, float(log_evidence))


@dataclass(frozen=True)
class Posterior:
    """Posterior of the process, given observations at `points` [N, D]."""

    kernel: Kernel
    points: Float
    fit: Fit

    def mean(self, queries: Float) -> Float:
        """Return posterior means [Q] at queries [Q, D]: k(x, X) times the weights."""
        return dense.product(self.kernel.matrix(queries, self.points), self.fit.weights)

    def mean_and_deviation(self, queries: Float) -> tuple[Float, Float]:
        """Return posterior means and standard deviations [Q], without observation noise."""
        # s^2(x) = scale (1 - |L^-1 k(X, x)|^2), equation 1 of the paper.
        cross = self.kernel.matrix(queries, self.points)
        half = dense.solve_lower(self.fit.factor, cross.T)
        variance = self.fit.scale * np.maximum(1.0 - dense.column_squares(half), 1e-12)
        return dense.product(cross, self.fit.weights), np.sqrt(variance)

    def mean_gradient(self, point: Float) -> Float:
        """Return the gradient [D] of the posterior mean at a point [D]."""
        return self.kernel.gradient(point, self.points, self.fit.weights)

    def extended(
        self, points: Float, targets: Float, noise: Float, least_scale: float = 0.0
    ) -> "Posterior":
        """Return the posterior given K further points; see `extend`.

        Args:
            points: [N + K, D], the N points of this process first.
            targets: [N + K], of all points.
            noise: [N + K] or [N + K, N + K]; only the last K are read.
            least_scale: lower bound of the output variance.
        """
        known = len(self.points)
        fresh = points[known:]
        found = extend(
            self.fit,
            self.kernel.matrix(points[:known], fresh),
            self.kernel.matrix(fresh, fresh),
            targets,
            noise[known:] if noise.ndim == 1 else noise[known:, known:],
            least_scale,
        )
        return Posterior(self.kernel, points, found)
