"""The cross-entropy method with fixed numbers as operations of ONNX; see `cross_entropy`."""

from collections.abc import Callable

import numpy as np

from rolecast.core.types import Float32
from rolecast.policies.export.onnx.graph import Graph


def best_in_graph(graph: Graph, value: Callable[[str], str], noise: Float32, *, elites: int) -> str:
    """Add the action [N, n, da] of highest value, as `cross_entropy.best_actions` finds it.

    Where two values are equal but for rounding, another action may be chosen.

    Args:
        graph: under construction.
        value: adds values [N, n, K, 1] of actions that broadcast with [N, n, K, da].
        noise: [iterations, K, da], standard normal.
        elites: best actions to which the next round's distribution is fitted.
    """
    samples, size = noise.shape[1:]
    axis = graph.constant(np.array([2]))
    latent = graph.constant(noise[0][None, None])
    for numbers in noise[1:]:
        values = graph.add("Squeeze", value(graph.add("Tanh", latent)), graph.constant([3]))
        count = graph.constant(np.array([elites]))
        top = graph.add("TopK", values, count, place=1, axis=2)
        chosen = _taken(graph, _for_all(graph, latent, values, samples, size), top)
        mean = graph.add("ReduceMean", chosen, axes=[2], keepdims=1)
        apart = graph.add("Sub", chosen, mean)
        squares = graph.add("ReduceSum", graph.add("Mul", apart, apart), axis, keepdims=1)
        variance = graph.add("Div", squares, graph.constant(float(elites - 1)))
        moved = graph.add("Mul", graph.add("Sqrt", variance), graph.constant(numbers))
        latent = graph.add("Add", mean, moved)
    actions = graph.add("Tanh", latent)
    values = graph.add("Squeeze", value(actions), graph.constant([3]))
    best = graph.add("ArgMax", values, axis=2, keepdims=1)
    found = _taken(graph, _for_all(graph, actions, values, samples, size), best)
    return graph.add("Squeeze", found, axis)


def _for_all(graph: Graph, latent: str, values: str, samples: int, size: int) -> str:
    """Add numbers [.., .., K, da] for every row of values [N, n, K]."""
    rows = graph.add("Gather", graph.add("Shape", values), graph.constant(np.array([0, 1])))
    shape = graph.add("Concat", rows, graph.constant(np.array([samples, size])), axis=0)
    return graph.add("Expand", latent, shape)


def _taken(graph: Graph, values: str, places: str) -> str:
    """Add values [N, n, E, da] at places [N, n, E] of values [N, n, K, da]."""
    found = graph.add("Unsqueeze", places, graph.constant(np.array([3])))
    return graph.add("GatherND", values, found, batch_dims=2)
