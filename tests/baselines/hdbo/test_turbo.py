"""TuRBO's regions end, start again and share a batch as its paper says."""

from typing import Any

import numpy as np
import pytest

import rolecast
from rolecast.baselines.hdbo.turbo import Turbo, TurboConfig
from rolecast.core.types import Float

QUICK: dict[str, Any] = {"fit_steps": 3, "refit": 4.0, "candidates": 16}


def search(**settings: Any) -> Turbo:
    return TurboConfig(**{**QUICK, **settings}).build(dimension=2, seed=0)


def tell_worse(turbo: Turbo, points: Float, batch: int) -> None:
    turbo.tell(points, -10.0 * batch - np.arange(float(len(points))))


def test_a_region_without_success_ends_and_a_new_design_begins() -> None:
    """In 2 dimensions a batch of 4 without gain halves the side: 0.8 / 2^7 is below 2^-7."""
    turbo = search(initial=4, centre="observed")
    lengths = []
    for batch in range(9):
        points = turbo.ask(4)
        lengths.append(turbo.explain()["trust_region_length"])
        tell_worse(turbo, points, batch)
    np.testing.assert_allclose(lengths, [0.8, *(0.8 / 2.0**power for power in range(7)), 0.8])
    assert turbo.explain()["trust_regions_ended"] == 1.0


def test_points_of_one_batch_come_closer_as_the_region_shrinks() -> None:
    turbo = search(initial=4, centre="observed")
    spreads = []
    for batch in range(8):
        points = turbo.ask(4)
        spreads.append(np.ptp(points, axis=0).max())
        tell_worse(turbo, points, batch)
    assert spreads[7] < 0.2 * spreads[0]


def test_the_incumbent_of_a_region_that_ended_is_kept() -> None:
    turbo = search(initial=4, centre="observed")
    first = turbo.ask(4)
    tell_worse(turbo, first, 0)
    for batch in range(1, 12):
        tell_worse(turbo, turbo.ask(4), batch)
    np.testing.assert_array_equal(turbo.best(), first[0])


def test_a_batch_told_in_pieces_counts_as_one() -> None:
    whole, pieces = search(initial=4), search(initial=4)
    for batch in range(4):
        points = whole.ask(6)
        np.testing.assert_array_equal(pieces.ask(6), points)
        returns = -np.square(points).sum(1) - batch
        whole.tell(points, returns)
        for row in range(6):
            pieces.tell(points[row : row + 1], returns[row : row + 1])
    assert whole.explain() == pieces.explain()


@pytest.mark.parametrize("name", ["turbo", "baxus"])
def test_a_batch_that_fills_the_process_is_judged_beside_the_points_before(name: str) -> None:
    """All ten returns of each batch are better than those before, which the process forgets."""
    optimizer = rolecast.make_optimizer(
        name, dimension=2, seed=0, initial=10, max_points=6, fit_steps=3, candidates=16
    )
    for batch in range(4):
        optimizer.tell(optimizer.ask(10), 10.0 * batch + np.arange(10.0), np.full(10, 1e-3))
    optimizer.ask(10)
    assert optimizer.explain()["trust_region_length"] == 1.6  # three successes double 0.8


def test_the_centre_by_posterior_mean_is_not_the_luckiest_draw() -> None:
    """Forty exact points of a slope, and one that is 3 better than its place but uncertain by 3."""
    points = np.random.default_rng(0).random((40, 2))
    returns = points.sum(1)
    errors = np.full(40, 1e-3)
    lucky = int(np.argmin(returns))
    returns[lucky], errors[lucky] = returns[lucky] + 3.0, 3.0
    by_mean, by_draw = search(fit_steps=30), search(centre="observed")
    for turbo in (by_mean, by_draw):
        turbo.tell(points, returns, errors)
    np.testing.assert_array_equal(by_draw.best(), points[lucky])
    assert by_mean.best().sum() > 1.5


def test_each_of_several_regions_has_its_design_before_draws_begin() -> None:
    turbo = search(initial=5, trust_regions=3)
    turbo.tell(turbo.ask(7), np.arange(7.0))
    turbo.tell(turbo.ask(8), np.arange(8.0))
    tags = [int((turbo._record.tags == tag).sum()) for tag in range(3)]
    assert tags == [5, 5, 5]


def test_points_told_unasked_go_to_the_region_that_has_fewest() -> None:
    turbo = search(initial=5, trust_regions=2)
    turbo.tell(np.random.default_rng(0).random((7, 2)), np.arange(7.0))
    assert [int((turbo._record.tags == tag).sum()) for tag in range(2)] == [4, 3]
