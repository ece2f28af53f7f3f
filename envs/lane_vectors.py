"""W lanes as one value inside compiled kernels: `load`, arithmetic, `pick_*`, `store`.

A loop over LANES numbers is at the mercy of the compiler: it unrolls the short ones before it looks
for vectors, and gives up where too many arrays might overlap. Measured here, a layer of an MLP ran
20 times slower than its vectors can. So a kernel says what it means: `Lanes` is a type of its own
in compiled code, W float32 in registers, with +, -, *, / among lanes and with scalars. Each lane's
arithmetic has one order, whatever runs beside it.
"""

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic, models, overload, register_model

from rolecast.envs.spec import LANES, Float32

VECTOR: Final = ir.VectorType(ir.FloatType(), LANES)
"""What the compiler makes of `Lanes`."""


class LanesType(types.Type):
    """Numba's type of `Lanes`."""

    def __init__(self) -> None:
        super().__init__(name="Lanes")


LANES_TYPE: Final[Any] = LanesType()


@register_model(LanesType)
class LanesModel(models.PrimitiveModel):
    """Keeps `Lanes` in a vector register."""

    def __init__(self, manager: Any, frontend_type: Any) -> None:
        super().__init__(manager, frontend_type, VECTOR)  # type: ignore[no-untyped-call]


def _vector(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    """Return value as a vector; a scalar goes into every lane."""
    if kind == LANES_TYPE:
        return value
    scalar = context.cast(builder, value, kind, types.float32)
    first = ir.Constant(ir.IntType(32), 0)
    single = builder.insert_element(ir.Constant(VECTOR, ir.Undefined), scalar, first)
    spread = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
    return builder.shuffle_vector(single, ir.Constant(VECTOR, ir.Undefined), spread)


def _address(context: Any, builder: Any, kind: Any, rows: Any, index: Any) -> Any:
    """Return the address of row `index` of a C-ordered array [k, W]."""
    array = context.make_array(kind)(context, builder, value=rows)
    offset = builder.mul(index, ir.Constant(index.type, LANES))
    return builder.bitcast(builder.gep(array.data, [offset]), VECTOR.as_pointer())


def _is_rows(kind: Any) -> bool:
    """Whether a type is a C-ordered float32 array [k, W]."""
    return (
        isinstance(kind, types.Array)
        and kind.ndim == 2
        and kind.layout == "C"
        and kind.dtype == types.float32
    )


def _load(typing: Any, rows: Any, index: Any) -> Any:
    if not _is_rows(rows):
        return None

    def emit(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return builder.load(_address(context, builder, signature.args[0], *values), align=4)

    return LANES_TYPE(rows, types.intp), emit


def _store(typing: Any, rows: Any, index: Any, value: Any) -> Any:
    if not _is_rows(rows):
        return None

    def emit(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        kinds = signature.args
        vector = _vector(context, builder, kinds[2], values[2])
        builder.store(vector, _address(context, builder, kinds[0], *values[:2]), align=4)
        return context.get_dummy_value()

    return types.void(rows, types.intp, value), emit


def _picker(condition: str) -> Callable[..., Any]:
    """Return an intrinsic's body: one comparison, then a choice, lane by lane."""

    def pick(typing: Any, left: Any, right: Any, then: Any, otherwise: Any) -> Any:
        def emit(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            a, b, yes, no = (
                _vector(context, builder, kind, value)
                for kind, value in zip(signature.args, values, strict=True)
            )
            return builder.select(builder.fcmp_ordered(condition, a, b), yes, no)

        return LANES_TYPE(left, right, then, otherwise), emit

    return pick


def _define_operator(operation: Callable[..., Any], instruction: str) -> None:
    """Give `Lanes` one arithmetic operator, with lanes or a scalar on either side."""

    def lane_by_lane(typing: Any, left: Any, right: Any) -> Any:
        def emit(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            a, b = (
                _vector(context, builder, kind, value)
                for kind, value in zip(signature.args, values, strict=True)
            )
            return getattr(builder, instruction)(a, b)

        return LANES_TYPE(left, right), emit

    apply: Any = intrinsic(lane_by_lane)

    @overload(operation)
    def implementation(left: Any, right: Any) -> Any:
        kinds = (left, right)
        if LANES_TYPE in kinds and all(
            kind == LANES_TYPE or isinstance(kind, types.Number) for kind in kinds
        ):
            return applied
        return None

    # Numba wants the parameters of both, annotations included, to be the same.
    def applied(left: Any, right: Any) -> Any:
        return apply(left, right)


for _operation, _instruction in (
    (operator.add, "fadd"),
    (operator.sub, "fsub"),
    (operator.mul, "fmul"),
    (operator.truediv, "fdiv"),
):
    _define_operator(_operation, _instruction)


if TYPE_CHECKING:
    Scalar = float | np.float32

    class Lanes:
        """W float32 numbers, one a lane; exists only inside compiled kernels."""

        def __add__(self, other: "Lanes | Scalar") -> "Lanes": ...
        def __radd__(self, other: Scalar) -> "Lanes": ...
        def __sub__(self, other: "Lanes | Scalar") -> "Lanes": ...
        def __rsub__(self, other: Scalar) -> "Lanes": ...
        def __mul__(self, other: "Lanes | Scalar") -> "Lanes": ...
        def __rmul__(self, other: Scalar) -> "Lanes": ...
        def __truediv__(self, other: "Lanes | Scalar") -> "Lanes": ...
        def __rtruediv__(self, other: Scalar) -> "Lanes": ...

    def load(rows: Float32, index: int) -> Lanes:
        """Return row `index` of a C-ordered array [k, W]."""

    def store(rows: Float32, index: int, value: Lanes | Scalar) -> None:
        """Write row `index` of a C-ordered array [k, W]; a scalar goes into every lane."""

    def pick_greater(
        left: Lanes | Scalar, right: Lanes | Scalar, then: Lanes | Scalar, otherwise: Lanes | Scalar
    ) -> Lanes:
        """Return, lane by lane, `then` where left > right, else `otherwise`; NaN is not greater."""

    def pick_equal(
        left: Lanes | Scalar, right: Lanes | Scalar, then: Lanes | Scalar, otherwise: Lanes | Scalar
    ) -> Lanes:
        """Return, lane by lane, `then` where left == right, else `otherwise`."""
else:
    Lanes = LanesType
    load = intrinsic(_load)
    store = intrinsic(_store)
    pick_greater = intrinsic(_picker(">"))
    pick_equal = intrinsic(_picker("=="))
