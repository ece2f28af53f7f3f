"""Acquisition functions: a batch from a pool by confidence bound, Thompson draws or improvement.

A batch is chosen one point at a time. Each chosen or pending point is conditioned on its posterior
mean as a fantasy (GP-BUCB, Desautels et al. 2014). This reduces the variance near it. Thompson
draws need no fantasies.
"""

from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import erfcx, log_ndtr

from rolecast.core.types import Float
from rolecast.platform.optimizers.local_gp.constants import SEARCH_CONSTANTS
from rolecast.platform.surrogate import dense
from rolecast.platform.surrogate.gp import Posterior

ACQUISITION_NAMES: Final = ("ucb", "thompson", "log_ei")


def root_beta(beta: float, order: int, count: int) -> float:
    """Return sqrt(beta_t) of the upper confidence bound, beta_t = beta d log(2 t).

    Source: Kandasamy, Schneider and Poczos (2015), section 6.

    Args:
        beta: factor.
        order: d, dimensions of the largest term of a sum; 1 for other kernels.
        count: t, evaluations so far; at least 1 is used.
    """
    return float(np.sqrt(beta * order * np.log(2.0 * max(count, 1))))


class FantasyPosterior:
    """Posterior over a pool of P points, conditioned on fantasies at points of the pool."""

    def __init__(self, posterior: Posterior, pool: Float, noise: float) -> None:
        self._posterior, self._pool, self._noise = posterior, pool, noise
        cross = posterior.kernel.matrix(pool, posterior.points)
        self.means = dense.product(cross, posterior.fit.weights)
        self._half = dense.solve_lower(posterior.fit.factor, cross.T)
        self.variances = np.maximum(
            1.0 - dense.column_squares(self._half), SEARCH_CONSTANTS.variance_floor
        )
        self._updates = np.zeros((0, len(pool)))

    @property
    def deviations(self) -> Float:
        """Standard deviations [P] of the posterior, in the unit of its targets."""
        return np.asarray(np.sqrt(self._posterior.fit.scale * self.variances))

    def tell(self, pick: int) -> None:
        """Condition on the posterior mean at one point of the pool; means stay, variances fall."""
        # c = k_t(x_p, X),  v <- v - c^2 / (v_p + r): a Cholesky update of rank one.
        row = self._posterior.kernel.matrix(self._pool[pick : pick + 1], self._pool)[0]
        row = dense.to_host(row - self._half[:, pick] @ self._half)
        row = row - self._updates[:, pick] @ self._updates
        update = row / np.sqrt(self.variances[pick] + self._noise)
        self._updates = np.concatenate([self._updates, update[None]])
        self.variances = np.maximum(
            self.variances - np.square(update), SEARCH_CONSTANTS.variance_floor
        )


def greatest_bounds(
    posterior: Posterior, pool: Float, q: int, *, pending: int, root_beta: float, noise: float
) -> list[int]:
    """Return q indices of a pool [P, D], each of greatest mu + sqrt(beta_t) sigma.

    Args:
        posterior: the process.
        pool: points; the first `pending` are pending, and not chosen again.
        q: number of points.
        pending: see `pool`.
        root_beta: sqrt(beta_t), weight of the standard deviation.
        noise: variance of an evaluation, as a share of the output variance.
    """

    def bound(means: Float, deviations: Float) -> Float:
        return means + root_beta * deviations

    return _one_by_one(posterior, pool, q, pending=pending, noise=noise, worth=bound)


def greatest_improvements(
    posterior: Posterior, pool: Float, q: int, *, pending: int, noise: float
) -> list[int]:
    """Return q indices of a pool [P, D], each of greatest log expected improvement.

    Returns are noisy, so improvement is over the greatest posterior mean at an observed point.
    Arguments as for `greatest_bounds`.

    Source: Ament et al. (2023), "Unexpected improvements to expected improvement".
    """
    best = float(posterior.mean(posterior.points).max())

    def gain(means: Float, deviations: Float) -> Float:
        # log EI = log sigma + log h(z),  z = (mu - best) / sigma,  h(z) = phi(z) + z Phi(z).
        return np.asarray(np.log(deviations) + log_improvement((means - best) / deviations))

    return _one_by_one(posterior, pool, q, pending=pending, noise=noise, worth=gain)


def _one_by_one(
    posterior: Posterior,
    pool: Float,
    q: int,
    *,
    pending: int,
    noise: float,
    worth: Callable[[Float, Float], Float],
) -> list[int]:
    """Return q indices of a pool, each of greatest worth given the points chosen before."""
    told = FantasyPosterior(posterior, pool, noise)
    chosen: list[int] = []
    for place in range(pending + q):
        value = worth(told.means, told.deviations)
        value[chosen] = -np.inf
        chosen.append(place if place < pending else int(np.argmax(value)))
        told.tell(chosen[-1])
    return chosen[pending:]


def greatest_draws(
    posterior: Posterior, pool: Float, q: int, *, rng: np.random.Generator
) -> list[int]:
    """Return q indices of a pool [P, D], each the maximum of one posterior draw over it."""
    cross = posterior.kernel.matrix(pool, posterior.points)
    half = dense.solve_lower(posterior.fit.factor, cross.T)
    covariance = dense.to_host(posterior.kernel.matrix(pool, pool) - half.T @ half)
    # A difference of nearly equal matrices: negative eigenvalues are rounding errors.
    values, vectors = np.linalg.eigh(covariance)
    root = vectors * np.sqrt(posterior.fit.scale * np.maximum(values, 0.0))
    means = dense.product(cross, posterior.fit.weights)
    draws = means + rng.standard_normal((q, len(pool))) @ root.T
    chosen: list[int] = []
    for draw in draws:
        draw[chosen] = -np.inf
        chosen.append(int(np.argmax(draw)))
    return chosen


def log_improvement(z: NDArray[np.float64]) -> Float:
    """Return log h(z), h(z) = phi(z) + z Phi(z), without underflow for z far below 0."""
    low = np.minimum(z, -1.0)
    # For z < -1: log h = log phi(z) + log(1 + z Phi(z) / phi(z)), near log(phi(z) / z^2) at last.
    # Phi(z) / phi(z) by the scaled complementary error function, which does not underflow.
    ratio = np.sqrt(np.pi / 2.0) * erfcx(-low / np.sqrt(2.0))
    rest = np.where(low > -1e4, 1.0 + low * ratio, 1.0 / np.square(low))
    tail = -0.5 * np.square(low) - 0.5 * np.log(2.0 * np.pi) + np.log(np.maximum(rest, 1e-300))
    high = np.maximum(z, -1.0)
    density = np.exp(-0.5 * np.square(high)) / np.sqrt(2.0 * np.pi)
    return np.asarray(np.where(z < -1.0, tail, np.log(density + high * np.exp(log_ndtr(high)))))
