"""Policies `mlp` and `linear` as an ONNX graph."""

import numpy as np

from rolecast.core.types import Float
from rolecast.policies.export.onnx.graph import Graph
from rolecast.policies.export.onnx.layers import clipped, columns, finished, squashed
from rolecast.policies.export.reference import Layer
from rolecast.policies.mlp import MlpPolicy
from rolecast.policies.network import unpack


def mlp_model(policy: MlpPolicy, weights: Float) -> bytes:
    """Return a model from `observation` [N, do] to `action` [N, da], clip, gain and tanh inside.

    Args:
        policy: `mlp` or `linear`.
        weights: [D], finite as float32.
    """
    rounded = weights.astype(np.float32)
    layers: list[Layer] = unpack(rounded, [policy.net])[policy.net.name]
    graph = Graph()
    inputs = clipped(graph, "observation", policy.observation_clip)
    weight, bias = layers[0]
    sums = columns(graph, graph.constant(bias), weight, inputs, axis=1)
    outputs = finished(graph, layers, sums, axis=1)
    squashed(graph, graph.add("Mul", outputs, graph.constant(policy.output_gain)), output="action")
    widths = policy.net.widths
    return graph.model(policy.name, ("observation", widths[:1]), ("action", widths[-1:]))
