"""An ONNX graph under construction, and the bytes of its file.

Source: the protobuf messages of onnx.proto, IR version 8; the fields used are named beside numbers.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

ONNX_OPSET: Final = 13
_IR_VERSION: Final = 8
FLOAT_ELEMENTS: Final = 1
INTEGER_ELEMENTS: Final = 7
BOOL_ELEMENTS: Final = 9
DOUBLE_ELEMENTS: Final = 11
_ELEMENT_TYPES: Final[Mapping[str, int]] = {
    "float32": FLOAT_ELEMENTS,
    "int64": INTEGER_ELEMENTS,
    "float64": DOUBLE_ELEMENTS,
}
"""TensorProto.DataType."""
_INTEGER_ATTRIBUTE: Final = 2
_INTEGERS_ATTRIBUTE: Final = 7
_GRAPH_ATTRIBUTE: Final = 5
"""AttributeProto.AttributeType: INT, INTS, GRAPH."""


class Graph:
    """Operations in order; each method returns the name of the value that it adds."""

    def __init__(self, *, double: bool = False) -> None:
        """Begin a graph of float32, or of float64 inside; its input and output are float32."""
        self._number = np.float64 if double else np.float32
        self._nodes: list[bytes] = []
        self._tensors: dict[bytes, str] = {}
        self._named = 0

    def constant(self, array: NDArray[Any] | Sequence[int] | float) -> str:
        """Add numbers of the graph's kind, or int64 where they are integers."""
        values = np.asarray(array)
        kind = np.int64 if values.dtype.kind in "iu" else self._number
        tensor = _tensor(values.astype(kind))
        return self._tensors.setdefault(tensor, f"constant{len(self._tensors)}")

    def add(
        self,
        operation: str,
        *inputs: str,
        output: str = "",
        place: int = 0,
        **attributes: int | Sequence[int],
    ) -> str:
        """Add an operation, and return the name of one of its outputs.

        Args:
            operation: name in ONNX.
            inputs: names of values.
            output: that name; a new one by default.
            place: of the output; those before it are not used.
            attributes: integers, or lists of them.
        """
        output = output or self._new_name()
        parts = [_text(1, name) for name in inputs]  # NodeProto.input
        names = [*(f"{output}_{unused}" for unused in range(place)), output]
        parts += [*(_text(2, name) for name in names), _text(4, operation)]  # output, op_type
        parts += [_message(5, _attribute(*each)) for each in attributes.items()]  # attribute
        self._nodes.append(b"".join(parts))
        return output

    def loop(
        self,
        count: int,
        states: Sequence[tuple[str, int]],
        body: Callable[[str, Sequence[str]], Sequence[str]],
    ) -> list[str]:
        """Add a loop, and return the names of its states in the end.

        Args:
            count: turns.
            states: names of values at the start, and the types of their elements.
            body: from the name of the turn, from 0, and those of the states, to those that follow;
                it adds operations to this graph, which may use values outside of the loop.
        """
        turn, on, *held = (self._new_name() for _ in range(2 + len(states)))
        typed = [
            _typed(turn, INTEGER_ELEMENTS, single=True),
            _typed(on, BOOL_ELEMENTS, single=True),
        ]
        typed += [_typed(name, kind) for name, (_, kind) in zip(held, states, strict=True)]
        begin = len(self._nodes)
        found = [on, *body(turn, held)]
        ends = [self.add("Identity", name) for name in found]
        inside = self._nodes[begin:]
        del self._nodes[begin:]
        graph = b"".join(
            [
                *(_message(1, node) for node in inside),  # GraphProto.node
                _text(2, turn),
                *(_message(11, each) for each in typed),  # input
                *(_message(12, _text(1, name)) for name in ends),  # output
            ]
        )
        inputs = self.constant(np.array(count)), "", *(name for name, _ in states)
        outputs = [self._new_name() for _ in states]
        # AttributeProto: name, g, type
        attribute = _text(1, "body") + _message(6, graph) + _number(20, _GRAPH_ATTRIBUTE)
        parts = [*(_text(1, name) for name in inputs), *(_text(2, name) for name in outputs)]
        self._nodes.append(b"".join([*parts, _text(4, "Loop"), _message(5, attribute)]))
        return outputs

    def _new_name(self) -> str:
        self._named += 1
        return f"value{self._named}"

    def model(
        self, name: str, given: tuple[str, Sequence[int]], found: tuple[str, Sequence[int]]
    ) -> bytes:
        """Return the file of a model from one value to another, both float32.

        Args:
            name: of the graph.
            given: name and sizes [...] of the input, of which there are N at a time.
            found: of the output.
        """
        graph = b"".join(
            [
                *(_message(1, node) for node in self._nodes),  # GraphProto.node
                _text(2, name),
                # initializer, with its name
                *(_message(5, tensor + _text(8, each)) for tensor, each in self._tensors.items()),
                _message(11, _value(*given)),  # input
                _message(12, _value(*found)),  # output
            ]
        )
        opset = _message(8, _text(1, "") + _number(2, ONNX_OPSET))  # opset_import
        return _number(1, _IR_VERSION) + _text(2, "rolecast") + _message(7, graph) + opset


def _attribute(name: str, value: int | Sequence[int]) -> bytes:
    """Return an AttributeProto: its name, its integer (i) or integers (ints), its type."""
    if isinstance(value, int):
        return _text(1, name) + _number(3, value) + _number(20, _INTEGER_ATTRIBUTE)
    numbers = b"".join(_number(8, each) for each in value)
    return _text(1, name) + numbers + _number(20, _INTEGERS_ATTRIBUTE)


def _tensor(array: NDArray[Any]) -> bytes:
    """Return a TensorProto without its name: dims, data_type, raw_data."""
    dims = b"".join(_number(1, size) for size in array.shape)
    kind = _number(2, _ELEMENT_TYPES[array.dtype.name])
    data = array.astype(array.dtype.newbyteorder("<")).tobytes()
    return dims + kind + _message(9, data)


def _typed(name: str, kind: int, *, single: bool = False) -> bytes:
    """Return a ValueInfoProto of any shape, or of a single number: a shape without dimensions."""
    tensor = _number(1, kind) + (_message(2, b"") if single else b"")
    return _text(1, name) + _message(2, _message(1, tensor))


def _value(name: str, sizes: Sequence[int]) -> bytes:
    """Return a ValueInfoProto of float32 [N, sizes]: tensor_type with elem_type and shape."""
    dims = [_text(2, "N"), *(_number(1, size) for size in sizes)]
    shape = b"".join(_message(1, each) for each in dims)
    tensor = _number(1, FLOAT_ELEMENTS) + _message(2, shape)
    return _text(1, name) + _message(2, _message(1, tensor))


def _varint(value: int) -> bytes:
    parts = []
    while value > 127:
        parts.append(value & 127 | 128)
        value >>= 7
    return bytes([*parts, value])


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _message(field: int, content: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(content)) + content


def _text(field: int, text: str) -> bytes:
    return _message(field, text.encode())
