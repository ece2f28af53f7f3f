"""Random search is uniform, and its incumbent is not the luckiest draw."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kstest

from rolecast.platform.optimizers.observations import Observations
from rolecast.platform.optimizers.random import (
    TIE_SHARE,
    RandomConfig,
    beaten_rows,
    shrunk_best,
)
from rolecast.platform.optimizers.registry import make_optimizer


def test_candidates_are_uniform_in_every_dimension() -> None:
    """Kolmogorov-Smirnov, false alarm 1e-6 a seed over both dimensions."""
    asked = np.concatenate([make_optimizer("random", dimension=2, seed=3).ask(4000)])
    assert min(kstest(column, "uniform").pvalue for column in asked.T) > 5e-7


def test_a_noisy_winner_is_shrunk_more_than_a_well_measured_one() -> None:
    optimizer = make_optimizer("random", dimension=2)
    points = optimizer.ask(6)
    returns = np.array([0.0, 1.0, 2.0, 1.0, 5.0, 5.5])
    optimizer.tell(points, returns, np.array([0.1, 0.1, 0.1, 0.1, 0.1, 4.0]))
    np.testing.assert_array_equal(optimizer.best(), points[4])


def test_an_unknown_error_counts_as_the_median_of_the_known_ones() -> None:
    optimizer = make_optimizer("random", dimension=2)
    points = optimizer.ask(8)
    returns, errors = np.array([0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 5.0, 5.2]), np.full(8, 2.0)
    errors[6:] = 0.1, np.nan
    optimizer.tell(points, returns, errors)
    np.testing.assert_array_equal(optimizer.best(), points[6])
    optimizer.tell(optimizer.ask(20), np.zeros(20), np.full(20, 0.01))
    np.testing.assert_array_equal(optimizer.best(), points[7])


def test_of_exact_returns_the_greatest_wins() -> None:
    optimizer = make_optimizer("random", dimension=2)
    points = optimizer.ask(3)
    optimizer.tell(points, np.array([1.0, 3.0, 2.0]))
    np.testing.assert_array_equal(optimizer.best(), points[1])


@pytest.mark.parametrize("seed", range(12))
def test_the_incumbent_is_that_of_all_evaluations_though_few_are_kept(seed: int) -> None:
    rng = np.random.default_rng(seed)
    optimizer, told = RandomConfig().build(dimension=2, seed=seed), Observations(2)
    for batch in range(25):
        points = optimizer.ask(5)
        returns = rng.normal(size=5).round(seed % 3) * 10.0 ** rng.integers(-3, 4)
        stderrs = None if seed % 4 == 0 else np.abs(rng.normal(size=5)).round(seed % 2)
        if stderrs is not None and seed % 4 == 1:
            stderrs[rng.random(5) < 0.3] = np.nan
        optimizer.tell(points, returns, stderrs)
        told.add(points, returns, stderrs)
        np.testing.assert_array_equal(optimizer.best(), shrunk_best(told))
        if batch % 6 == 5:
            state = optimizer.state_dict()
            assert len(state["candidates"]) < 20
            optimizer = RandomConfig().build(dimension=2, seed=99)
            optimizer.load_state_dict(state)


def test_a_large_batch_takes_memory_in_proportion() -> None:
    """As the confirmation of a large search is told; 5,000 by 5,000 numbers would be 200 MB."""
    rng = np.random.default_rng(0)
    optimizer, told = RandomConfig().build(dimension=2, seed=0), Observations(2)
    points, returns, stderrs = rng.random((5000, 2)), rng.normal(size=5000), rng.random(5000)
    told.add(points, returns, stderrs)
    tracemalloc.start()
    optimizer.tell(points, returns, stderrs)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 50e6
    np.testing.assert_array_equal(optimizer.best(), shrunk_best(told))


@settings(deadline=None, max_examples=200)
@given(
    told=st.lists(
        st.tuples(
            st.sampled_from([-3.0, 0.0, 1.0, 1.0 + 2e-10, 1.0 + 5e-10, 1.0 + 4e-9, 2.0, 4.0]),
            st.sampled_from([0.0, 0.1, 0.2, 0.3, 0.5]),
        ),
        min_size=1,
        max_size=30,
    )
)
def test_those_are_beaten_that_comparing_all_with_all_says(told: list[tuple[float, float]]) -> None:
    returns, noises = np.array(told).T
    lead, rows = returns[:, None] - returns, np.arange(len(told))
    better = (lead > TIE_SHARE * np.abs(returns).max()) | ((lead >= 0.0) & (rows[:, None] < rows))
    expected = np.flatnonzero((better & (noises[:, None] <= noises)).any(axis=0))
    np.testing.assert_array_equal(
        sorted(beaten_rows(returns, noises, np.abs(returns).max())), expected
    )


def test_noise_that_grows_with_return_takes_memory_in_proportion() -> None:
    """No candidate is beaten then; comparing all with all would take 8 bytes for each pair."""
    returns = np.random.default_rng(0).gamma(2.0, 20.0, 4000)
    tracemalloc.start()
    beaten = beaten_rows(returns, np.sqrt(returns), returns.max())
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert beaten == []
    assert peak < 2e6


def test_equal_returns_have_an_incumbent() -> None:
    optimizer = make_optimizer("random", dimension=2)
    points = optimizer.ask(9)
    optimizer.tell(points, np.full(9, 3.7), np.linspace(0.1, 0.9, 9))
    assert optimizer.best() in points


def test_a_state_with_all_candidates_is_taken_up() -> None:
    """As releases before this one wrote it."""
    optimizer, told = RandomConfig().build(dimension=3, seed=4), Observations(3)
    points = optimizer.ask(8)
    told.add(points, np.arange(8.0), None)
    state = {"data": told.state_dict(), "rng": optimizer.state_dict()["rng"]}
    restored = RandomConfig().build(dimension=3, seed=0)
    restored.load_state_dict(state)
    np.testing.assert_array_equal(restored.best(), points[7])
    np.testing.assert_array_equal(restored.ask(2), optimizer.ask(2))
