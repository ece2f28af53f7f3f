"""The local search where a budget has two batches, and radii that rounding cannot resolve."""

from typing import Any

import numpy as np
import pytest

from rolecast.core.errors import ConfigError
from rolecast.platform.optimizers.local_gp.config import LocalGpConfig
from rolecast.platform.optimizers.local_gp.search import LocalSearch


@pytest.mark.parametrize(("spent", "moves"), [(0.6, True), (0.05, False)])
def test_a_second_batch_moves_the_centre_where_no_third_follows(spent: float, moves: bool) -> None:
    """Of a policy, whose centre otherwise waits for two whole batches: the start was returned."""
    optimizer = LocalSearch(LocalGpConfig(groups=(0, 0, 0, 1, 1, 1)), dimension=6, seed=0)
    first = optimizer.ask(20)
    optimizer.tell(first, first.sum(axis=1))
    assert (optimizer.best() == 0.5).all()
    optimizer.pace(spent)
    second = optimizer.ask(12)
    optimizer.tell(second, second.sum(axis=1))
    assert bool(optimizer.best().sum() > 3.0) == moves


def test_a_radius_that_rounding_cannot_tell_from_zero_is_refused() -> None:
    with pytest.raises(
        ConfigError, match=r"radius is 1e-06; expected a number in \[0\.0001, 1e\+06\], or none"
    ):
        LocalGpConfig(radius=1e-6)


@pytest.mark.parametrize("name", ["radius", "final_radius", "step"])
def test_a_length_beyond_a_million_sides_is_refused(name: str) -> None:
    """Squares of such numbers overflow, deep in a kernel."""
    beyond: dict[str, Any] = {name: 1e300}
    with pytest.raises(ConfigError, match=rf"{name} is 1e\+300; expected a number in .* 1e\+06"):
        LocalGpConfig(**beyond)
    largest: dict[str, Any] = {"radius": 1e6, name: 1e6}
    optimizer = LocalGpConfig(**largest).build(dimension=2, seed=0)
    for _ in range(4):
        points = optimizer.ask(8)
        optimizer.tell(points, points.sum(1))
    assert np.isfinite(optimizer.best()).all()
