"""Draws are a pure function of seed and counter, and look like independent uniform numbers.

All levels below are of false alarm over the whole test, with the seeds as they are; the draws are
a fixed function, so a test that passes once passes always.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2, kstest, norm

from rolecast.core.counter_random import draw, episode_keys, symmetric_uniform
from rolecast.core.types import Seeds

LEVEL = 1e-6
GOLDEN = [
    [2964456011, 1026224782, 219881517],
    [3530678129, 256979153, 1077116862],
    [1532701159, 2502704639, 812385607],
]
"""Counters 0 to 2 (rows) of the seeds 0, 1 and 2^40 + 3, by this module at version 0.1.0."""

PLACES: dict[str, tuple[Seeds, np.ndarray]] = {
    "neighbouring seeds": (np.arange(2000, dtype=np.uint64), np.arange(100, dtype=np.uint32)),
    "random seeds": (
        np.random.default_rng(0).integers(2**64 - 1, size=2000, dtype=np.uint64),
        np.arange(65536, 65636, dtype=np.uint32),
    ),
    "seeds far apart": (
        np.arange(2000, dtype=np.uint64) << np.uint64(40),
        np.arange(100, dtype=np.uint32) * np.uint32(7),
    ),
}


@pytest.fixture(params=PLACES)
def bits(request: pytest.FixtureRequest) -> np.ndarray:
    """Return draws [2000 seeds, 100 counters] of 32 bits."""
    seeds, counters = PLACES[request.param]
    first, second = episode_keys(seeds)
    return draw(first[:, None], second[:, None], counters)


def test_a_draw_depends_on_its_seed_and_counter_alone() -> None:
    seeds = np.array([3, 2**63 + 5, 3, 2**64 - 1], dtype=np.uint64)
    counters = np.array([[0], [2**32 - 1], [77]], dtype=np.uint32)
    first, second = episode_keys(seeds)
    copies = first.copy(), second.copy(), counters.copy()
    together = draw(first, second, counters)
    for row, column in np.ndindex(3, 4):
        alone = episode_keys(seeds[[column]])
        assert draw(*alone, counters[row, 0])[0] == together[row, column]
    np.testing.assert_array_equal(together[:, 0], together[:, 2])
    for array, copy in zip((first, second, counters), copies, strict=True):
        np.testing.assert_array_equal(array, copy)
    assert together.dtype == np.uint32


def test_the_numbers_of_today_are_those_of_tomorrow() -> None:
    """Histories and figures on file depend on them."""
    first, second = episode_keys(np.array([0, 1, 2**40 + 3], dtype=np.uint64))
    np.testing.assert_array_equal(
        GOLDEN, draw(first, second, np.arange(3, dtype=np.uint32)[:, None])
    )


@settings(deadline=None)
@given(one=st.integers(0, 2**64 - 1), other=st.integers(0, 2**64 - 1))
def test_two_seeds_have_two_keys(one: int, other: int) -> None:
    """The map from 64 bits to two keys is one to one, so no two seeds can share an episode."""
    first, second = episode_keys(np.array([one, other], dtype=np.uint64))
    assert (one == other) == bool(first[0] == first[1] and second[0] == second[1])


@given(value=st.integers(0, 2**32 - 1))
def test_uniform_numbers_are_exact_in_float32_and_within_their_bounds(value: int) -> None:
    number = symmetric_uniform(np.array([value], dtype=np.uint32))
    assert -1.0 <= number[0] < 1.0
    assert number.astype(np.float32).astype(np.float64)[0] == number[0]


def test_uniform_numbers_reach_both_ends() -> None:
    ends = symmetric_uniform(np.array([0, 2**31, 2**32 - 1], dtype=np.uint32))
    np.testing.assert_array_equal(ends, [-1.0, 0.0, 1.0 - 2.0**-23])


def test_draws_are_uniform(bits: np.ndarray) -> None:
    """Kolmogorov-Smirnov at 1e-6: a share that is off by 0.6 % anywhere is seen."""
    assert kstest(symmetric_uniform(bits.ravel()), "uniform", (-1.0, 2.0)).pvalue > LEVEL


@pytest.mark.parametrize("shift", [0, 8, 16, 24])
def test_every_byte_is_uniform(bits: np.ndarray, shift: int) -> None:
    """Chi-square over 256 values at 1e-6; the prey takes radius and angle from 16 bits each."""
    counts = np.bincount((bits.ravel() >> np.uint32(shift)) & np.uint32(255), minlength=256)
    expected = bits.size / 256
    assert np.square(counts - expected).sum() / expected < chi2.isf(LEVEL, 255)


def test_every_bit_is_a_fair_coin(bits: np.ndarray) -> None:
    """At 1e-6 over 32 bits: a probability that is off by 0.6 % is seen."""
    ones = (bits.ravel()[:, None] >> np.arange(32, dtype=np.uint32)) & np.uint32(1)
    z = (ones.mean(0) - 0.5) * 2.0 * np.sqrt(bits.size)
    assert np.abs(z).max() < norm.isf(LEVEL / 64)


def correlation_of_bits(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Return z [32, 32], the correlation of each bit of one with each bit of the other."""
    places = np.arange(32, dtype=np.uint32)[:, None]
    left, right = (
        np.packbits((part.ravel() >> places & np.uint32(1)).astype(np.uint8), axis=1)
        for part in (one, other)
    )
    unequal = np.bitwise_count(left[:, None] ^ right).sum(-1, dtype=np.int64)
    return np.asarray((one.size - 2.0 * unequal) / np.sqrt(one.size))


@pytest.mark.parametrize("apart", [1, 2, 16])
@pytest.mark.parametrize("along", ["seeds", "counters"])
def test_neighbours_are_independent(bits: np.ndarray, along: str, apart: int) -> None:
    """At 1e-6 over 1024 pairs of bits: a correlation of 2.5 % of any two is seen."""
    rows = bits[:800] if along == "seeds" else bits[:800].T
    z = correlation_of_bits(rows[:-apart], rows[apart:])
    assert np.abs(z).max() < norm.isf(LEVEL / 2048)


@pytest.mark.parametrize("along", ["seeds", "counters"])
def test_pairs_of_neighbours_fill_the_square(bits: np.ndarray, along: str) -> None:
    """Chi-square over 32 x 32 cells at 1e-6, which also sees what no correlation does."""
    rows = bits if along == "seeds" else bits.T
    cells = rows >> np.uint32(27)
    # Pairs that do not overlap, or the counts would not be independent.
    pairs = (cells[0:-1:2] * np.uint32(32) + cells[1::2]).ravel()
    counts = np.bincount(pairs, minlength=1024)
    expected = pairs.size / 1024
    assert np.square(counts - expected).sum() / expected < chi2.isf(LEVEL, 1023)


def test_one_bit_of_the_seed_changes_half_of_all_bits() -> None:
    """At 1e-6 over 64 bits of the seed; counts of changed bits are binomial, 32 000 to a mean."""
    seeds = np.random.default_rng(0).integers(2**63, size=1000, dtype=np.uint64)
    plain = draw(*episode_keys(seeds), np.uint32(5))
    shares = []
    for place in range(64):
        changed = draw(*episode_keys(seeds ^ np.uint64(1 << place)), np.uint32(5))
        shares.append(np.bitwise_count(plain ^ changed).mean() / 32)
    assert np.abs(np.array(shares) - 0.5).max() < norm.isf(LEVEL / 128) * 0.5 / np.sqrt(32_000)


def test_no_draw_of_a_search_comes_twice_more_often_than_chance() -> None:
    """Two episodes share a whole stream never; equal draws at equal counters come by chance.

    2000 seeds have 2.0 million pairs, of which 5e-4 are equal at a counter on average; over 100
    counters 0.05, and 6 or more with a probability of 2e-11.
    """
    first, second = episode_keys(PLACES["neighbouring seeds"][0])
    drawn = draw(first[:, None], second[:, None], PLACES["neighbouring seeds"][1])
    repeats = sum(len(column) - len(np.unique(column)) for column in drawn.T)
    assert repeats < 6
