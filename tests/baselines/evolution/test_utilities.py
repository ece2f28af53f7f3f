"""Ranks as utilities: values computed by hand, and what no order of returns may change."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rolecast.baselines.evolution.utilities import centered_ranks, nes_utilities
from rolecast.core.types import Float

RETURNS = st.lists(st.integers(-5, 5), min_size=2, max_size=30).map(
    lambda values: np.array(values, dtype=np.float64)
)


def test_centered_ranks_run_from_minus_a_half_to_a_half() -> None:
    found = centered_ranks(np.array([3.0, -1.0, 100.0, 4.0, 0.0]))
    np.testing.assert_allclose(found, [0.0, -0.5, 0.5, 0.25, -0.25])


def test_equal_returns_share_the_mean_of_their_ranks() -> None:
    np.testing.assert_allclose(
        centered_ranks(np.array([0.0, 0.0, 0.0, 7.0, 0.0])), [-0.125, -0.125, -0.125, 0.5, -0.125]
    )


@pytest.mark.parametrize("shaping", [centered_ranks, nes_utilities])
@given(returns=RETURNS)
def test_utilities_sum_to_nothing_and_rise_with_returns(
    shaping: Callable[[Float], Float], returns: Float
) -> None:
    utilities = shaping(returns)
    assert abs(utilities.sum()) < 1e-12
    order = np.argsort(returns, kind="stable")
    assert (np.diff(utilities[order]) >= -1e-15).all()
    for value in set(returns.tolist()):
        assert np.ptp(utilities[returns == value]) < 1e-15


@given(returns=RETURNS, seed=st.integers(0, 99))
def test_utilities_belong_to_returns_not_to_places(returns: Float, seed: int) -> None:
    order = np.random.default_rng(seed).permutation(len(returns))
    found = nes_utilities(returns[order])
    np.testing.assert_allclose(nes_utilities(returns)[order], found, atol=1e-12)
