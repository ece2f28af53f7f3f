"""What a kernel computes where it runs: on a CPU all blocks and lanes, on CUDA those of a thread.

W threads in a row play the W lanes of a block. Where there are more blocks than threads for them, a
thread takes several blocks, one after the other.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from llvmlite import ir
from numba.core import types
from numba.core.cgutils import get_or_insert_function
from numba.extending import intrinsic

from rolecast.core.simd.types import INT32_TYPE, LANES_TYPE, on_target
from rolecast.core.types import LANE_COUNT


def register(builder: Any, name: str) -> Any:
    """Return a special register of CUDA by its name, as `tid.x`."""
    read = ir.FunctionType(INT32_TYPE, [])
    declare: Any = get_or_insert_function
    return builder.call(declare(builder.module, read, f"llvm.nvvm.read.ptx.sreg.{name}"), [])


def lane_of_thread(builder: Any) -> Any:
    """Return the lane that is this CUDA thread's."""
    return builder.and_(register(builder, "tid.x"), ir.Constant(INT32_TYPE, LANE_COUNT - 1))


def _first_block(builder: Any) -> Any:
    before = builder.mul(register(builder, "ctaid.x"), register(builder, "ntid.x"))
    thread = builder.add(before, register(builder, "tid.x"))
    return builder.udiv(thread, ir.Constant(INT32_TYPE, LANE_COUNT))


def _block_stride(builder: Any) -> Any:
    threads = builder.mul(register(builder, "nctaid.x"), register(builder, "ntid.x"))
    return builder.udiv(threads, ir.Constant(INT32_TYPE, LANE_COUNT))


def _lane_stop(builder: Any) -> Any:
    return builder.add(lane_of_thread(builder), ir.Constant(INT32_TYPE, 1))


def _place(on_cpu: int, on_cuda: Callable[[Any], Any]) -> Callable[..., Any]:
    """Return an intrinsic's body of an integer: a constant on a CPU."""

    def place(_: Any) -> Any:
        def emit(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            kind = context.get_value_type(types.intp)
            if isinstance(on_target(context, LANES_TYPE), ir.VectorType):
                return ir.Constant(kind, on_cpu)
            return builder.zext(on_cuda(builder), kind)

        return types.intp(), emit

    return place


if TYPE_CHECKING:

    def first_block() -> int:
        """Return the first block that this thread computes: 0 on a CPU."""

    def block_stride() -> int:
        """Return the distance from one block of this thread to its next one: 1 on a CPU."""

    def first_lane() -> int:
        """Return the first lane that this thread computes: 0 on a CPU."""

    def lane_stop() -> int:
        """Return the lane after the last one that this thread computes: W on a CPU."""

else:
    first_block = intrinsic(_place(0, _first_block))
    block_stride = intrinsic(_place(1, _block_stride))
    first_lane = intrinsic(_place(0, lane_of_thread))
    lane_stop = intrinsic(_place(LANE_COUNT, _lane_stop))
