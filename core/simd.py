"""W lanes as one value inside compiled kernels: `load`, arithmetic, comparisons, `pick`, `store`.

A loop over LANES numbers is at the mercy of the compiler: it unrolls the short ones before it looks
for vectors, and gives up where too many arrays might overlap. Measured here, a layer of an MLP ran
20 times slower than its vectors can. So a kernel says what it means: `Lanes` (float32), `Bits`
(32-bit words, for random numbers) and `Mask` (one truth value a lane) are types of their own in
compiled code, W numbers in registers, with operators among lanes and with scalars. Each lane's
arithmetic has one order, whatever runs beside it.
"""

import operator
import typing
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.core.cgutils import get_or_insert_function
from numba.extending import intrinsic, models, overload, register_model

from rolecast.core.counter_random import UInt32
from rolecast.core.types import LANE_COUNT, Float32


class VectorType(types.Type):
    """Numba's type of W numbers in a register."""

    def __init__(self, name: str, element: Any, scalar: Any) -> None:
        super().__init__(name=name)
        self.vector = ir.VectorType(element, LANE_COUNT)
        self.scalar = scalar


LANES_TYPE: Final[Any] = VectorType("Lanes", ir.FloatType(), types.float32)
BITS_TYPE: Final[Any] = VectorType("Bits", ir.IntType(32), types.uint32)
MASK_TYPE: Final[Any] = VectorType("Mask", ir.IntType(1), types.boolean)


@register_model(VectorType)
class VectorModel(models.PrimitiveModel):
    """Keeps such a value in a vector register."""

    def __init__(self, manager: Any, frontend_type: Any) -> None:
        super().__init__(manager, frontend_type, frontend_type.vector)  # type: ignore[no-untyped-call]


def _fits(kind: Any, wanted: Any) -> bool:
    """Whether a value of a type can stand where a vector type is wanted: it, or a scalar."""
    return bool(kind == wanted or isinstance(kind, types.Number))


def _vector(context: Any, builder: Any, wanted: Any, kind: Any, value: Any) -> Any:
    """Return value as a vector of the wanted type; a scalar goes into every lane."""
    if kind == wanted:
        return value
    scalar = context.cast(builder, value, kind, wanted.scalar)
    first, undefined = ir.Constant(ir.IntType(32), 0), ir.Constant(wanted.vector, ir.Undefined)
    single = builder.insert_element(undefined, scalar, first)
    spread = ir.Constant(ir.VectorType(ir.IntType(32), LANE_COUNT), [0] * LANE_COUNT)
    return builder.shuffle_vector(single, undefined, spread)


def _vectors(context: Any, builder: Any, wanted: Any, signature: Any, values: Any) -> list[Any]:
    """Return all arguments of an intrinsic as vectors of one type."""
    pairs = zip(signature.args, values, strict=True)
    return [_vector(context, builder, wanted, kind, value) for kind, value in pairs]


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
        vector = _vector(context, builder, LANES_TYPE, kinds[2], values[2])
        place = values[0], values[1], LANES_TYPE.vector
        address = _address(context, builder, kinds[0], *place)
        builder.store(vector, address, align=4)
        return context.get_dummy_value()

    return types.void(rows, types.intp, value), emit


def _spread(_: Any, value: Any) -> Any:
    def emit(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return _vector(context, builder, LANES_TYPE, signature.args[0], values[0])

    return (LANES_TYPE(value), emit) if isinstance(value, types.Number) else None


def _pick(_: Any, mask: Any, then: Any, otherwise: Any) -> Any:
    kind = BITS_TYPE if BITS_TYPE in (then, otherwise) else LANES_TYPE
    if mask != MASK_TYPE or not (_fits(then, kind) and _fits(otherwise, kind)):
        return None

    def emit(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        yes, no = (_vector(context, builder, kind, signature.args[i], values[i]) for i in (1, 2))
        return builder.select(values[0], yes, no)

    return kind(mask, then, otherwise), emit


def _any_lane(_: Any, mask: Any) -> Any:
    if mask != MASK_TYPE:
        return None

    def emit(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        together = builder.bitcast(values[0], ir.IntType(LANE_COUNT))
        return builder.icmp_unsigned("!=", together, ir.Constant(together.type, 0))

    return types.boolean(mask), emit


def _unary(of: Any, result: Any, instruction: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    """Return an intrinsic's body of one argument: Python would overload no operator for it."""

    def apply(_: Any, value: Any) -> Any:
        if value != of:
            return None

        def emit(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            return instruction(builder, values[0])

        return result(value), emit

    return apply


def _library(name: str) -> Callable[[Any, Any], Any]:
    """Return the call of a function of one float vector that the compiler itself knows."""
    kind = ir.FunctionType(LANES_TYPE.vector, [LANES_TYPE.vector])

    def call(builder: Any, value: Any) -> Any:
        sized = f"llvm.{name}.v{LANE_COUNT}f32"
        declare: Any = get_or_insert_function
        return builder.call(declare(builder.module, kind, sized), [value])

    return call


def _binary(of: Any, result: Any, instruction: Callable[[Any, Any, Any], Any]) -> Any:
    """Return the intrinsic of one operation among lanes, or lanes and a scalar on either side."""

    def apply(_: Any, left: Any, right: Any) -> Any:
        kinds = (left, right)
        if of not in kinds or not all(_fits(kind, of) for kind in kinds):
            return None

        def emit(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            return instruction(builder, *_vectors(context, builder, of, signature, values))

        return result(left, right), emit

    return intrinsic(apply)


def _define_operator(operation: Callable[..., Any], of: Any, apply: Any) -> None:
    """Give a vector type one operator."""

    @overload(operation)
    def implementation(left: Any, right: Any) -> Any:
        kinds = (left, right)
        return applied if of in kinds and all(_fits(kind, of) for kind in kinds) else None

    # Numba wants the parameters of both, annotations included, to be the same.
    def applied(left: Any, right: Any) -> Any:
        return apply(left, right)


def _instruction(name: str) -> Callable[[Any, Any, Any], Any]:
    return lambda builder, left, right: getattr(builder, name)(left, right)


def _comparison(condition: str) -> Callable[[Any, Any, Any], Any]:
    return lambda builder, left, right: builder.fcmp_ordered(condition, left, right)


for _operation, _of, _name in (
    (operator.add, LANES_TYPE, "fadd"),
    (operator.sub, LANES_TYPE, "fsub"),
    (operator.mul, LANES_TYPE, "fmul"),
    (operator.truediv, LANES_TYPE, "fdiv"),
    (operator.add, BITS_TYPE, "add"),
    (operator.mul, BITS_TYPE, "mul"),
    (operator.xor, BITS_TYPE, "xor"),
    (operator.lshift, BITS_TYPE, "shl"),
    (operator.rshift, BITS_TYPE, "lshr"),
    (operator.and_, MASK_TYPE, "and_"),
):
    _define_operator(_operation, _of, _binary(_of, _of, _instruction(_name)))
for _operation, _name in (
    (operator.gt, ">"),
    (operator.ge, ">="),
    (operator.lt, "<"),
    (operator.le, "<="),
):
    _define_operator(_operation, LANES_TYPE, _binary(LANES_TYPE, MASK_TYPE, _comparison(_name)))


if TYPE_CHECKING:
    Scalar = float | np.float32

    class Mask:
        """W truth values, one a lane; exists, as the two below, only inside compiled kernels."""

        def __and__(self, other: "Mask") -> "Mask": ...

    class Lanes:
        """W float32 numbers, one a lane. No comparison with NaN is true."""

        def __add__(self, other: "Lanes | Scalar") -> "Lanes": ...
        def __radd__(self, other: Scalar) -> "Lanes": ...
        def __sub__(self, other: "Lanes | Scalar") -> "Lanes": ...
        def __rsub__(self, other: Scalar) -> "Lanes": ...
        def __mul__(self, other: "Lanes | Scalar") -> "Lanes": ...
        def __rmul__(self, other: Scalar) -> "Lanes": ...
        def __truediv__(self, other: "Lanes | Scalar") -> "Lanes": ...
        def __rtruediv__(self, other: Scalar) -> "Lanes": ...
        def __gt__(self, other: "Lanes | Scalar") -> Mask: ...
        def __ge__(self, other: "Lanes | Scalar") -> Mask: ...
        def __lt__(self, other: "Lanes | Scalar") -> Mask: ...
        def __le__(self, other: "Lanes | Scalar") -> Mask: ...

    class Bits:
        """W words of 32 bits, one a lane; sums and products wrap, shifts fill with 0."""

        def __add__(self, other: "Bits | int | np.uint32") -> "Bits": ...
        def __mul__(self, other: "Bits | int | np.uint32") -> "Bits": ...
        def __xor__(self, other: "Bits | int | np.uint32") -> "Bits": ...
        def __lshift__(self, other: int) -> "Bits": ...
        def __rshift__(self, other: int) -> "Bits": ...

    def load(rows: Float32, index: int) -> Lanes:
        """Return row `index` of a C-ordered array [k, W]."""

    def load_bits(rows: UInt32, index: int) -> Bits:
        """Return row `index` of a C-ordered array [k, W] of words."""

    def spread(value: Scalar) -> Lanes:
        """Return a scalar in every lane."""

    def store(rows: Float32, index: int, value: Lanes | Scalar) -> None:
        """Write row `index` of a C-ordered array [k, W]; a scalar goes into every lane."""

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
    Lanes = Bits = Mask = VectorType
    load = intrinsic(_loader(LANES_TYPE))
    load_bits = intrinsic(_loader(BITS_TYPE))
    store = intrinsic(_store)
    spread = intrinsic(_spread)
    pick = intrinsic(_pick)
    equal = _binary(LANES_TYPE, MASK_TYPE, _comparison("=="))
    any_lane = intrinsic(_any_lane)
    square_root = intrinsic(_unary(LANES_TYPE, LANES_TYPE, _library("sqrt")))
    magnitude = intrinsic(_unary(LANES_TYPE, LANES_TYPE, _library("fabs")))
    signed = intrinsic(
        _unary(BITS_TYPE, LANES_TYPE, lambda builder, x: builder.sitofp(x, LANES_TYPE.vector))
    )
    whole = intrinsic(
        _unary(LANES_TYPE, BITS_TYPE, lambda builder, x: builder.fptosi(x, BITS_TYPE.vector))
    )
    pattern = intrinsic(
        _unary(LANES_TYPE, BITS_TYPE, lambda builder, x: builder.bitcast(x, BITS_TYPE.vector))
    )
    reinterpret = intrinsic(
        _unary(BITS_TYPE, LANES_TYPE, lambda builder, x: builder.bitcast(x, LANES_TYPE.vector))
    )
