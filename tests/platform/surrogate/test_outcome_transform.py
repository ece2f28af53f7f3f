"""Transformed returns keep their order, are standardised, and know what became of small errors."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from rolecast.core.types import Float
from rolecast.platform.surrogate.outcome_transform import (
    OUTCOME_TRANSFORMS,
    chosen_transform,
    transform_returns,
    untransform_returns,
)

RETURNS = arrays(np.float64, st.integers(2, 40), elements=st.integers(-(10**4), 10**4).map(float))


@pytest.mark.parametrize("transform", OUTCOME_TRANSFORMS)
@settings(deadline=None, max_examples=60)
@given(returns=RETURNS)
def test_order_is_kept_and_returns_are_standardised(transform: str, returns: Float) -> None:
    before = returns.copy()
    values, slopes = transform_returns(returns, transform)
    np.testing.assert_array_equal(returns, before)
    assert values.shape == slopes.shape == returns.shape
    order = np.argsort(returns, kind="stable")
    steps = np.diff(values[order])
    assert (steps[np.diff(returns[order]) > 0] > 0).all()
    assert (steps[np.diff(returns[order]) == 0] == 0).all()
    if np.ptp(returns) > 0:
        assert values.mean() == pytest.approx(0.0, abs=1e-9)
        assert values.std() == pytest.approx(1.0)
        assert (slopes > 0).all()
    else:
        assert np.ptp(values) == 0.0
    assert np.isfinite(values).all()
    assert np.isfinite(slopes).all()


@pytest.mark.parametrize("transform", ["signed_sqrt", "none"])
def test_a_slope_is_what_a_small_error_is_multiplied_by(transform: str) -> None:
    """By finite differences; one of 3000 moves mean and deviation by less than 1 % of itself."""
    rng = np.random.default_rng(0)
    returns = 50.0 * rng.normal(size=3000)
    values, slopes = transform_returns(returns, transform)
    for index in np.flatnonzero(np.abs(returns) > 5.0)[:20]:
        shifted = returns.copy()
        shifted[index] += 1e-3
        difference = (transform_returns(shifted, transform)[0][index] - values[index]) / 1e-3
        assert slopes[index] == pytest.approx(difference, rel=0.01)


def test_the_slope_of_a_square_root_is_bounded_near_zero() -> None:
    returns = np.array([0.0, 1e-9, 1.0, 1_000.0, 10_000.0])
    _, slopes = transform_returns(returns, "signed_sqrt")
    assert slopes[0] == slopes[1] == slopes[2]
    assert slopes[2] > slopes[3] > slopes[4]


def test_the_slope_of_ranks_is_that_of_the_bulk() -> None:
    """For normal returns, ranks are the returns again: the slope is 1 over their deviation."""
    returns = 7.0 + 3.0 * np.random.default_rng(0).normal(size=2000)
    values, slopes = transform_returns(returns, "rank")
    assert slopes == pytest.approx(np.full(2000, 1.0 / returns.std()), rel=0.01)
    assert np.corrcoef(values, returns)[0, 1] > 0.999


@pytest.mark.parametrize("factor", [1e-3, 1e3])
@pytest.mark.parametrize("transform", OUTCOME_TRANSFORMS)
def test_the_unit_of_the_returns_does_not_matter(transform: str, factor: float) -> None:
    returns = np.random.default_rng(0).normal(size=50)
    values, slopes = transform_returns(returns, transform)
    scaled, scaled_slopes = transform_returns(factor * returns, transform)
    np.testing.assert_allclose(scaled, values, atol=1e-9)
    np.testing.assert_allclose(scaled_slopes * factor, slopes, rtol=1e-9)


@pytest.mark.parametrize("transform", OUTCOME_TRANSFORMS)
def test_transformed_returns_come_back_as_they_were(transform: str) -> None:
    """Those of returns without ties, negative ones too: also where the mean is far from 0."""
    returns = 30.0 + 50.0 * np.random.default_rng(3).normal(size=41)
    values, _ = transform_returns(returns, transform)
    np.testing.assert_allclose(untransform_returns(values, returns, transform), returns, rtol=1e-9)


@pytest.mark.parametrize(
    ("returns", "chosen"),
    [
        ([0.0, 0.0, 10.0, 25.0], "signed_sqrt"),
        ([0.5, 1.5, 2.5, 3.5], "signed_sqrt"),
        ([-0.5, 1.5, 2.5, 2.5], "none"),
        ([-4.0, -3.0, -2.0, -1.0], "none"),
    ],
)
def test_a_square_root_is_for_returns_with_a_natural_zero(
    returns: list[float], chosen: str
) -> None:
    values = np.array(returns)
    assert chosen_transform(values, "automatic") == chosen
    for one, other in zip(
        transform_returns(values, "automatic"), transform_returns(values, chosen), strict=True
    ):
        np.testing.assert_array_equal(one, other)
    for transform in ("rank", "none", None, "signed_sqrt"):
        assert chosen_transform(values, transform) == transform


def test_all_that_was_told_decides_and_not_the_latest_returns_alone() -> None:
    told = np.array([-1.0, 0.0, 4.0, 9.0, 16.0])
    latest = slice(2, None)
    values, slopes = transform_returns(told, "automatic", rows=latest)
    for one, other in zip((values, slopes), transform_returns(told[2:], "none"), strict=True):
        np.testing.assert_array_equal(one, other)
    back = untransform_returns(values, told, "automatic", rows=latest)
    np.testing.assert_allclose(back, told[2:])
    assert not np.allclose(values, transform_returns(told[2:], "automatic")[0])


def test_a_square_root_keeps_the_sign() -> None:
    values, _ = transform_returns(np.array([-9.0, -4.0, 0.0, 4.0, 9.0]), "signed_sqrt")
    np.testing.assert_allclose(values / values[-1], [-1.0, -2.0 / 3.0, 0.0, 2.0 / 3.0, 1.0])


@pytest.mark.parametrize("transform", ["signed_sqrt", "none"])
@pytest.mark.parametrize("equal", [0.0, 0.1, 1_000_000.1, -3e9 / 7.0])
def test_equal_returns_have_no_signal(transform: str, equal: float) -> None:
    """Their mean may be off by rounding; divided by that, all of them were 1 or -1."""
    for count in range(1, 80):
        targets, _ = transform_returns(np.full(count, equal), transform)
        assert np.abs(targets).max() < 0.01
