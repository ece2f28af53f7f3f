"""Lines of LineBO end at the cube's faces, go where their kind says, and follow the bound."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rolecast.baselines.hdbo.linebo import LineBoConfig, ends_of_line
from rolecast.baselines.hdbo.search import SurrogateSearch
from rolecast.core.types import Float

QUICK: dict[str, Any] = {"initial": 10, "fit_steps": 10, "refit": 2.0}
SLOPE = np.array([3.0, -1.0, 0.5, 2.0])


def told(**settings: Any) -> SurrogateSearch:
    """Return a search that was told 40 evaluations of a slope, all with a little noise."""
    optimizer = LineBoConfig(**{**QUICK, **settings}).build(dimension=4, seed=0)
    points = np.random.default_rng(0).uniform(0.3, 0.7, (40, 4))
    optimizer.tell(points, points @ SLOPE, np.full(40, 0.01))
    return optimizer


def directions(points: Float) -> Float:
    """Return unit vectors from the first of some points to the others, signs made alike."""
    ways = points[1:] - points[0]
    ways = ways[np.linalg.norm(ways, axis=1) > 1e-4]
    ways /= np.linalg.norm(ways, axis=1, keepdims=True)
    return np.asarray(ways * np.sign(ways @ ways[0])[:, None])


def test_a_line_ends_where_it_meets_the_faces() -> None:
    low, high = ends_of_line(np.array([0.25, 0.5]), np.array([0.5, -1.0]))
    assert (low, high) == (-0.5, 0.5)  # at (0, 1), a corner, and at (0.5, 0)
    assert ends_of_line(np.array([0.2, 0.9]), np.array([0.0, 1.0])) == pytest.approx((-0.9, 0.1))


@given(seed=st.integers(0, 10**6), dimension=st.integers(1, 20))
def test_a_line_lies_in_the_cube_and_touches_it_at_both_ends(seed: int, dimension: int) -> None:
    rng = np.random.default_rng(seed)
    anchor, way = rng.random(dimension), rng.standard_normal(dimension)
    for t in ends_of_line(anchor, way):
        end = anchor + t * way
        assert end.min() > -1e-9
        assert end.max() < 1.0 + 1e-9
        assert min(np.abs(end).min(), np.abs(1.0 - end).min()) < 1e-9


def test_lines_along_coordinates_take_one_axis_after_the_other() -> None:
    optimizer = told(direction="coordinate", queries=4)
    for axis in (0, 1, 2, 3, 0):
        batch = optimizer.ask(5)  # the best point, and four of a line through it
        np.testing.assert_allclose(np.abs(directions(batch)).max(0), np.eye(4)[axis], atol=1e-6)
        optimizer.tell(batch, batch @ SLOPE, np.full(5, 0.01))


def test_a_random_line_is_one_line_and_the_next_another() -> None:
    optimizer = told(direction="random", queries=4)
    ways = []
    for _ in range(2):
        batch = optimizer.ask(5)
        ways.append(directions(batch))
        np.testing.assert_allclose(ways[-1], np.tile(ways[-1][0], (len(ways[-1]), 1)), atol=1e-5)
        optimizer.tell(batch, batch @ SLOPE, np.full(5, 0.01))
    assert abs(ways[0][0] @ ways[1][0]) < 0.999


def test_a_line_of_descent_follows_the_gradient_after_evaluations_at_the_radius() -> None:
    optimizer = told(queries=4, probes=6, radius=0.05)
    probes = optimizer.ask(7)
    distances = np.linalg.norm(probes[1:] - probes[0], axis=1)
    np.testing.assert_allclose(distances, 0.05, rtol=1e-3)
    optimizer.tell(probes, probes @ SLOPE, np.full(7, 0.01))
    line = optimizer.ask(5)
    way = directions(line)[0]
    assert abs(way @ SLOPE) / np.linalg.norm(SLOPE) > 0.95


def test_the_first_point_of_a_line_has_the_greatest_bound() -> None:
    """By NumPy in one dimension, the best point before it taken to be known."""
    optimizer = LineBoConfig(**QUICK, direction="coordinate").build(dimension=1, seed=0)
    points = np.array([[0.2], [0.25], [0.4], [0.45], [0.7], [0.1], [0.72], [0.3], [0.22], [0.5]])
    returns = np.sin(5.0 * points[:, 0])
    optimizer.tell(points, returns, np.full(10, 0.1))
    first, second = optimizer.ask(2)
    values = optimizer.state_dict()["surrogate"]["values"]
    lengthscale = float(values["covar_module.raw_lengthscale"].item())
    floor = float(values["likelihood.second_noise_covar.raw_noise"].item())
    noise, mean = floor + (0.1 / returns.std()) ** 2, float(values["mean_module.raw_constant"])

    def kernel(one: Float, other: Float) -> Float:
        return np.asarray(np.exp(-0.5 * np.square((one - other.T) / lengthscale)))

    def conditioned(queries: Float, known: Float) -> Float:
        return kernel(queries, known) @ np.linalg.inv(
            kernel(known, known) + noise * np.eye(len(known))
        )

    grid = np.concatenate([second[None], np.linspace(0.0, 1.0, 1001)[:, None]])
    targets = (returns - returns.mean()) / returns.std()
    means = mean + conditioned(grid, points) @ (targets - mean)
    known = np.concatenate([points, first[None]])
    shares = (conditioned(grid, known) * kernel(grid, known)).sum(1)
    bounds = means + 2.0 * np.sqrt(np.maximum(1.0 - shares, 0.0))
    assert bounds[0] > bounds.max() - 1e-3
