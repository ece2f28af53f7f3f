"""Batches from a pool: each rule against its definition, point by point."""

from collections.abc import Callable

import mpmath
import numpy as np
import pytest
from scipy.stats import norm

from rolecast.core.types import Float
from rolecast.platform.optimizers.local_gp.acquisition import (
    greatest_bounds,
    greatest_draws,
    greatest_improvements,
    log_improvement,
    root_beta,
)
from rolecast.platform.surrogate.gp import Posterior, fit
from rolecast.platform.surrogate.kernels import Matern

NOISE = 0.05
KERNEL = Matern(0.6)


def conditioned(points: Float, targets: Float) -> Posterior:
    found = fit(KERNEL.matrix(points, points), targets, np.full(len(points), NOISE))
    return Posterior(KERNEL, points, found)


def some_points() -> tuple[Posterior, Float]:
    """Return a process of 12 points of a wave, and a pool of 40."""
    rng = np.random.default_rng(0)
    points, pool = rng.random((12, 3)), rng.random((40, 3))
    values = np.sin(5.0 * points[:, 0]) + np.cos(4.0 * points[:, 1])
    return conditioned(points, values - values.mean()), pool


def told_their_means(
    posterior: Posterior, pool: Float, q: int, value: Callable[[Float, Float], Float]
) -> list[int]:
    """Choose q places one by one, the process fitted anew with each told its own mean.

    That moves deviations alone; the output scale stays that of the observations.
    """
    means = posterior.mean(pool)
    chosen: list[int] = []
    for _ in range(q):
        seen = np.concatenate([posterior.points, pool[chosen]])
        factor = np.linalg.cholesky(KERNEL.matrix(seen, seen) + NOISE * np.eye(len(seen)))
        half = np.linalg.solve(factor, KERNEL.matrix(seen, pool))
        deviations = np.sqrt(posterior.fit.scale * (1.0 - np.square(half).sum(0)))
        worth = value(means, deviations)
        worth[chosen] = -np.inf
        chosen.append(int(np.argmax(worth)))
    return chosen


def test_each_of_a_batch_has_the_greatest_bound_given_those_before_it() -> None:
    posterior, pool = some_points()
    found = greatest_bounds(posterior, pool, 8, pending=0, root_beta=1.5, noise=NOISE)
    assert found == told_their_means(posterior, pool, 8, lambda mean, width: mean + 1.5 * width)


def test_each_of_a_batch_has_the_greatest_improvement_given_those_before_it() -> None:
    """By the closed form, in numbers where it does not underflow."""
    posterior, pool = some_points()
    best = posterior.mean(posterior.points).max()

    def improvement(mean: Float, width: Float) -> Float:
        z = (mean - best) / width
        return np.asarray(width * (norm.pdf(z) + z * norm.cdf(z)))

    found = greatest_improvements(posterior, pool, 6, pending=0, noise=NOISE)
    assert found == told_their_means(posterior, pool, 6, improvement)


@pytest.mark.parametrize("rule", ["bound", "improvement"])
def test_pending_points_push_the_next_ones_away(rule: str) -> None:
    """What is chosen after four that are out is what comes after four that were chosen."""
    posterior, pool = some_points()

    def choose(points: Float, q: int, pending: int) -> list[int]:
        if rule == "improvement":
            return greatest_improvements(posterior, points, q, pending=pending, noise=NOISE)
        return greatest_bounds(posterior, points, q, pending=pending, root_beta=2.0, noise=NOISE)

    picks = choose(pool, 10, 0)
    order = [*picks[:4], *(place for place in range(len(pool)) if place not in picks[:4])]
    later = choose(pool[order], 6, 4)
    assert [order[pick] for pick in later] == picks[4:]


def test_a_draw_chooses_a_point_as_often_as_it_is_the_better_one() -> None:
    """Two points: the first is ahead with probability Phi of mean over deviation of the difference.

    False alarm: 1e-6, by the normal bound on 4,000 draws; an error of 0.04 is always seen.
    """
    posterior, pool = some_points()
    two = pool[:2]
    cross = np.linalg.solve(np.tril(posterior.fit.factor), KERNEL.matrix(posterior.points, two))
    covariance = posterior.fit.scale * (KERNEL.matrix(two, two) - cross.T @ cross)
    means, sign = posterior.mean(two), np.array([1.0, -1.0])
    expected = norm.cdf((sign @ means) / np.sqrt(sign @ covariance @ sign))
    rng = np.random.default_rng(0)
    first = [greatest_draws(posterior, two, 1, rng=rng) == [0] for _ in range(4000)]
    assert abs(np.mean(first) - expected) < 4.9 * np.sqrt(expected * (1.0 - expected) / 4000)


def test_draws_of_one_batch_share_no_point() -> None:
    posterior, pool = some_points()
    found = greatest_draws(posterior, pool, len(pool), rng=np.random.default_rng(0))
    assert sorted(found) == list(range(len(pool)))


@pytest.mark.parametrize("z", [-1e6, -3e4, -9e3, -40.0, -5.0, -1.0, -0.999, 0.0, 3.0, 30.0])
def test_the_logarithm_of_improvement_is_exact_far_below_zero(z: float) -> None:
    """Against 60 digits more than the cancellation eats."""
    with mpmath.workdps(80):
        exact = mpmath.mpf(z)
        density = mpmath.exp(-(exact**2) / 2) / mpmath.sqrt(2 * mpmath.pi)
        tail = mpmath.erfc(-exact / mpmath.sqrt(2)) / 2
        expected = float(mpmath.log(density + exact * tail))
    assert log_improvement(np.array([z]))[0] == pytest.approx(expected, rel=1e-7)


def test_beta_grows_as_the_logarithm_of_time_and_with_the_largest_term() -> None:
    assert root_beta(0.3, 1, 20) == pytest.approx(np.sqrt(0.3 * np.log(40.0)))
    assert root_beta(0.3, 3, 20) == pytest.approx(np.sqrt(0.9 * np.log(40.0)))
    assert root_beta(0.3, 3, 0) == pytest.approx(np.sqrt(0.9 * np.log(2.0)))
