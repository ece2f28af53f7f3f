"""Target `onnx`: policies `mlp` and `linear` as an ONNX graph, written without the onnx package.

Source: the protobuf messages of onnx.proto, IR version 8; the fields used are named beside numbers.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np

from rolecast.core.types import Float, Float32
from rolecast.policies.mlp import MlpPolicy
from rolecast.policies.network import unpack

ONNX_OPSET: Final = 13
_IR_VERSION: Final = 8
_FLOAT_TYPE: Final = 1
"""TensorProto.DataType.FLOAT."""


def onnx_model(policy: MlpPolicy, weights: Float) -> bytes:
    """Return a model from `observation` [N, do] to `action` [N, da], clip, gain and tanh inside.

    Args:
        policy: `mlp` or `linear`.
        weights: [D], finite as float32.
    """
    rounded = weights.astype(np.float32)
    layers = unpack(rounded, [policy.net])[policy.net.name]  # type: ignore[type-var]  # float32 too
    bound = np.float32(policy.observation_clip)
    tensors = {
        "least": np.array(-bound, dtype=np.float32),
        "most": np.array(bound, dtype=np.float32),
        "gain": np.array(policy.output_gain, dtype=np.float32),
    }
    nodes = [_node("Clip", ["observation", "least", "most"], "inputs0")]
    for place, (weight, bias) in enumerate(layers):
        tensors[f"weight{place}"], tensors[f"bias{place}"] = weight.T.copy(), bias
        given = [f"inputs{place}", f"weight{place}", f"bias{place}"]
        nodes.append(_node("Gemm", given, f"sums{place}"))
        if place < len(layers) - 1:
            nodes.append(_node("Tanh", [f"sums{place}"], f"inputs{place + 1}"))
    nodes.append(_node("Mul", [f"sums{len(layers) - 1}", "gain"], "scaled"))
    nodes.append(_node("Tanh", ["scaled"], "action"))
    widths = policy.net.widths
    graph = b"".join(
        [
            *(_message(1, node) for node in nodes),  # GraphProto.node
            _text(2, policy.name),
            *(_message(5, _tensor(name, array)) for name, array in tensors.items()),
            _message(11, _value("observation", widths[0])),  # input
            _message(12, _value("action", widths[-1])),  # output
        ]
    )
    opset = _message(8, _text(1, "") + _number(2, ONNX_OPSET))  # opset_import
    return _number(1, _IR_VERSION) + _text(2, "rolecast") + _message(7, graph) + opset


def _node(operation: str, inputs: Sequence[str], output: str) -> bytes:
    """Return a NodeProto: its inputs, its output, its operation."""
    return b"".join(_text(1, name) for name in inputs) + _text(2, output) + _text(4, operation)


def _tensor(name: str, array: Float32) -> bytes:
    """Return a TensorProto: dims, data_type, name, raw_data."""
    dims = b"".join(_number(1, size) for size in array.shape)
    return (
        dims + _number(2, _FLOAT_TYPE) + _text(8, name) + _message(9, array.astype("<f4").tobytes())
    )


def _value(name: str, size: int) -> bytes:
    """Return a ValueInfoProto of float32 [N, size]: tensor_type with elem_type and shape."""
    shape = _message(1, _text(2, "N")) + _message(1, _number(1, size))
    tensor = _number(1, _FLOAT_TYPE) + _message(2, shape)
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
