"""Rows of W lanes in memory, where vectors are fast to read: each row begins a cache line."""

import math
from typing import Any, Final

import numpy as np
from numba.extending import overload
from numpy.typing import NDArray

from rolecast.core.compiled import compiled, compiled_exactly
from rolecast.core.simd.place import block_stride, first_block, first_lane, lane_stop
from rolecast.core.types import LANE_COUNT, Float, Float32

CACHE_LINE: Final = 64
"""Bytes that memory moves at once; a row of W float32 is one such line."""


def lane_array(*shape: int) -> Float32:
    """Return zeros [*shape, W] whose rows begin where cache lines do.

    A row that straddles two lines takes two reads; NumPy's own arrays begin anywhere.
    """
    size = math.prod(shape) * LANE_COUNT
    memory = np.zeros(size + CACHE_LINE // 4, dtype=np.float32)
    start = -memory.ctypes.data % CACHE_LINE // 4
    return memory[start : start + size].reshape(*shape, LANE_COUNT)


def workspace(count: int) -> Float32:
    """Return `count` rows as `lane_array` does, not set to anything, inside a kernel.

    Raises:
        TypeError: called outside.
    """
    raise TypeError("a workspace exists inside compiled kernels alone")


@overload(workspace, jit_options={"forceinline": True})
def _workspace(count: Any) -> Any:
    def allocated(count: Any) -> Any:
        memory = np.empty((count + 1) * LANE_COUNT, dtype=np.float32)
        start = -memory.ctypes.data % CACHE_LINE // 4
        return memory[start : start + count * LANE_COUNT].reshape(count, LANE_COUNT)

    return allocated


@compiled
def gather_lanes(rows: Float32, index: NDArray[np.int64], lanes: Float32) -> None:
    """Write row index[k, w] of rows [P, D] to lane w of block k of lanes [K, D, W]."""
    for k in range(first_block(), lanes.shape[0], block_stride()):
        for d in range(lanes.shape[1]):
            for w in range(first_lane(), lane_stop()):
                lanes[k, d, w] = rows[index[k, w], d]


@compiled_exactly
def spread_rows(rows: Float | Float32, lanes: Float32) -> None:
    """Write row l of rows [L, D] to lane l of lanes [K, D, W]; lanes past the last repeat it."""
    for k in range(lanes.shape[0]):
        for w in range(LANE_COUNT):
            row = min(k * LANE_COUNT + w, rows.shape[0] - 1)
            for d in range(lanes.shape[1]):
                lanes[k, d, w] = rows[row, d]


@compiled_exactly
def gather_rows(lanes: Float | Float32, rows: Float) -> None:
    """Undo `spread_rows`, in float64."""
    for row in range(rows.shape[0]):
        k, w = row // LANE_COUNT, row % LANE_COUNT
        for d in range(rows.shape[1]):
            rows[row, d] = lanes[k, d, w]
