"""The zoomed maximum over a forest, and what TreeBO and RDUCB share as searches."""

import numpy as np
import pytest

from rolecast.baselines.hdbo.forest.cliques import Edge
from rolecast.baselines.hdbo.forest.process import TermPosterior, covariance_of
from rolecast.baselines.hdbo.forest.search import ForestMethod, zoomed
from rolecast.baselines.hdbo.rducb import RducbConfig
from rolecast.baselines.hdbo.treebo import TreeboConfig
from rolecast.core.types import Float


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


@pytest.mark.parametrize("edges", [(), ((0, 2), (2, 3))])
def test_edges_survive_being_saved(edges: tuple[Edge, ...]) -> None:
    original, restored = (ForestMethod(RducbConfig(), 4) for _ in range(2))
    original.edges = edges
    restored.load_state_dict(original.state_dict())
    assert restored.edges == edges


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
