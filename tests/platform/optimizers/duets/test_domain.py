"""Domains: uniform points of a box and of a ball, candidates, and bad bounds."""

import numpy as np
import pytest
from scipy import stats

from rolecast.core.errors import ConfigError
from rolecast.platform.optimizers.duets.domain import (
    Ball,
    Box,
    Domain,
    candidates_in,
    first_candidates,
)


@pytest.mark.parametrize("dimension", [1, 2, 10])
def test_points_of_a_ball_are_uniform(dimension: int) -> None:
    """|x|^d is uniform, and so is every direction. False alarm: 1e-6 each, for a fixed seed."""
    ball = Ball(dimension, 2.0)
    points = ball.from_cube(np.random.default_rng(1).random((20_000, dimension)))
    assert ball.contains(points).all()
    radii = np.linalg.norm(points, axis=1)
    assert stats.kstest((radii / 2.0) ** dimension, "uniform").pvalue > 1e-6
    cube = np.random.default_rng(2).uniform(-2.0, 2.0, (400_000, dimension))
    by_rejection = cube[(np.square(cube).sum(1) <= 4.0)][:, 0]
    assert stats.ks_2samp(points[:, 0], by_rejection).pvalue > 1e-6
    inside = len(by_rejection) / len(cube)
    error = 1e-12 + 5 * (inside * (1 - inside) / len(cube)) ** 0.5 * 4.0**dimension
    assert abs(ball.volume - inside * 4.0**dimension) <= error


@pytest.mark.parametrize(
    "domain", [Box.unit(1), Box((-1.0, 2.0), (0.0, 5.0)), Box.unit(6), Ball(3), Ball(10)]
)
def test_candidates_fill_their_domain(domain: Domain) -> None:
    found = first_candidates(domain)
    assert 12_000 < len(found) <= 2**14
    assert domain.contains(found).all()
    low, high = domain.bounds
    middle = found.mean(0)
    assert np.abs((middle - (low + high) / 2) / (high - low)).max() < 0.01


def test_a_grid_has_the_faces_of_its_box() -> None:
    found = candidates_in(Box.unit(2), np.array([0.2, 0.4]), np.array([0.3, 0.9]))
    np.testing.assert_array_equal(found.min(0), [0.2, 0.4])
    np.testing.assert_array_equal(found.max(0), [0.3, 0.9])
    assert len(found) == 2**14


@pytest.mark.parametrize("seed", range(20))
def test_a_grid_keeps_all_faces_of_a_domain_whose_sides_are_rounded(seed: int) -> None:
    """low + (high - low) is above high for a sixth of such numbers: -0.1 + 0.4 > 0.3."""
    rng = np.random.default_rng(seed)
    low = np.array([-0.1, *rng.uniform(-5.0, 5.0, 3).round(1)])
    high = np.array([0.3, *low[1:] + rng.uniform(0.1, 5.0, 3).round(1)])
    for dimension in (1, 2, 4):
        sides = low[:dimension], high[:dimension]
        box = Box(tuple(sides[0].tolist()), tuple(sides[1].tolist()))
        found = first_candidates(box)
        assert len(found) == len(first_candidates(Box.unit(dimension)))
        np.testing.assert_allclose([found.min(0), found.max(0)], sides, rtol=1e-15, atol=1e-15)
        assert box.contains(box.from_cube(np.nextafter(np.ones(dimension), 0.0))).all()


@pytest.mark.parametrize(
    ("low", "high"), [((), ()), ((0.0,), (0.0,)), ((0.0,), (1.0, 2.0)), ((0.0,), (np.inf,))]
)
def test_a_box_without_finite_sides_is_refused(low: tuple[float], high: tuple[float]) -> None:
    with pytest.raises(ConfigError, match="expected finite bounds, low < high"):
        Box(low, high)
