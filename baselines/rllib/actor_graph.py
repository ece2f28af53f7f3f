"""The networks of learners as operations of ONNX, for policies that leave the house.

Sums are matrix products, in the order of the runtime. Graphs that compute in float64 hide it.
"""

from typing import Any

import numpy as np
from torch import Tensor, nn

from rolecast.baselines.rllib.stacked_mlp import StackedMLP
from rolecast.baselines.rllib.team_actor import AgentNumbers, TeamActor
from rolecast.core.types import Float32
from rolecast.policies.export.onnx.graph import Graph


def in_graph(graph: Graph, module: nn.Module, value: str) -> str:
    """Add a network of inputs [N, n, ...] that are at least three-dimensional.

    Args:
        graph: under construction.
        module: of the kinds that the learners' policies are made of.
        value: its input.
    Raises:
        TypeError: the module is of another kind; our own fault.
    """
    if isinstance(module, nn.Sequential):
        for layer in module:
            value = in_graph(graph, layer, value)
        return value
    if isinstance(module, nn.Linear):
        product = graph.add("MatMul", value, graph.constant(numbers(module.weight.T)))
        return graph.add("Add", product, graph.constant(numbers(module.bias)))
    if isinstance(module, nn.ReLU):
        return graph.add("Relu", value)
    if isinstance(module, nn.Tanh):
        return graph.add("Tanh", value)
    if isinstance(module, nn.Identity):
        return value
    if isinstance(module, AgentNumbers):
        return _numbered(graph, module, value)
    if isinstance(module, StackedMLP):
        return _stacked(graph, module, value)
    if isinstance(module, TeamActor):
        return in_graph(graph, module.network, in_graph(graph, module.numbers, value))
    parts = getattr(module, "acting_parts", None)
    if parts is None:
        raise TypeError(f"{type(module).__name__} has no form in a graph")
    return in_graph(graph, nn.Sequential(*parts), value)


def numbers(tensor: Any) -> Float32:
    """Return the numbers of a tensor as an array."""
    values: Tensor = tensor
    return values.detach().cpu().numpy().astype(np.float32)


def _numbered(graph: Graph, module: AgentNumbers, value: str) -> str:
    """Append to observations [N, n, do] which agent they are of: [N, n, do + n]."""
    agents = len(module.identity)
    sizes = graph.add("Gather", graph.add("Shape", value), graph.constant(np.array([0])))
    shape = graph.add("Concat", sizes, graph.constant(np.array([agents, agents])), axis=0)
    identity = graph.add("Expand", graph.constant(numbers(module.identity)), shape)
    return graph.add("Concat", value, identity, axis=2)


def _stacked(graph: Graph, module: StackedMLP, value: str) -> str:
    """Add a network for each agent, of inputs [N, n, in]."""
    axis = graph.constant(np.array([2]))
    rows = graph.add("Unsqueeze", value, axis)  # [N, n, 1, in]
    for depth, (weight, bias) in enumerate(zip(module.weights, module.biases, strict=True)):
        rows = graph.add("Relu", rows) if depth else rows
        product = graph.add("MatMul", rows, graph.constant(numbers(weight)))
        rows = graph.add("Add", product, graph.constant(numbers(bias)))
    return graph.add("Squeeze", rows, axis)
