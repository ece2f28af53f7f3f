"""Layers of nets as operations of ONNX that round as the reference does, in the same order.

A product of matrices would be shorter, but a runtime chooses the order of its sums. Here each input
is a multiplication and an addition, so that actions have the bits of
`rolecast.policies.export.reference`.
"""

from collections.abc import Sequence

import numpy as np

from rolecast.core.types import Float32
from rolecast.policies.export.onnx.graph import Graph
from rolecast.policies.export.reference import TANH_DENOMINATOR, TANH_NUMERATOR, Layer
from rolecast.policies.network import TANH_BOUND


def clipped(graph: Graph, value: str, bound: float) -> str:
    """Add a value in [-bound, bound]."""
    return graph.add("Clip", value, graph.constant(-bound), graph.constant(bound))


def squashed(graph: Graph, value: str, output: str = "") -> str:
    """Add tanh, as `reference.tanh`."""
    x = clipped(graph, value, float(TANH_BOUND))
    square = graph.add("Mul", x, x)
    above = graph.add("Mul", _horner(graph, square, TANH_NUMERATOR), x)
    return graph.add("Div", above, _horner(graph, square, TANH_DENOMINATOR), output=output)


def columns(graph: Graph, start: str, weight: Float32, inputs: str, *, axis: int) -> str:
    """Add start [..., out] plus weight [out, in] times inputs [..., in], input by input.

    Args:
        graph: under construction.
        start: value that broadcasts with [..., out].
        weight: [out, in].
        inputs: value [..., in].
        axis: last axis of the inputs.
    """
    for column in range(weight.shape[1]):
        entry = graph.add("Gather", inputs, graph.constant(np.array([column])), axis=axis)
        product = graph.add("Mul", entry, graph.constant(weight[:, column]))
        start = graph.add("Add", start, product)
    return start


def codes_added(graph: Graph, start: str, weight: Float32, codes: Float32) -> str:
    """Add start [N, n, out] plus weight [out, b] times the codes [n, b] of the roles."""
    for column in range(weight.shape[1]):
        product = codes[:, column, None] * weight[:, column]
        start = graph.add("Add", start, graph.constant(product))
    return start


def finished(graph: Graph, layers: Sequence[Layer], sums: str, *, axis: int) -> str:
    """Add the outputs of a net, from the sums [..., hidden] of its first layer.

    Args:
        graph: under construction.
        layers: of the net, the first among them.
        sums: value [..., hidden].
        axis: its last axis.
    """
    for weight, bias in layers[1:]:
        sums = columns(graph, graph.constant(bias), weight, squashed(graph, sums), axis=axis)
    return sums


def _horner(graph: Graph, square: str, coefficients: Sequence[float]) -> str:
    value = graph.constant(coefficients[0])
    for coefficient in coefficients[1:]:
        value = graph.add("Mul", value, square)
        value = graph.add("Add", value, graph.constant(coefficient))
    return value
