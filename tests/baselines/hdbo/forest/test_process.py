"""The additive process over a forest against the textbook's formulas."""

from typing import Any

import numpy as np
import pytest
import torch

from rolecast.baselines.hdbo.forest.cliques import Edge
from rolecast.baselines.hdbo.forest.process import ForestKernel, covariance_of, term_posterior
from rolecast.baselines.hdbo.surrogate import default_noise, process
from rolecast.core.types import Float

EDGES: tuple[Edge, ...] = ((0, 2), (2, 3))
LENGTHS = np.array([0.3, 0.5, 0.2, 0.4])
VARIANCES = np.array([0.6, 0.3, 0.8, 0.1])


def term(clique: tuple[int, ...], a: Float, b: Float) -> Float:
    """Covariances [N, M] of one term, entry by entry."""
    scale = np.sqrt(sum(VARIANCES[one] ** 2 for one in clique))
    return np.array(
        [
            [
                scale * np.exp(-0.5 * sum(((x[d] - y[d]) / LENGTHS[d]) ** 2 for d in clique))
                for y in b
            ]
            for x in a
        ]
    )


def whole(a: Float, b: Float) -> Float:
    """The sum over the two edges and the dimension that is in none."""
    return np.asarray(sum(term(clique, a, b) for clique in (*EDGES, (1,))))


@pytest.fixture
def model() -> Any:
    """A process of 12 points with the parameters above."""
    rng = np.random.default_rng(0)
    kernel = ForestKernel(EDGES, 4, 0.1)
    kernel.initialize(lengthscale=torch.tensor(LENGTHS))
    raw = kernel.raw_variance_constraint.inverse_transform(torch.tensor(VARIANCES))
    kernel.initialize(raw_variance=raw)
    noise = np.linspace(0.01, 0.1, 12)
    return process(rng.random((12, 4)), rng.normal(size=12), noise, kernel, default_noise()).eval()


def test_the_kernel_is_the_sum_of_its_terms(model: Any) -> None:
    rng = np.random.default_rng(1)
    a, b = rng.random((5, 4)), rng.random((3, 4))
    kernel = model.covar_module
    with torch.no_grad():
        found = kernel(torch.tensor(a), torch.tensor(b)).to_dense().numpy()
        diagonal = kernel(torch.tensor(a[:3]), torch.tensor(b), diag=True).numpy()
    np.testing.assert_allclose(found, whole(a, b), rtol=1e-10)
    np.testing.assert_allclose(diagonal, np.diag(whole(a[:3], b)), rtol=1e-10)
    np.testing.assert_allclose(covariance_of(a, EDGES, LENGTHS, VARIANCES), whole(a, a), rtol=1e-10)


@pytest.mark.parametrize("pending", [0, 3])
def test_bounds_are_mean_and_deviation_of_each_term(model: Any, pending: int) -> None:
    """Against the posterior of one term of a sum; pending points change deviations alone."""
    (inputs,) = model.train_inputs
    points, targets = inputs.numpy(), model.train_targets.numpy()
    noise = model.likelihood.noise.detach().numpy()
    waiting = np.random.default_rng(3).random((pending, 4))
    grid = np.random.default_rng(2).random((4, 3))
    posterior = term_posterior(model, EDGES, waiting)
    single, pairs = posterior.bounds(grid, 1.7)
    told = np.linalg.solve(
        whole(points, points) + np.diag(noise), targets - float(model.mean_module.constant.detach())
    )
    everything = np.concatenate([points, waiting])
    spread = np.diag(np.append(noise, np.full(pending, np.median(noise))))
    seen = whole(everything, everything) + spread

    def bound(clique: tuple[int, ...], places: dict[int, float]) -> float:
        query = np.zeros((1, 4))
        query[0, list(places)] = list(places.values())
        mean = term(clique, query, points)[0] @ told
        cross = term(clique, query, everything)[0]
        variance = term(clique, query, query)[0, 0] - cross @ np.linalg.solve(seen, cross)
        return float(mean + 1.7 * np.sqrt(variance))

    for place in range(3):
        assert single[1, place] == pytest.approx(bound((1,), {1: grid[1, place]}), rel=1e-6)
        for row, (a, b) in enumerate(EDGES):
            for other in range(3):
                expected = bound((a, b), {a: grid[a, place], b: grid[b, other]})
                assert pairs[row, place, other] == pytest.approx(expected, rel=1e-6)
    np.testing.assert_array_equal(single[[0, 2, 3]], 0.0)


@pytest.mark.parametrize("edges", [(), EDGES])
def test_a_point_that_waits_may_be_told_later(model: Any, edges: tuple[Edge, ...]) -> None:
    waiting = np.random.default_rng(4).random((2, 4))
    at_once = term_posterior(model, edges, waiting)
    one_by_one = term_posterior(model, edges, waiting[:0])
    for point in waiting:
        one_by_one = one_by_one.with_pending(point)
    np.testing.assert_allclose(one_by_one.inverse, at_once.inverse, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(one_by_one.weights, at_once.weights, rtol=1e-8)
    np.testing.assert_array_equal(one_by_one.points, at_once.points)
