"""Posterior of a sum over cliques: its draws have its mean and variance, and the prior decides."""

import numpy as np
import pytest

from rolecast.core.types import Float
from rolecast.platform.optimizers.dss_gp_ucb.clique_model import (
    CliqueGp,
    CliquePosterior,
)
from rolecast.platform.optimizers.dss_gp_ucb.clique_search import CliqueSearch
from rolecast.platform.optimizers.dss_gp_ucb.constants import GLOBAL_CONSTANTS
from rolecast.platform.optimizers.dss_gp_ucb.term_ascent import KernelTerms, SumOfProducts
from rolecast.platform.optimizers.observations import Observations
from rolecast.platform.surrogate.gp import fit

DRAWS = 4000
QUANTILE = 4.89
"""Two-sided normal quantile of 1e-6."""

TERMS = KernelTerms(
    cliques=((0, 1), (1, 2)),
    lengthscales=np.array([0.2, 0.3]),
    weights=np.array([0.5, 0.5]),
)


def kernel(one: Float, other: Float) -> Float:
    """Return the sum of terms [N, M], without the constant."""
    total = np.zeros((len(one), len(other)))
    for clique, scale, weight in zip(TERMS.cliques, TERMS.lengthscales, TERMS.weights, strict=True):
        shifts = (one[:, None] - other)[:, :, list(clique)] / scale
        total += weight * np.exp(-0.5 * np.square(shifts).sum(2))
    return total


def known_posterior() -> CliquePosterior:
    """Return the posterior of eight evaluations in a corner of the cube."""
    points = 0.4 * np.random.default_rng(0).random((8, 3))
    targets = np.sin(9.0 * points[:, 0]) + points[:, 2]
    targets = (targets - targets.mean()) / targets.std()
    noise = np.full(8, 0.05)
    fitted = fit(kernel(points, points) + GLOBAL_CONSTANTS.constant_variance, targets, noise)
    return CliquePosterior(terms=TERMS, points=points, targets=targets, noise=noise, fit=fitted)


def values(drawn: SumOfProducts, query: Float) -> Float:
    """Return the values [R] of functions at a query [D], as their definition says."""
    total = drawn.coefficients @ kernel(drawn.points, query[None])[:, 0]
    for clique, waves, sizes in zip(
        TERMS.cliques, drawn.frequencies, drawn.amplitudes, strict=True
    ):
        total = total + (sizes @ np.exp(1j * query[list(clique)] @ waves)).real
    return np.asarray(total)


@pytest.mark.parametrize("query", [[0.2, 0.1, 0.3], [0.5, 0.4, 0.2], [1.0, 1.0, 1.0]])
def test_draws_have_the_mean_and_the_variance_of_the_posterior(query: list[float]) -> None:
    """False alarm: 2e-6. A variance wrong by 15 % is missed with probability 0.02 at most."""
    posterior, point = known_posterior(), np.array(query)
    found = values(posterior.draws(np.ones(DRAWS), np.random.default_rng(1)), point)
    cross = kernel(point[None], posterior.points)[0]
    whole = kernel(posterior.points, posterior.points) + GLOBAL_CONSTANTS.constant_variance
    explained = cross @ np.linalg.solve(whole + np.diag(posterior.noise), cross)
    variance = posterior.fit.scale * (1.0 - explained)
    assert posterior.mean(point[None])[0] == pytest.approx(cross @ posterior.fit.weights)
    bias = found.mean() - posterior.mean(point[None])[0]
    assert abs(bias) < QUANTILE * np.sqrt(variance / DRAWS)
    assert abs(found.var() / variance - 1.0) < QUANTILE * np.sqrt(2.0 / DRAWS)


def test_shares_of_none_give_the_mean_and_of_more_a_bolder_draw() -> None:
    posterior, far = known_posterior(), np.ones(3)
    mean, bold = (
        values(posterior.draws(np.full(DRAWS, share), np.random.default_rng(2)), far)
        for share in (0.0, 2.0)
    )
    np.testing.assert_allclose(mean, posterior.mean(far[None])[0], atol=1e-12)
    plain = values(posterior.draws(np.ones(DRAWS), np.random.default_rng(2)), far)
    assert bold.std() == pytest.approx(2.0 * plain.std(), rel=1e-6)


def test_terms_share_the_variance_of_the_sum() -> None:
    posterior = known_posterior()
    assert 2.0 * posterior.term_deviation**2 == pytest.approx(posterior.fit.scale)


def test_a_single_evaluation_leaves_the_lengthscale_to_its_prior() -> None:
    """The place of the grid nearest to the median 0.5, in doublings."""
    optimizer = CliqueSearch(dimension=3, seed=0, cliques=((0, 1), (1, 2)))
    optimizer.tell(np.full((1, 3), 0.5), np.ones(1), np.zeros(1))
    assert optimizer.explain()["lengthscale"] == 0.45


def test_of_too_many_evaluations_half_are_the_best_and_half_the_latest() -> None:
    data = Observations(3)
    points = np.random.default_rng(0).random((9, 3))
    data.add(points, np.array([5.0, 1.0, 7.0, 2.0, 0.0, 6.0, 3.0, 9.0, 4.0]), np.zeros(9))
    process = CliqueGp(dimension=3, cliques=TERMS.cliques, max_points=4, outcome_transform="none")
    process.take_in(data)
    np.testing.assert_array_equal(process.posterior(data).points, points[[2, 5, 7, 8]])
