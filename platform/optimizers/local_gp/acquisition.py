"""Chooses a batch from a pool: upper confidence bound, Thompson, expected improvement.

Batches are made one point at a time. For the bound and for improvement each point that was chosen,
and each that is still out, is told its own posterior mean (hallucinated; GP-BUCB, Desautels et al.
2014), so that what is uncertain near it no longer counts. Draws of the process need no such thing.
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
    """Return sqrt(beta_t) of the upper confidence bound: beta_t = beta d log(2 t).

    Source: Kandasamy, Schneider and Poczos (2015), section 6.

    Args:
        beta: factor.
        order: d, dimensions of the largest term of a sum; 1 where the kernel is no sum.
        count: t, evaluations so far; 1 where there is none.
    """
    return float(np.sqrt(beta * order * np.log(2.0 * max(count, 1))))


class FantasyPosterior:
    """Means and variances over a pool of P points, as points of it are told their means."""

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
        """Take in one point's mean."""
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
    """Return q places of a pool [P, D], each of the greatest mean + root_beta deviations.

    Args:
        posterior: the process.
        pool: points; the first `pending` are out already, and not chosen again.
        q: how many.
        pending: see `pool`.
        root_beta: weight of the deviation.
        noise: variance of an evaluation, as a share of the output variance.
    """

    def bound(means: Float, deviations: Float) -> Float:
        return means + root_beta * deviations

    return _one_by_one(posterior, pool, q, pending=pending, noise=noise, worth=bound)


def greatest_improvements(
    posterior: Posterior, pool: Float, q: int, *, pending: int, noise: float
) -> list[int]:
    """Return q places of a pool [P, D], each of the greatest expected improvement, by logarithm.

    Improvement is over the greatest posterior mean at an observed point, for returns are noisy.
    Arguments as for `greatest_bounds`.

    Source: Ament et al. (2023), "Unexpected improvements to expected improvement".
    """
    best = float(posterior.mean(posterior.points).max())

    def gain(means: Float, deviations: Float) -> Float:
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
    """Return q places of a pool, each worth most by means and deviations [P] as then told."""
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
    """Return q places of a pool [P, D], each the greatest of a draw of the process over it."""
    cross = posterior.kernel.matrix(pool, posterior.points)
    half = dense.solve_lower(posterior.fit.factor, cross.T)
    covariance = dense.to_host(posterior.kernel.matrix(pool, pool) - half.T @ half)
    # Differences of nearly equal matrices: eigenvalues a little below 0 are rounding.
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
    """Return log(phi(z) + z Phi(z)), exact far below 0 too, where it is about -z^2 / 2."""
    low = np.minimum(z, -1.0)
    # Phi(z) / phi(z) by the scaled complementary error function, which does not underflow.
    ratio = np.sqrt(np.pi / 2.0) * erfcx(-low / np.sqrt(2.0))
    rest = np.where(low > -1e4, 1.0 + low * ratio, 1.0 / np.square(low))
    tail = -0.5 * np.square(low) - 0.5 * np.log(2.0 * np.pi) + np.log(np.maximum(rest, 1e-300))
    high = np.maximum(z, -1.0)
    density = np.exp(-0.5 * np.square(high)) / np.sqrt(2.0 * np.pi)
    return np.asarray(np.where(z < -1.0, tail, np.log(density + high * np.exp(log_ndtr(high)))))
