"""Lanes as one value in compiled kernels, against numpy."""

from collections.abc import Callable

import numpy as np
import pytest

from rolecast.envs.compiled import compiled
from rolecast.envs.lane_vectors import load, pick_equal, pick_greater, store
from rolecast.envs.spec import LANES, Float32


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


@compiled
def choices(rows: Float32) -> None:
    a, b = load(rows, 0), load(rows, 1)
    store(rows, 2, pick_greater(a, b, a, b))
    store(rows, 3, pick_equal(a, 2.0, 1.0, b))


def rows_of(count: int) -> Float32:
    return np.random.default_rng(0).normal(size=(count, LANES)).astype(np.float32)


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
    ],
)
def test_arithmetic_is_lane_by_lane(
    row: int, expected: Callable[[Float32, Float32], Float32]
) -> None:
    rows = rows_of(9)
    a, b = rows[0].copy(), rows[1].copy()
    arithmetic(rows)
    np.testing.assert_allclose(rows[row], expected(a, b), rtol=1e-5, atol=1e-6)


def test_choices_are_lane_by_lane_and_nan_is_not_greater() -> None:
    rows = rows_of(4)
    rows[0, :2] = np.nan, 2.0
    rows[1, 2] = np.nan
    a, b = rows[0].copy(), rows[1].copy()
    choices(rows)
    np.testing.assert_array_equal(rows[2], np.where(a > b, a, b))
    np.testing.assert_array_equal(rows[3], np.where(a == 2.0, 1.0, b))
