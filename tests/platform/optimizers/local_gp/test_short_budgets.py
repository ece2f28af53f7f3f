"""The local search where a budget has two batches, and radii that rounding cannot resolve."""

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
        ConfigError, match=r"radius is 1e-06; expected a number >= 0\.0001, or none"
    ):
        LocalGpConfig(radius=1e-6)
