"""Rows of arrays [.., W] as vectors: read, write, and a scalar in every lane.

On CUDA a thread reads and writes its own lane. An array [k] is there a thread's own workspace.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.core.errors import TypingError
from numba.extending import intrinsic

from rolecast.core.counter_random import UInt32
from rolecast.core.simd.operators import Bits, Lanes, Scalar
from rolecast.core.simd.place import lane_of_thread
from rolecast.core.simd.types import BITS_TYPE, LANES_TYPE, as_vector, on_target
from rolecast.core.types import LANE_COUNT, Float32


def _element(context: Any, builder: Any, kind: Any, rows: Any, index: Any, lane: Any) -> Any:
    """Return the address of a lane's number in row `index` of an array; of the first for None."""
    array = context.make_array(kind)(context, builder, value=rows)
    offset = index
    if kind.ndim > 1:
        offset = builder.mul(index, ir.Constant(index.type, LANE_COUNT))
        if lane is not None:
            offset = builder.add(offset, lane)
    return builder.gep(array.data, [offset])


def _address(context: Any, builder: Any, kind: Any, rows: Any, index: Any, form: Any) -> Any:
    """Return the address of row `index` of an array, as a pointer to LLVM's type `form`."""
    lane = None
    if isinstance(form, ir.VectorType):
        if kind.ndim == 1:
            raise TypingError(f"rows of {kind}; expected an array [.., W]")
    elif kind.ndim > 1:
        lane = builder.zext(lane_of_thread(builder), index.type)
    element = _element(context, builder, kind, rows, index, lane)
    return builder.bitcast(element, form.as_pointer())


def _is_rows(kind: Any, of: Any) -> bool:
    """Whether a type is a C-ordered array of the scalars of a vector type."""
    return isinstance(kind, types.Array) and kind.layout == "C" and kind.dtype == of.scalar


def _loader(of: Any) -> Callable[..., Any]:
    """Return an intrinsic's body that reads one row as a vector type."""

    def read(_: Any, rows: Any, index: Any) -> Any:
        if not _is_rows(rows, of):
            return None

        def emit(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            place = values[0], values[1], on_target(context, of)
            address = _address(context, builder, signature.args[0], *place)
            return builder.load(address, align=4)

        return of(rows, types.intp), emit

    return read


def _store(_: Any, rows: Any, index: Any, value: Any) -> Any:
    if not _is_rows(rows, LANES_TYPE):
        return None

    def emit(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        kinds = signature.args
        vector = as_vector(context, builder, LANES_TYPE, kinds[2], values[2])
        place = values[0], values[1], vector.type
        address = _address(context, builder, kinds[0], *place)
        builder.store(vector, address, align=4)
        return context.get_dummy_value()

    return types.void(rows, types.intp, value), emit


def _load_lane(_: Any, rows: Any, index: Any, lane: Any) -> Any:
    if not _is_rows(rows, LANES_TYPE):
        return None

    def emit(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return builder.load(_element(context, builder, signature.args[0], *values))

    return types.float32(rows, types.intp, types.intp), emit


def _store_lane(_: Any, rows: Any, index: Any, lane: Any, value: Any) -> Any:
    if not (_is_rows(rows, LANES_TYPE) and isinstance(value, types.Number)):
        return None

    def emit(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        number = context.cast(builder, values[3], signature.args[3], types.float32)
        builder.store(number, _element(context, builder, signature.args[0], *values[:3]))
        return context.get_dummy_value()

    return types.void(rows, types.intp, types.intp, value), emit


def _spread(_: Any, value: Any) -> Any:
    def emit(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return as_vector(context, builder, LANES_TYPE, signature.args[0], values[0])

    return (LANES_TYPE(value), emit) if isinstance(value, types.Number) else None


if TYPE_CHECKING:

    def load(rows: Float32, index: int) -> Lanes:
        """Return row `index` of a C-ordered array [.., W]."""

    def load_bits(rows: UInt32, index: int) -> Bits:
        """Return row `index` of a C-ordered array [.., W] of words."""

    def spread(value: Scalar) -> Lanes:
        """Return a scalar in every lane."""

    def store(rows: Float32, index: int, value: Lanes | Scalar) -> None:
        """Write row `index` of a C-ordered array [.., W]; a scalar goes into every lane."""

    def load_lane(rows: Float32, index: int, lane: int) -> np.float32:
        """Return one lane of row `index`; for loops from `first_lane` to `lane_stop` alone."""

    def store_lane(rows: Float32, index: int, lane: int, value: Scalar) -> None:
        """Write one lane of row `index`, as `load_lane` reads it."""

else:
    load_lane, store_lane = intrinsic(_load_lane), intrinsic(_store_lane)
    load = intrinsic(_loader(LANES_TYPE))
    load_bits = intrinsic(_loader(BITS_TYPE))
    store = intrinsic(_store)
    spread = intrinsic(_spread)
