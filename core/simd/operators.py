"""Operators among lanes and with scalars; the types as a checker sees them."""

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numba.extending import intrinsic, overload

from rolecast.core.simd.types import (
    BITS_TYPE,
    LANES_TYPE,
    MASK_TYPE,
    VectorType,
    as_vectors,
    fits,
)

Scalar = float | np.float32


def binary(of: Any, result: Any, emitted: Callable[[Any, Any, Any], Any]) -> Any:
    """Return the intrinsic of one operation among lanes, or lanes and a scalar on either side."""

    def apply(_: Any, left: Any, right: Any) -> Any:
        kinds = (left, right)
        if of not in kinds or not all(fits(kind, of) for kind in kinds):
            return None

        def emit(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            return emitted(builder, *as_vectors(context, builder, of, signature, values))

        return result(left, right), emit

    return intrinsic(apply)


def define_operator(operation: Callable[..., Any], of: Any, apply: Any) -> None:
    """Give a vector type one operator."""

    @overload(operation)
    def implementation(left: Any, right: Any) -> Any:
        kinds = (left, right)
        return applied if of in kinds and all(fits(kind, of) for kind in kinds) else None

    # Numba wants the parameters of both, annotations included, to be the same.
    def applied(left: Any, right: Any) -> Any:
        return apply(left, right)


def instruction(name: str) -> Callable[[Any, Any, Any], Any]:
    """Return what emits an instruction of LLVM by its name."""
    return lambda builder, left, right: getattr(builder, name)(left, right)


def comparison(condition: str) -> Callable[[Any, Any, Any], Any]:
    """Return what emits a comparison that is false where a lane is NaN."""
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
    define_operator(_operation, _of, binary(_of, _of, instruction(_name)))
for _operation, _name in (
    (operator.gt, ">"),
    (operator.ge, ">="),
    (operator.lt, "<"),
    (operator.le, "<="),
):
    define_operator(_operation, LANES_TYPE, binary(LANES_TYPE, MASK_TYPE, comparison(_name)))


if TYPE_CHECKING:

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

else:
    Lanes = Bits = Mask = VectorType
