"""Functions of lanes: choice, comparison for equality, roots, signs and bits."""

import typing
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from llvmlite import ir
from numba.core import types
from numba.core.cgutils import get_or_insert_function
from numba.extending import intrinsic

from rolecast.core.simd.operators import Bits, Lanes, Mask, Scalar, binary, comparison, instruction
from rolecast.core.simd.types import (
    BITS_TYPE,
    INT32_TYPE,
    LANES_TYPE,
    MASK_TYPE,
    as_vector,
    fits,
    is_vector,
    on_target,
)
from rolecast.core.types import LANE_COUNT


def _pick(_: Any, mask: Any, then: Any, otherwise: Any) -> Any:
    kind = BITS_TYPE if BITS_TYPE in (then, otherwise) else LANES_TYPE
    if mask != MASK_TYPE or not (fits(then, kind) and fits(otherwise, kind)):
        return None

    def emit(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        yes, no = (as_vector(context, builder, kind, signature.args[i], values[i]) for i in (1, 2))
        return builder.select(values[0], yes, no)

    return kind(mask, then, otherwise), emit


def _any_lane(_: Any, mask: Any) -> Any:
    if mask != MASK_TYPE:
        return None

    def emit(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        if not is_vector(values[0]):
            return values[0]
        together = builder.bitcast(values[0], ir.IntType(LANE_COUNT))
        return builder.icmp_unsigned("!=", together, ir.Constant(together.type, 0))

    return types.boolean(mask), emit


def _unary(of: Any, result: Any, emitted: Callable[[Any, Any, Any], Any]) -> Callable[..., Any]:
    """Return an intrinsic's body of one argument: Python would overload no operator for it.

    Args:
        of: type of the argument.
        result: type of the result.
        emitted: emits it, from a builder, an argument and LLVM's type of the result.
    """

    def apply(_: Any, value: Any) -> Any:
        if value != of:
            return None

        def emit(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            return emitted(builder, values[0], on_target(context, result))

        return result(value), emit

    return apply


def _library(name: str) -> Callable[[Any, Any, Any], Any]:
    """Return the call of a function of one float vector that the compiler itself knows."""

    def call(builder: Any, value: Any, result: Any) -> Any:
        kind = ir.FunctionType(result, [value.type])
        sized = f"llvm.{name}.v{LANE_COUNT}f32" if is_vector(value) else f"llvm.{name}.f32"
        declare: Any = get_or_insert_function
        return builder.call(declare(builder.module, kind, sized), [value])

    return call


def _magnitude(builder: Any, value: Any, result: Any) -> Any:
    """Emit a number without its sign; CUDA's compiler does not know the function of LLVM."""
    if is_vector(value):
        return _library("fabs")(builder, value, result)
    bits = builder.and_(builder.bitcast(value, INT32_TYPE), ir.Constant(INT32_TYPE, 0x7FFFFFFF))
    return builder.bitcast(bits, result)


if TYPE_CHECKING:

    @typing.overload
    def pick(mask: Mask, then: Bits, otherwise: Bits) -> Bits: ...
    @typing.overload
    def pick(mask: Mask, then: Lanes | Scalar, otherwise: Lanes | Scalar) -> Lanes: ...
    def pick(mask: Mask, then: Any, otherwise: Any) -> Any:
        """Return, lane by lane, `then` where the mask holds, else `otherwise`."""

    def equal(left: Lanes | Scalar, right: Lanes | Scalar) -> Mask:
        """Return, lane by lane, whether left == right."""

    def any_lane(mask: Mask) -> bool:
        """Return whether the mask holds in any lane: may decide what is computed, not its value."""

    def square_root(value: Lanes) -> Lanes:
        """Return the correctly rounded square root of every lane; NaN below 0."""

    def magnitude(value: Lanes) -> Lanes:
        """Return every lane without its sign."""

    def signed(value: Bits) -> Lanes:
        """Return every word, read as a two's-complement integer, as the nearest float32."""

    def whole(value: Lanes) -> Bits:
        """Return the integer part of every lane, of magnitude below 2^31, as two's complement."""

    def pattern(value: Lanes) -> Bits:
        """Return the bits of every lane; undoes `reinterpret`."""

    def reinterpret(value: Bits) -> Lanes:
        """Return the float32 numbers that have these bits."""

else:
    pick = intrinsic(_pick)
    equal = binary(LANES_TYPE, MASK_TYPE, comparison("=="))
    any_lane = intrinsic(_any_lane)
    square_root = intrinsic(_unary(LANES_TYPE, LANES_TYPE, _library("sqrt")))
    magnitude = intrinsic(_unary(LANES_TYPE, LANES_TYPE, _magnitude))
    signed = intrinsic(_unary(BITS_TYPE, LANES_TYPE, instruction("sitofp")))
    whole = intrinsic(_unary(LANES_TYPE, BITS_TYPE, instruction("fptosi")))
    pattern = intrinsic(_unary(LANES_TYPE, BITS_TYPE, instruction("bitcast")))
    reinterpret = intrinsic(_unary(BITS_TYPE, LANES_TYPE, instruction("bitcast")))
