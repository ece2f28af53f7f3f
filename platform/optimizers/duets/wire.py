"""Messages of the paper as bytes: a header of 28 bytes, then float64 numbers and nothing else."""

import struct
from typing import Final

import numpy as np

from rolecast.core.errors import RequestError
from rolecast.core.types import Float
from rolecast.platform.optimizers.duets.messages import Aggregate, InducingSet, Projection

MESSAGE_HEADER: Final = struct.Struct("<8s5I")
"""Run, kind, epoch, agent (0 from the server), rows and columns of the numbers."""

MESSAGE_KINDS: Final = (InducingSet, Projection, Aggregate)

Message = InducingSet | Projection | Aggregate


def encode(message: Message) -> bytes:
    """Return a message as bytes, of which `8 * message.reals` are its numbers."""
    if isinstance(message, InducingSet):
        numbers, agent = message.points, 0
    elif isinstance(message, Projection):
        numbers, agent = message.values[None], message.agent
    else:
        numbers, agent = np.append(message.coefficients, message.largest_deviation)[None], 0
    kind, run = MESSAGE_KINDS.index(type(message)), bytes.fromhex(message.run)
    header = MESSAGE_HEADER.pack(run, kind, message.epoch, agent, *numbers.shape)
    return header + np.ascontiguousarray(numbers, dtype="<f8").tobytes()


def decode(data: bytes) -> Message:
    """Return the message that these bytes are.

    Raises:
        RequestError: they are no message, or not a whole one.
    """
    if len(data) < MESSAGE_HEADER.size:
        raise RequestError(f"a message has {len(data)} bytes; expected a header and numbers")
    run, kind, epoch, agent, rows, columns = MESSAGE_HEADER.unpack_from(data)
    body = data[MESSAGE_HEADER.size :]
    if kind >= len(MESSAGE_KINDS) or len(body) != 8 * rows * columns:
        raise RequestError(
            f"a message of kind {kind} has {len(body)} bytes of numbers; expected kinds 0 to 2 "
            f"and {8 * rows * columns} bytes"
        )
    numbers: Float = np.frombuffer(body, dtype="<f8").astype(np.float64).reshape(rows, columns)
    name = run.hex()
    if kind == 0:
        return InducingSet(name, epoch, numbers)
    if kind == 1:
        return Projection(name, epoch, agent, numbers[0])
    return Aggregate(name, epoch, numbers[0, :-1], float(numbers[0, -1]))
