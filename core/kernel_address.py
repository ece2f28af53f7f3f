"""Calls of compiled kernels by the addresses of their machine code, from inside another one.

The caller is compiled for the types of the arguments, not for the kernel: what plays episodes is
compiled once for all policies of a kind, and kept on disk as any kernel is.
"""

from collections.abc import Sequence
from typing import Any, Final

import numba
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from rolecast.core.compiled import compiled
from rolecast.core.types import STEP_ARGUMENT, KernelCalls

building: Any = cgutils

STEPS_OF_CALL: Final = 10
"""Steps without Python: of 1,000 episodes of many agents some tenths of a second."""


def at_step(calls: KernelCalls, step: int) -> KernelCalls:
    """Return the calls of a step: its number in place of each `STEP_ARGUMENT`."""
    return tuple(
        (kernel, tuple(step if each is STEP_ARGUMENT else each for each in arguments))
        for kernel, arguments in calls
    )


def has_own_kernels(owner: object) -> bool:
    """Tell whether the class of an object says itself which kernels it calls, by `calls`.

    One that is derived from such a class, or forwards to it, may call others.
    """
    return "calls" in vars(type(owner))


def works_on(calls: KernelCalls, arrays: Sequence[object]) -> bool:
    """Tell whether kernels are given these very arrays, not copies."""
    given = {id(each) for _, arguments in calls for each in arguments}
    return given.issuperset(map(id, arrays))


def knows_step(calls: KernelCalls) -> bool:
    """Tell whether a kernel is told the number of the step, or has None among its arguments."""
    return any(each is STEP_ARGUMENT for _, arguments in calls for each in arguments)


def call_all(calls: KernelCalls) -> None:
    """Call kernels, one after the other."""
    for kernel, arguments in calls:
        kernel(*arguments)


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


def _generate_call(
    context: Any, builder: Any, address: Any, kinds: tuple[Any, ...], unpacked: list[Any]
) -> None:
    """Write the machine code of a call."""
    kind = context.call_conv.get_function_type(types.none, kinds)
    kernel = builder.inttoptr(address, ir.PointerType(kind))
    status, _ = context.call_conv.call_function(builder, kernel, types.none, kinds, unpacked)
    with building.if_unlikely(builder, status.is_error):
        context.call_conv.return_status_propagate(builder, status)


def _call_kernel(typing: Any, address: Any, arguments: Any) -> Any:
    kinds = tuple(arguments)

    def generate(context: Any, builder: Any, signature: Any, numbers: Any) -> Any:
        unpacked = building.unpack_tuple(builder, numbers[1], len(kinds))
        _generate_call(context, builder, numbers[0], kinds, unpacked)
        return context.get_dummy_value()

    return types.void(types.int64, arguments), generate


call_kernel: Any = intrinsic(_call_kernel)
"""Call, inside a kernel, the one at an address with a tuple of arguments."""


def _call_kernels(typing: Any, addresses: Any, arguments: Any, step: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, numbers: Any) -> Any:
        places = building.unpack_tuple(builder, numbers[0], len(arguments))
        packed = building.unpack_tuple(builder, numbers[1], len(arguments))
        for place, pack, of in zip(places, packed, arguments, strict=True):
            values = building.unpack_tuple(builder, pack, len(of))
            kinds = tuple(types.int64 if kind == types.none else kind for kind in of)
            given = [
                numbers[2] if kind == types.none else value
                for kind, value in zip(of, values, strict=True)
            ]
            _generate_call(context, builder, place, kinds, given)
        return context.get_dummy_value()

    return types.void(addresses, arguments, types.int64), generate


call_kernels: Any = intrinsic(_call_kernels)
"""Call, inside a kernel, those at addresses, each with its tuple of arguments, for a step."""


class StepsTogether:
    """Kernels that are called in each of many steps, without Python in between."""

    def __init__(self, calls: KernelCalls, addresses: tuple[int, ...]) -> None:
        self._addresses = addresses
        self._arguments = tuple(arguments for _, arguments in calls)

    @staticmethod
    def of(calls: KernelCalls) -> "StepsTogether | None":
        """Return kernels that have been called before; None: one has no address."""
        places = [kernel_address(*call) for call in at_step(calls, 0)]
        known = tuple(place for place in places if place is not None)
        return StepsTogether(calls, known) if len(known) == len(calls) else None

    def take(self, first: int, end: int) -> None:
        """Take the steps from `first` on and before `end`; Ctrl-C is heeded after a few of them."""
        for begin in range(first, end, STEPS_OF_CALL):
            stop = min(begin + STEPS_OF_CALL, end)
            take_steps(begin, stop, self._addresses, self._arguments)


@compiled
def take_steps(
    first: int, end: int, addresses: tuple[int, ...], arguments: tuple[tuple[Any, ...], ...]
) -> None:
    """Call all kernels in each step from `first` on and before `end`."""
    for step in range(first, end):
        call_kernels(addresses, arguments, step)
