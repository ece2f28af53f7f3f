"""Posterior of the server: exact variance of all points of an epoch, and the sparse mean.

Equations 4, 5, 7 and 8 of the paper. Equation 6 is for a warning alone: the algorithm trims with
the exact deviation and the sparse mean.
"""

from typing import Final

import numpy as np
from scipy.linalg import cho_solve, cholesky, solve_triangular

from rolecast.core.types import Float
from rolecast.platform.optimizers.duets.kernel import StationaryKernel
from rolecast.platform.surrogate.memory import require_memory

DENSE_POINTS: Final = 1500
"""Most points whose covariance is factored as it is; above, a factor of low rank is tried."""

LARGEST_RANK: Final = 1024
"""Largest rank of that factor; a covariance of greater rank is factored as it is."""

RESIDUAL_VARIANCE: Final = 1e-11
"""Largest prior variance that the factor of low rank leaves out, of k(x, x) = 1."""

POOL_POINTS: Final = 4096
"""Points among which its pivots are sought first."""

RELATIVE_JITTER: Final = 1e-10
"""Added to the diagonal of the inducing points' covariance, relative to k(x, x) = 1."""

BLOCK_ENTRIES: Final = 1 << 22
"""Largest entries of a block of a matrix that is not kept."""


def largest_variance(
    kernel: StationaryKernel, noise: float, points: Float, candidates: Float
) -> float:
    """Return the greatest posterior variance over candidates, equation 4.

    Args:
        kernel: prior covariance.
        noise: lambda, variance of the noise.
        points: all points [n, d] of the epoch.
        candidates: [C, d].
    Raises:
        ConfigError: the covariance neither has low rank nor fits in memory.
    """
    if len(points) > DENSE_POINTS:
        pivots = _pivots(kernel, points, candidates)
        if pivots is not None:
            return _low_rank_variance(kernel, noise, points, candidates, pivots)
    require_memory(len(points), points.shape[1], queries=len(candidates))
    covariance = kernel.matrix(points, points)
    covariance[np.diag_indices_from(covariance)] += noise
    factor = cholesky(covariance, lower=True, overwrite_a=True, check_finite=False)
    found = 0.0
    for part in _blocks(candidates, len(points)):
        solved = solve_triangular(
            factor, kernel.matrix(points, part), lower=True, check_finite=False
        )
        found = max(found, float((1.0 - np.square(solved).sum(0)).max()))
    return max(found, 0.0)


def _low_rank_variance(
    kernel: StationaryKernel, noise: float, points: Float, candidates: Float, pivots: Float
) -> float:
    """Return the same by K = F F', F = k(., pivots) L^-T: rank instead of number of points.

    s^2(x) = k(x, x) - f'f + lambda f' (lambda I + F'F)^-1 f, f the row of F at x.
    """
    factor = _factor(kernel, pivots, jitter=1e-14)
    gram = np.zeros((len(pivots), len(pivots)))
    for part in _blocks(points, len(pivots)):
        features = inducing_features(kernel, factor, pivots, part)
        gram += features.T @ features
    gram[np.diag_indices_from(gram)] += noise
    outer = cholesky(gram, lower=True, check_finite=False)
    found = 0.0
    for part in _blocks(candidates, len(pivots)):
        features = inducing_features(kernel, factor, pivots, part).T
        solved = solve_triangular(outer, features, lower=True, check_finite=False)
        left = np.maximum(1.0 - np.square(features).sum(0), 0.0)
        found = max(found, float((left + noise * np.square(solved).sum(0)).max()))
    return found


def _pivots(kernel: StationaryKernel, points: Float, candidates: Float) -> Float | None:
    """Return pivots [r, d] that leave less than `RESIDUAL_VARIANCE` anywhere; None: too many."""
    pool = np.concatenate([points[:POOL_POINTS], candidates[::4]])
    while True:
        pivots = _greedy_pivots(kernel, pool)
        if pivots is None:
            return None
        factor = _factor(kernel, pivots, jitter=1e-14)
        missed = []
        for each in (points, candidates):
            for part in _blocks(each, len(pivots)):
                features = inducing_features(kernel, factor, pivots, part)
                left = 1.0 - np.square(features).sum(1)
                missed.append(part[left > RESIDUAL_VARIANCE][:POOL_POINTS])
        worst = np.concatenate(missed)
        if not len(worst):
            return pivots
        pool = np.concatenate([pivots, worst])


def _greedy_pivots(kernel: StationaryKernel, pool: Float) -> Float | None:
    """Return the pivots of a Cholesky factorisation with pivoting of the pool's covariance."""
    left = np.ones(len(pool))
    rows = np.empty((min(LARGEST_RANK, len(pool)), len(pool)))
    chosen: list[int] = []
    for rank in range(len(rows)):
        place = int(np.argmax(left))
        if left[place] <= RESIDUAL_VARIANCE / 4:
            return pool[chosen]
        row = kernel.matrix(pool[place : place + 1], pool)[0]
        row -= rows[:rank, place] @ rows[:rank]
        rows[rank] = row / np.sqrt(left[place])
        left -= np.square(rows[rank])
        left[place] = 0.0
        chosen.append(place)
    return None if len(pool) > len(rows) else pool[chosen]


def inducing_factor(kernel: StationaryKernel, inducing: Float) -> Float:
    """Return the lower factor L [S, S] of K_SS, the root by which all parties compute z(x).

    Raises:
        ConfigError: it does not fit in memory.
    """
    if len(inducing) > DENSE_POINTS:
        require_memory(len(inducing), inducing.shape[1])
    return _factor(kernel, inducing, jitter=RELATIVE_JITTER)


def _factor(kernel: StationaryKernel, inducing: Float, *, jitter: float) -> Float:
    covariance = kernel.matrix(inducing, inducing)
    covariance[np.diag_indices_from(covariance)] += jitter
    return np.asarray(cholesky(covariance, lower=True, check_finite=False))


def inducing_features(
    kernel: StationaryKernel, factor: Float, inducing: Float, points: Float
) -> Float:
    """Return the rows z(x)' [P, S] of points [P, d]: z(x) = L^-1 k_S(x)."""
    solved = solve_triangular(
        factor, kernel.matrix(inducing, points), lower=True, check_finite=False
    )
    return np.asarray(solved.T)


def agent_projection(
    kernel: StationaryKernel, factor: Float, inducing: Float, points: Float, values: Float
) -> Float:
    """Return v = Z'y [S] of one agent's points [T_j, d] and values [T_j], equation 7."""
    weighted = kernel.matrix(inducing, points) @ values
    return np.asarray(solve_triangular(factor, weighted, lower=True, check_finite=False))


def gram_factor(
    kernel: StationaryKernel, factor: Float, inducing: Float, points: Float, noise: float
) -> Float:
    """Return the lower factor [S, S] of lambda I + Z'Z, Z of all agents' points [n, d]."""
    gram = noise * np.eye(len(inducing))
    for part in _blocks(points, len(inducing)):
        features = inducing_features(kernel, factor, inducing, part)
        gram += features.T @ features
    return np.asarray(cholesky(gram, lower=True, check_finite=False))


def aggregate_projections(outer: Float, total: Float) -> Float:
    """Return (lambda I + Z'Z)^-1 sum_n v^(n) [S] of the `gram_factor`, equation 8."""
    return np.asarray(cho_solve((outer, True), total))


def sparse_variance(
    kernel: StationaryKernel,
    factor: Float,
    outer: Float,
    inducing: Float,
    noise: float,
    points: Float,
) -> Float:
    """Return s~^2 = k(x, x) - z'z + lambda z'(lambda I + Z'Z)^-1 z of points [P, d], [P].

    Differs: equation 6 has a factor lambda on its left, with which it contradicts equation 4.
    """
    features = inducing_features(kernel, factor, inducing, points).T
    solved = solve_triangular(outer, features, lower=True, check_finite=False)
    left = np.maximum(1.0 - np.square(features).sum(0), 0.0)
    return np.asarray(left + noise * np.square(solved).sum(0))


def mean_weights(factor: Float, coefficients: Float) -> Float:
    """Return a [S] with sparse mean k_S(x)'a = z(x)'v, of the aggregate v [S], equation 5."""
    return np.asarray(
        solve_triangular(factor, coefficients, lower=True, trans="T", check_finite=False)
    )


def sparse_mean(kernel: StationaryKernel, inducing: Float, weights: Float, points: Float) -> Float:
    """Return the sparse mean [P] at points [P, d], each with the same bits in any company."""
    parts = [
        (kernel.matrix(part, inducing) * weights).sum(1) for part in _blocks(points, len(inducing))
    ]
    return np.concatenate(parts) if parts else np.empty(0)


def _blocks(points: Float, width: int) -> list[Float]:
    """Return points in blocks whose matrix against `width` others stays small."""
    size = max(1, BLOCK_ENTRIES // max(width, 1))
    return [points[start : start + size] for start in range(0, len(points), size)]
