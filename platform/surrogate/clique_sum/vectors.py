"""Vectors of 16 float32 or 8 float64 in compiled kernels, with functions for a Matérn kernel.

As `rolecast.core.simd`, but for two precisions: one source of a kernel serves both. The type of the
array loaded from decides. `reciprocal_root` and `exp2_minus` cost some ten instructions each; a
square root alone costs as much time as twenty others.
"""

import operator
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic
from numpy.polynomial import Chebyshev, Polynomial

from rolecast.core.simd.operators import binary, define_operator, instruction
from rolecast.core.simd.types import INT32_TYPE, VectorType, as_vector
from rolecast.core.types import Float, Float32

POLYNOMIAL_DEGREES: Final = {32: 5, 64: 10}
"""Degrees of the polynomial for 2^-f, by bits: relative errors of 1e-7 and 3e-16."""

MANTISSA_BITS: Final = {32: 23, 64: 52}
"""Bits of the mantissa, by bits of a number."""


FLOAT32_VECTOR: Final[Any] = VectorType("Float32Vector", ir.FloatType(), types.float32, 16)
FLOAT64_VECTOR: Final[Any] = VectorType("Float64Vector", ir.DoubleType(), types.float64, 8)
VECTOR_TYPES: Final = {types.float32: FLOAT32_VECTOR, types.float64: FLOAT64_VECTOR}


def _constant(form: Any, value: float) -> Any:
    return ir.Constant(form, [ir.Constant(form.element, value)] * form.count)


def _kind_in(buffer: Any) -> Any:
    """Return the vector type of a C-ordered array of one axis; None for other types."""
    if isinstance(buffer, types.Array) and buffer.ndim == 1 and buffer.layout == "C":
        return VECTOR_TYPES.get(buffer.dtype)
    return None


def _address(context: Any, builder: Any, kind: Any, buffer: Any, offset: Any) -> Any:
    array = context.make_array(kind)(context, builder, value=buffer)
    vector = _kind_in(kind).vector
    return builder.bitcast(builder.gep(array.data, [offset]), vector.as_pointer())


def _load(typing: Any, buffer: Any, offset: Any) -> Any:
    kind = _kind_in(buffer)

    def emit(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        place = _address(context, builder, signature.args[0], *values)
        return builder.load(place, align=kind.scalar.bitwidth // 8)

    return None if kind is None else (kind(buffer, types.intp), emit)


def _store(typing: Any, buffer: Any, offset: Any, value: Any) -> Any:
    kind = _kind_in(buffer)

    def emit(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        vector = as_vector(context, builder, kind, signature.args[2], values[2])
        place = _address(context, builder, signature.args[0], *values[:2])
        builder.store(vector, place, align=kind.scalar.bitwidth // 8)
        return context.get_dummy_value()

    return None if kind is None else (types.void(buffer, types.intp, value), emit)


def _limit(typing: Any, value: Any, top: Any) -> Any:
    def emit(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        bound = as_vector(context, builder, value, signature.args[1], values[1])
        return builder.select(builder.fcmp_ordered(">", values[0], bound), bound, values[0])

    return value(value, top), emit


def _total(typing: Any, value: Any) -> Any:
    def emit(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        (vector,) = values
        width = value.width
        while width > 1:
            width //= 2
            places = [*range(width, 2 * width), *range(width, 2 * width)]
            places = (places * (value.width // len(places)))[: value.width]
            order = ir.Constant(ir.VectorType(INT32_TYPE, value.width), places)
            vector = builder.fadd(vector, builder.shuffle_vector(vector, vector, order))
        return builder.extract_element(vector, ir.Constant(INT32_TYPE, 0))

    return value.scalar(value), emit


def _reciprocal_root(typing: Any, value: Any) -> Any:
    def emit(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        (x,) = values
        single = ir.VectorType(ir.FloatType(), value.width)
        rough = x if value == FLOAT32_VECTOR else builder.fptrunc(x, single)
        form = ir.FunctionType(single, [single])
        insert: Any = cgutils.get_or_insert_function
        root = insert(builder.module, form, f"llvm.sqrt.v{value.width}f32")
        quick = ("arcp", "afn", "contract", "reassoc", "nsz")
        rooted = builder.call(root, [rough], fastmath=quick)
        y = builder.fdiv(_constant(single, 1.0), rooted, flags=quick)
        if value == FLOAT32_VECTOR:
            return y
        # One Newton step y <- y + y (1 - x y^2) / 2: an error e of some 2^-22 becomes 1.5 e^2.
        y = builder.fpext(y, value.vector)
        error = builder.fmul(builder.fmul(x, y), y)
        error = builder.fsub(
            _constant(value.vector, 0.5), builder.fmul(error, _constant(value.vector, 0.5))
        )
        return builder.fadd(y, builder.fmul(y, error))

    return value(value), emit


def _exp2_minus(typing: Any, value: Any) -> Any:
    def emit(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        (turns,) = values
        bits, form = value.scalar.bitwidth, value.vector
        whole = builder.fptosi(turns, ir.VectorType(INT32_TYPE, value.width))
        part = builder.fsub(turns, builder.sitofp(whole, form))
        first, *others = _coefficients(POLYNOMIAL_DEGREES[bits])
        power = _constant(form, first)
        for coefficient in others:
            power = builder.fadd(builder.fmul(power, part), _constant(form, coefficient))
        integers = ir.VectorType(ir.IntType(bits), value.width)
        exponent = whole if bits == 32 else builder.sext(whole, integers)
        moved = builder.shl(exponent, ir.Constant(integers, [MANTISSA_BITS[bits]] * value.width))
        return builder.bitcast(builder.sub(builder.bitcast(power, integers), moved), form)

    return value(value), emit


def _coefficients(degree: int) -> list[float]:
    """Return coefficients of a polynomial near 2^-f on [0, 1], highest power first."""
    slope = Chebyshev.interpolate(
        lambda f: np.expm1(-f * np.log(2.0)) / f, degree - 1, domain=[0.0, 1.0]
    )
    powers = slope.convert(kind=Polynomial, domain=[-1.0, 1.0]).coef
    return [*map(float, powers[::-1]), 1.0]


for _of in VECTOR_TYPES.values():
    for _operation, _name in (
        (operator.add, "fadd"),
        (operator.sub, "fsub"),
        (operator.mul, "fmul"),
    ):
        define_operator(_operation, _of, binary(_of, _of, instruction(_name)))


Scalar = float | np.float32 | np.float64

if TYPE_CHECKING:

    class Vector:
        """Vector of 64 bytes of float32 or float64, in compiled kernels only."""

        def __add__(self, other: "Vector | Scalar") -> "Vector": ...
        def __radd__(self, other: Scalar) -> "Vector": ...
        def __sub__(self, other: "Vector | Scalar") -> "Vector": ...
        def __rsub__(self, other: Scalar) -> "Vector": ...
        def __mul__(self, other: "Vector | Scalar") -> "Vector": ...
        def __rmul__(self, other: Scalar) -> "Vector": ...

    def load(buffer: Float | Float32, offset: int) -> Vector:
        """Return the vector at `offset` of a C-ordered array of one axis."""

    def store(buffer: Float | Float32, offset: int, value: Vector | Scalar) -> None:
        """Write a vector at `offset`; a scalar is copied to all places."""

    def limit(value: Vector, top: Scalar) -> Vector:
        """Return min(value, top) place by place; NaN stays NaN."""

    def total(value: Vector) -> float:
        """Return the sum over the places of a vector."""

    def reciprocal_root(value: Vector) -> Vector:
        """Return 1 / sqrt(value), value in [1e-37, 1e37]; relative error 2e-7 or 1e-13."""

    def exp2_minus(turns: Vector) -> Vector:
        """Return 2^-turns, turns in [0, 126] or [0, 1022]."""
else:
    Vector = VectorType
    load = intrinsic(_load)
    store = intrinsic(_store)
    limit = intrinsic(_limit)
    total = intrinsic(_total)
    reciprocal_root = intrinsic(_reciprocal_root)
    exp2_minus = intrinsic(_exp2_minus)
