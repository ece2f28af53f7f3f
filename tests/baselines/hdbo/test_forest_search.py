"""The additive process over a forest against the textbook's formulas, and its zoomed maximum."""

from typing import Any

import numpy as np
import pytest
import torch

from rolecast.baselines.hdbo.forest import Edge
from rolecast.baselines.hdbo.forest_search import (
    ForestKernel,
    TermPosterior,
    covariance_of,
    edges_from,
    edges_state,
    term_posterior,
    zoomed,
)
from rolecast.baselines.hdbo.rducb import RducbConfig
from rolecast.baselines.hdbo.surrogate import default_noise, process
from rolecast.baselines.hdbo.treebo import TreeboConfig
from rolecast.envs.errors import ConfigError
from rolecast.envs.spec import Float

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


def test_zooming_comes_near_the_greatest_bound_of_the_cube() -> None:
    """Of one edge and one dimension, against a grid of 200 places each; the best of 20 zooms."""
    rng = np.random.default_rng(5)
    points, targets = rng.random((15, 3)), rng.normal(size=15)
    edges, ones = ((0, 2),), np.ones(3)
    covariance = covariance_of(points, edges, 0.3 * ones, 0.5 * ones) + 0.01 * np.eye(15)
    inverse = np.asarray(np.linalg.inv(covariance), dtype=np.float64)
    posterior = TermPosterior(
        edges, points, 0.3 * ones, 0.5 * ones, inverse @ targets, inverse, 0.01
    )

    def value(grid: Float) -> float:
        single, pairs = posterior.bounds(grid, 1.0)
        return float(pairs[0].max() + single[1].max())

    config = RducbConfig()
    found = max(
        value(zoomed(posterior, 1.0, config, np.random.default_rng(seed))[:, None])
        for seed in range(20)
    )
    line = (np.arange(200) + 0.5) / 200
    greatest = value(np.tile(line, (3, 1)))
    middle = value(np.full((3, 1), 0.5))
    assert (greatest - found) < 0.02 * (greatest - middle)
    assert found <= greatest + 0.01 * (greatest - middle)


def test_edges_survive_being_saved() -> None:
    for edges in ((), EDGES):
        assert edges_from(edges_state(edges)) == edges


@pytest.mark.parametrize(
    ("config", "settings", "message"),
    [
        (RducbConfig, {"edges": 0.0}, r"RducbConfig.edges is 0.0; expected in \(0, 1\]"),
        (RducbConfig, {"zooms": 0}, "RducbConfig.zooms is 0; expected an integer >= 1"),
        (TreeboConfig, {"resolution": 1}, "TreeboConfig.resolution is 1; expected an integer >= 2"),
        (TreeboConfig, {"exploration": 0.0}, "TreeboConfig.exploration is 0.0; expected above 0"),
        (TreeboConfig, {"lengthscale": -1.0}, "TreeboConfig.lengthscale is -1.0; expected above 0"),
        (TreeboConfig, {"learn_every": 0}, "TreeboConfig.learn_every is 0; expected an integer"),
        (TreeboConfig, {"gibbs_steps": 0}, "TreeboConfig.gibbs_steps is 0; expected an integer"),
    ],
)
def test_a_wrong_setting_is_one_sentence(
    config: type[RducbConfig], settings: dict[str, Any], message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        config(**settings)


@pytest.mark.parametrize("config", [RducbConfig, TreeboConfig])
def test_one_dimension_is_enough(config: type[RducbConfig]) -> None:
    optimizer = config(initial=4, fit_steps=3).build(dimension=1, seed=0)
    for _ in range(5):
        asked = optimizer.ask(4)
        optimizer.tell(asked, -np.abs(asked[:, 0] - 0.7))
    assert abs(optimizer.best()[0] - 0.7) < 0.2


def test_the_incumbent_after_an_ask_is_that_of_the_restored_search() -> None:
    """An ask draws a new forest, which must not be known to one of the two alone."""
    original, restored = (
        RducbConfig(initial=4, fit_steps=3).build(dimension=5, seed=seed) for seed in (0, 1)
    )
    for _ in range(3):
        asked = original.ask(4)
        original.tell(asked, np.sin(7.0 * asked).sum(1))
    original.ask(4)
    restored.load_state_dict(original.state_dict())
    np.testing.assert_array_equal(original.best(), restored.best())
