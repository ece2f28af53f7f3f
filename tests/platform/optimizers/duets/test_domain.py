"""Domains: candidates, and bad bounds."""

import numpy as np
import pytest

from rolecast.core.errors import ConfigError
from rolecast.platform.optimizers.duets.domain import (
    Box,
    Domain,
    candidates_in,
    first_candidates,
)


@pytest.mark.parametrize("domain", [Box.unit(1), Box((-1.0, 2.0), (0.0, 5.0)), Box.unit(6)])
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


@pytest.mark.parametrize(
    ("low", "high"), [((), ()), ((0.0,), (0.0,)), ((0.0,), (1.0, 2.0)), ((0.0,), (np.inf,))]
)
def test_a_box_without_finite_sides_is_refused(low: tuple[float], high: tuple[float]) -> None:
    with pytest.raises(ConfigError, match="expected finite bounds, low < high"):
        Box(low, high)
