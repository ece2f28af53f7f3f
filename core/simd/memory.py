"""Rows of arrays [k, W] as vectors: read, write, and a scalar in every lane."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from rolecast.core.counter_random import UInt32
from rolecast.core.simd.operators import Bits, Lanes, Scalar
from rolecast.core.simd.types import BITS_TYPE, LANES_TYPE, as_vector
from rolecast.core.types import LANE_COUNT, Float32


def _address(context: Any, builder: Any, kind: Any, rows: Any, index: Any, vector: Any) -> Any:
    """Return the address of row `index` of a C-ordered array [k, W]."""
    array = context.make_array(kind)(context, builder, value=rows)
    offset = builder.mul(index, ir.Constant(index.type, LANE_COUNT))
    return builder.bitcast(builder.gep(array.data, [offset]), vector.as_pointer())


def _is_rows(kind: Any, of: Any) -> bool:
    """Whether a type is a C-ordered array [k, W] of the scalars of a vector type."""
    return (
        isinstance(kind, types.Array)
        and kind.ndim == 2
        and kind.layout == "C"
        and kind.dtype == of.scalar
    )


def _loader(of: Any) -> Callable[..., Any]:
    """Return an intrinsic's body that reads one row as a vector type."""

    def read(_: Any, rows: Any, index: Any) -> Any:
        if not _is_rows(rows, of):
            return None

        def emit(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            place = values[0], values[1], of.vector
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
        place = values[0], values[1], LANES_TYPE.vector
        address = _address(context, builder, kinds[0], *place)
        builder.store(vector, address, align=4)
        return context.get_dummy_value()

    return types.void(rows, types.intp, value), emit


def _spread(_: Any, value: Any) -> Any:
    def emit(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return as_vector(context, builder, LANES_TYPE, signature.args[0], values[0])

    return (LANES_TYPE(value), emit) if isinstance(value, types.Number) else None


if TYPE_CHECKING:

    def load(rows: Float32, index: int) -> Lanes:
        """Return row `index` of a C-ordered array [k, W]."""

    def load_bits(rows: UInt32, index: int) -> Bits:
        """Return row `index` of a C-ordered array [k, W] of words."""

    def spread(value: Scalar) -> Lanes:
        """Return a scalar in every lane."""

    def store(rows: Float32, index: int, value: Lanes | Scalar) -> None:
        """Write row `index` of a C-ordered array [k, W]; a scalar goes into every lane."""

else:
    load = intrinsic(_loader(LANES_TYPE))
    load_bits = intrinsic(_loader(BITS_TYPE))
    store = intrinsic(_store)
    spread = intrinsic(_spread)
