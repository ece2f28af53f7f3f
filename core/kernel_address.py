"""Calls of a compiled kernel by the address of its machine code, from inside another one.

The caller is compiled for the types of the arguments, not for the kernel: what plays episodes is
compiled once for all policies of a kind, and kept on disk as any kernel is.
"""

from typing import Any

import numba
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

building: Any = cgutils


def kernel_address(kernel: Any, arguments: tuple[Any, ...]) -> int | None:
    """Return where the machine code of a kernel is that has been called with such arguments.

    None: it is no compiled function, or was compiled for other types than exactly these, or it
    returns something.
    """
    kinds = tuple(map(numba.typeof, arguments))
    kept = getattr(kernel, "overloads", {}).get(kinds)
    if kept is None or kept.signature.return_type != types.none:
        return None
    return int(kept.library.get_pointer_to_function(kept.fndesc.llvm_func_name))


def _call_kernel(typing: Any, address: Any, arguments: Any) -> Any:
    kinds = tuple(arguments)

    def generate(context: Any, builder: Any, signature: Any, numbers: Any) -> Any:
        kind = context.call_conv.get_function_type(types.none, kinds)
        kernel = builder.inttoptr(numbers[0], ir.PointerType(kind))
        unpacked = building.unpack_tuple(builder, numbers[1], len(kinds))
        status, _ = context.call_conv.call_function(builder, kernel, types.none, kinds, unpacked)
        with building.if_unlikely(builder, status.is_error):
            context.call_conv.return_status_propagate(builder, status)
        return context.get_dummy_value()

    return types.void(types.int64, arguments), generate


call_kernel: Any = intrinsic(_call_kernel)
"""Call, inside a kernel, the one at an address with a tuple of arguments."""
