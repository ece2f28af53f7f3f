"""Steps of the simulator inside compiled code: without Python, and so without Python's lock.

The simulator's library is called by address, with the addresses of its own structures, so that what
is computed is what its Python bindings compute. They would take Python's lock for every episode.
What they raise as `mujoco.FatalError`, such as a full stack, ends the process: the library prints
it and exits. Bodies of this project take at most some 2 % of that stack.
"""

import ctypes
from functools import cache
from typing import Any, Final

import numpy as np
from llvmlite import ir
from mujoco import _functions  # the extension that links the library
from numba import types
from numba.extending import intrinsic
from numpy.typing import NDArray

from rolecast.core.compiled import compiled_exactly
from rolecast.core.types import Float

Addresses = NDArray[np.int64]

Sizes = tuple[int, int, int]

BYTE_POINTER: Final = ir.IntType(8).as_pointer()

_pointer_to: Any = types.CPointer

NUMBER_POINTER: Final = _pointer_to(types.float64)


@cache
def library_address(function: str) -> int:
    """Return the address of a function of the simulator's library.

    Raises:
        AttributeError: the library has no such function.
    """
    library = ctypes.CDLL(_functions.__file__)
    return int(ctypes.cast(getattr(library, function), ctypes.c_void_p).value or 0)


def address_of(structure: Any) -> int:
    """Return the address of an `MjModel` or `MjData`."""
    return int(structure._address)  # noqa: SLF001 - what the bindings call it


def _invoke(typing: Any, function: Any, model: Any, data: Any) -> Any:
    """Call void f(model, data), of which each is an address."""

    def generate(context: Any, builder: Any, signature: Any, numbers: Any) -> Any:
        kind = ir.FunctionType(ir.VoidType(), [BYTE_POINTER, BYTE_POINTER])
        address, *structures = numbers
        pointers = [builder.inttoptr(each, BYTE_POINTER) for each in structures]
        builder.call(builder.inttoptr(address, kind.as_pointer()), pointers)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64), generate


def _numbers_at(typing: Any, address: Any) -> Any:
    """Return a pointer to the float64 numbers at an address."""

    def generate(context: Any, builder: Any, signature: Any, numbers: Any) -> Any:
        return builder.inttoptr(numbers[0], context.get_value_type(NUMBER_POINTER))

    return NUMBER_POINTER(types.int64), generate


def _ticket(typing: Any, counter: Any) -> Any:
    """Return what a counter [1] shows, and add 1, at once for all threads."""

    def generate(context: Any, builder: Any, signature: Any, numbers: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, numbers[0])
        one = ir.Constant(ir.IntType(64), 1)
        return builder.atomic_rmw("add", array.data, one, "monotonic")

    return types.int64(counter), generate


invoke: Any = intrinsic(_invoke)
numbers_at: Any = intrinsic(_numbers_at)
ticket: Any = intrinsic(_ticket)


@compiled_exactly
def show_state(memory: Addresses, sizes: Sizes, episode: int, state: Float, place: Float) -> None:
    """Write what the simulator has of one episode.

    Args:
        memory: [B, 6], addresses of an episode's `mjData`, and in it of the motors' inputs, the
            place along x, positions, velocities and contact forces.
        sizes: numbers of positions, of velocities and of contact forces in a state.
        episode: its row.
        state: [B, F], positions, velocities, forces and a zero, written.
        place: [B], in metres, written.
    """
    place[episode] = numbers_at(memory[episode, 2])[0]
    column = 0
    for part in range(3):
        numbers = numbers_at(memory[episode, 3 + part])
        for index in range(sizes[part]):
            state[episode, column] = numbers[index]
            column += 1


@compiled_exactly
def simulate(
    functions: Addresses, frame_skip: int, memory: Addresses, episode: int, torques: Float
) -> None:
    """Let one episode go on by a step of the task.

    Args:
        functions: [3], addresses of the `mjModel`, of a step of the simulator and of its contact
            forces; 0 for the last: no forces.
        frame_skip: steps of the simulator.
        memory: as of `show_state`.
        episode: its row.
        torques: [B, nu], motors' inputs.
    """
    data, inputs = memory[episode, 0], numbers_at(memory[episode, 1])
    for motor in range(torques.shape[1]):
        inputs[motor] = torques[episode, motor]
    for _ in range(frame_skip):
        invoke(functions[1], functions[0], data)
    if functions[2]:
        invoke(functions[2], functions[0], data)
