"""Rows of lanes in memory: where they begin, and what is put into them."""

import numpy as np
import pytest

from rolecast.core.compiled import compiled
from rolecast.core.lane_arrays import (
    CACHE_LINE,
    gather_lanes,
    gather_rows,
    lane_array,
    spread_rows,
    workspace,
)
from rolecast.core.types import LANE_COUNT


@compiled
def address_of_workspace(count: int) -> int:
    rows = workspace(count)
    rows[:] = np.float32(1.0)
    return int(rows.ctypes.data)


@pytest.mark.parametrize("count", [1, 2, 37])
def test_the_workspace_of_a_kernel_begins_where_a_cache_line_does(count: int) -> None:
    assert all(address_of_workspace(count) % CACHE_LINE == 0 for _ in range(5))


@pytest.mark.parametrize("shape", [(), (3,), (2, 5, 7)])
def test_rows_of_lanes_begin_where_cache_lines_do(shape: tuple[int, ...]) -> None:
    arrays = [lane_array(*shape) for _ in range(5)]
    assert all(array.shape == (*shape, LANE_COUNT) and not array.any() for array in arrays)
    assert all(array.ctypes.data % CACHE_LINE == 0 for array in arrays)
    assert all(array.flags.c_contiguous for array in arrays)


def test_every_lane_holds_the_row_that_is_named_for_it() -> None:
    rng = np.random.default_rng(0)
    rows, index = rng.normal(size=(5, 3)).astype(np.float32), rng.integers(0, 5, (4, LANE_COUNT))
    lanes = lane_array(4, 3)
    gather_lanes(rows, index, lanes)
    np.testing.assert_array_equal(lanes, np.moveaxis(rows[index], 1, -1))


@pytest.mark.parametrize("length", [1, 16, 37])
def test_rows_in_lanes_come_back_and_the_last_one_fills_the_block(length: int) -> None:
    rows = np.random.default_rng(0).normal(size=(length, 5))
    blocks = -(-length // LANE_COUNT)
    lanes, back = lane_array(blocks, 5), np.empty_like(rows)
    spread_rows(rows, lanes)
    gather_rows(lanes, back)
    np.testing.assert_array_equal(back, rows.astype(np.float32))
    filled = lanes.transpose(0, 2, 1).reshape(-1, 5)[length:]
    np.testing.assert_array_equal(filled, np.repeat(back[-1:], len(filled), axis=0))
