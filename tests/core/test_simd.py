"""Lanes as one value in compiled kernels, against numpy."""

from collections.abc import Callable

import numpy as np
import pytest

from rolecast.core.compiled import compiled
from rolecast.core.counter_random import UInt32
from rolecast.core.lane_arrays import lane_array
from rolecast.core.simd import (
    any_lane,
    equal,
    load,
    load_bits,
    magnitude,
    pattern,
    pick,
    reinterpret,
    signed,
    spread,
    square_root,
    store,
    whole,
)
from rolecast.core.types import LANE_COUNT, Float32


@compiled
def arithmetic(rows: Float32) -> None:
    a, b = load(rows, 0), load(rows, 1)
    store(rows, 2, a + b)
    store(rows, 3, a - b)
    store(rows, 4, a * b)
    store(rows, 5, a / b)
    store(rows, 6, a * 2.0 + 1.0)
    store(rows, 7, 1.0 - 3 * a)
    store(rows, 8, 7.0)
    store(rows, 9, square_root(a))
    store(rows, 10, magnitude(a) + spread(0.5))


@compiled
def choices(rows: Float32) -> None:
    a, b = load(rows, 0), load(rows, 1)
    store(rows, 2, pick(a > b, a, b))
    store(rows, 3, pick(equal(a, 2.0), 1.0, b))
    store(rows, 4, pick(a >= 2.0, 1.0, 0.0))
    store(rows, 5, pick(b < a, 1.0, 0.0))
    store(rows, 6, pick(a <= 2.0, 1.0, 0.0))
    store(rows, 7, pick((a > 0.0) & (b > 0.0), 1.0, 0.0))
    store(rows, 8, 1.0 if any_lane(a > 100.0) else 0.0)


@compiled
def words(bits: UInt32, rows: Float32) -> None:
    a, b = load_bits(bits, 0), load_bits(bits, 1)
    store(rows, 0, reinterpret(a + b))
    store(rows, 1, reinterpret(a * b + np.uint32(0x9E3779B9)))
    store(rows, 2, reinterpret(a ^ (b >> 16)))
    store(rows, 3, reinterpret(a << 5))
    store(rows, 4, signed(a))
    store(rows, 5, reinterpret(pick(signed(a) > 0.0, a, b)))


@compiled
def conversions(rows: Float32) -> None:
    a = load(rows, 0)
    store(rows, 1, signed(whole(a)))
    store(rows, 2, reinterpret(pattern(a) ^ np.uint32(1 << 31)))


def rows_of(count: int) -> Float32:
    rows = lane_array(count)
    rows[:2] = np.random.default_rng(0).normal(size=(2, LANE_COUNT))
    return rows


@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")  # roots below 0, in numpy
@pytest.mark.parametrize(
    ("row", "expected"),
    [
        (2, lambda a, b: a + b),
        (3, lambda a, b: a - b),
        (4, lambda a, b: a * b),
        (5, lambda a, b: a / b),
        (6, lambda a, b: a * 2 + 1),
        (7, lambda a, b: 1 - 3 * a),
        (8, lambda a, b: np.full_like(a, 7)),
        (9, lambda a, b: np.sqrt(a)),
        (10, lambda a, b: np.abs(a) + 0.5),
    ],
)
def test_arithmetic_is_lane_by_lane(
    row: int, expected: Callable[[Float32, Float32], Float32]
) -> None:
    rows = rows_of(11)
    a, b = rows[0].copy(), rows[1].copy()
    arithmetic(rows)
    np.testing.assert_allclose(rows[row], expected(a, b), rtol=1e-5, atol=1e-6)


def test_choices_are_lane_by_lane_and_no_comparison_with_nan_is_true() -> None:
    rows = rows_of(9)
    rows[0, :2] = np.nan, 2.0
    rows[1, 2] = np.nan
    a, b = rows[0].copy(), rows[1].copy()
    choices(rows)
    np.testing.assert_array_equal(rows[2], np.where(a > b, a, b))
    np.testing.assert_array_equal(rows[3], np.where(a == 2.0, 1.0, b))
    np.testing.assert_array_equal(rows[4], a >= 2.0)
    np.testing.assert_array_equal(rows[5], b < a)
    np.testing.assert_array_equal(rows[6], a <= 2.0)
    np.testing.assert_array_equal(rows[7], (a > 0.0) & (b > 0.0))


@pytest.mark.parametrize("lane", [0, 7, LANE_COUNT - 1])
def test_any_lane_is_heard(lane: int) -> None:
    rows = rows_of(9)
    choices(rows)
    np.testing.assert_array_equal(rows[8], 0.0)
    rows[0, lane] = 101.0
    choices(rows)
    np.testing.assert_array_equal(rows[8], 1.0)


def test_words_wrap_and_shift_as_those_of_numpy() -> None:
    bits = np.random.default_rng(0).integers(0, 2**32, (2, LANE_COUNT), dtype=np.uint32)
    rows = lane_array(6)
    words(bits, rows)
    a, b = bits
    expected = [a + b, a * b + np.uint32(0x9E3779B9), a ^ (b >> np.uint32(16)), a << np.uint32(5)]
    np.testing.assert_array_equal(rows.view(np.uint32)[:4], expected)
    np.testing.assert_array_equal(rows[4], a.view(np.int32).astype(np.float32))
    np.testing.assert_array_equal(rows.view(np.uint32)[5], np.where(a.view(np.int32) > 0, a, b))


def test_numbers_are_cut_to_whole_ones_and_seen_as_their_bits() -> None:
    rows = rows_of(3)
    rows[0, :4] = 3.99, -3.99, 2e9, -0.2
    conversions(rows)
    np.testing.assert_array_equal(rows[1], np.trunc(rows[0]))
    np.testing.assert_array_equal(rows[2], -rows[0])
