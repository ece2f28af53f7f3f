"""Types of vectors in registers, for compiled code: W lanes, and vectors of 64 bytes.

Numba knows a vector type by its name; its element is LLVM's, its scalar is Numba's. On CUDA each
lane is a thread, and a value of these types is the element that is this thread's
(`rolecast.core.simd.cuda`).
"""

from typing import Any, Final

from llvmlite import ir
from numba.core import types
from numba.extending import models, register_model

from rolecast.core.types import LANE_COUNT

INT32_TYPE: Final = ir.IntType(32)


class VectorType(types.Type):
    """Numba's type of some numbers in a register."""

    def __init__(self, name: str, element: Any, scalar: Any, width: int = LANE_COUNT) -> None:
        super().__init__(name=name)
        self.width = width
        self.vector = ir.VectorType(element, width)
        self.scalar = scalar


LANES_TYPE: Final[Any] = VectorType("Lanes", ir.FloatType(), types.float32)
BITS_TYPE: Final[Any] = VectorType("Bits", INT32_TYPE, types.uint32)
MASK_TYPE: Final[Any] = VectorType("Mask", ir.IntType(1), types.boolean)


@register_model(VectorType)
class VectorModel(models.PrimitiveModel):
    """Keeps such a value in a vector register."""

    def __init__(self, manager: Any, frontend_type: Any) -> None:
        super().__init__(manager, frontend_type, frontend_type.vector)  # type: ignore[no-untyped-call]


def fits(kind: Any, wanted: Any) -> bool:
    """Tell whether a value of a type can stand for a vector type: it, or a scalar."""
    return bool(kind == wanted or isinstance(kind, types.Number))


def on_target(context: Any, kind: Any) -> Any:
    """Return LLVM's type of a vector type where code is compiled for: on CUDA its element."""
    return context.get_value_type(kind)


def is_vector(value: Any) -> bool:
    """Tell whether a value of LLVM holds all lanes, as it does on a CPU."""
    return isinstance(value.type, ir.VectorType)


def as_vector(context: Any, builder: Any, wanted: Any, kind: Any, value: Any) -> Any:
    """Return a value as a vector of the wanted type; a scalar goes into every lane."""
    if kind == wanted:
        return value
    scalar = context.cast(builder, value, kind, wanted.scalar)
    if not isinstance(on_target(context, wanted), ir.VectorType):
        return scalar
    first, undefined = ir.Constant(INT32_TYPE, 0), ir.Constant(wanted.vector, ir.Undefined)
    single = builder.insert_element(undefined, scalar, first)
    spread = ir.Constant(ir.VectorType(INT32_TYPE, wanted.width), [0] * wanted.width)
    return builder.shuffle_vector(single, undefined, spread)


def as_vectors(context: Any, builder: Any, wanted: Any, signature: Any, values: Any) -> list[Any]:
    """Return all arguments of an intrinsic as vectors of one type."""
    pairs = zip(signature.args, values, strict=True)
    return [as_vector(context, builder, wanted, kind, value) for kind, value in pairs]
