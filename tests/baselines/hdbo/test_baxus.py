"""BAxUS's embeddings nest without losing a point, and its bins are split on schedule."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rolecast.baselines.hdbo.baxus import BaxusConfig
from rolecast.baselines.hdbo.nested_bins import first_bins, first_count, splits, tolerance

QUICK: dict[str, Any] = {"fit_steps": 2, "refit": 4.0, "candidates": 16}


@settings(deadline=None, max_examples=30)
@given(seed=st.integers(0, 10**6), dimension=st.integers(1, 150))
def test_a_split_keeps_every_point_and_so_the_value_of_any_function(
    seed: int, dimension: int
) -> None:
    rng = np.random.default_rng(seed)
    bins = first_bins(dimension, rng)
    points = bins.points(rng.uniform(-1.0, 1.0, (5, bins.count)))
    while bins.count < dimension:
        wider = bins.split(rng)
        assert bins.count < wider.count <= 4 * bins.count
        np.testing.assert_allclose(wider.points(wider.inputs(points)), points, atol=1e-12)
        bins = wider
    assert sorted(bins.owners) == list(range(dimension))


def test_an_embedding_is_the_sparse_matrix_of_the_paper() -> None:
    """One entry of 1 or -1 in each column: the points are its product with the inputs."""
    rng = np.random.default_rng(0)
    bins = first_bins(40, rng).split(rng)
    matrix = np.zeros((bins.count, 40))
    matrix[bins.owners, np.arange(40)] = bins.signs
    inputs = rng.uniform(-1.0, 1.0, (6, bins.count))
    np.testing.assert_allclose(2.0 * bins.points(inputs) - 1.0, inputs @ matrix)
    np.testing.assert_allclose(bins.inputs(bins.points(inputs)), inputs, atol=1e-12)
    assert np.ptp(np.bincount(bins.owners)) <= 2


@pytest.mark.parametrize(
    ("dimension", "first", "count"),
    [(1, 1, 0), (4, 1, 1), (16, 1, 2), (100, 2, 3), (124, 2, 3), (500, 2, 4), (1000, 1, 5)],
)
def test_the_first_number_of_bins_is_that_from_which_splits_come_closest(
    dimension: int, first: int, count: int
) -> None:
    """By hand: k = round(log4 D), and i 4^k closest to D among i = 1, 2, 3."""
    assert (first_count(dimension), splits(dimension)) == (first, count)


def test_the_tolerance_shares_the_evaluations_out_by_the_number_of_bins() -> None:
    """D = 100, 1,000 evaluations: 2 (4^4 - 1) / 3 = 170 bins in all, six halvings each.

    2 bins get round(1000 * 2 / 170) = 12 evaluations, 2 a halving; 8 get 47, 7 a halving; 32 get
    188, 31 a halving; at 100 bins the tolerance is D.
    """
    assert [tolerance(count, 100, 1000) for count in (2, 8, 32, 100)] == [2, 7, 31, 100]
    assert tolerance(2, 100, 10) == 1
    assert tolerance(8, 100, 100_000) == 8


def test_bins_are_split_when_the_region_has_shrunk_and_begin_anew_at_the_last() -> None:
    """Of 7 dimensions from 2 bins; seven halvings, of 2 evaluations without gain each, then 7."""
    optimizer = BaxusConfig(**QUICK, initial=4).build(dimension=7, seed=0)
    counts = []
    for batch in range(12):
        points = optimizer.ask(8)
        counts.append(int(optimizer.explain()["bins"]))
        optimizer.tell(points, -100.0 * batch - np.arange(8.0), np.full(8, 1e-3))
    assert counts == [2] * 3 + [7] * 7 + [2] * 2


def test_points_asked_for_follow_the_bins() -> None:
    optimizer = BaxusConfig(**QUICK, initial=4).build(dimension=60, seed=0)
    for _ in range(2):
        stretched = 2.0 * optimizer.ask(6) - 1.0
        values = [len(np.unique(np.abs(row).round(6))) for row in stretched]
        assert max(values) == int(optimizer.explain()["bins"]) == 1
        optimizer.tell(0.5 + 0.5 * stretched, stretched.sum(1))


def test_a_batch_without_gain_halves_the_box_once_for_each_run_of_failures() -> None:
    search = BaxusConfig(**QUICK).build(dimension=30, seed=0)
    first = search.ask(10)
    search.tell(first, np.linspace(0.0, 1.0, 10))
    bins = int(search.explain()["bins"])
    failures = 2 * bins + 1
    worse = search.ask(failures)
    length = search.explain()["trust_region_length"]
    search.tell(worse, np.full(failures, -5.0))
    search.ask(1)
    assert search.explain() == {"bins": bins, "trust_region_length": length / 4.0}
