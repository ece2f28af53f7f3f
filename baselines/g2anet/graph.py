"""The attention of G2ANet as operations of ONNX; see `AttentionActor`."""

from math import sqrt

import numpy as np

from rolecast.baselines.g2anet.actor import SHUT_SCORE, AttentionActor
from rolecast.baselines.rllib.actor_graph import in_graph, numbers
from rolecast.policies.export.onnx.graph import BOOL_ELEMENTS, Graph


def attention_in_graph(graph: Graph, actor: AttentionActor, observations: str) -> str:
    """Add what an actor returns [N, n, da] for observations [N, n, do], its gates as likelier."""
    encoded = in_graph(graph, actor.encoder, in_graph(graph, actor.numbers, observations))
    none, shut = graph.constant(0.0), graph.constant(SHUT_SCORE)
    others = graph.add("Cast", graph.constant(numbers(actor.others)), to=BOOL_ELEMENTS)
    opened = graph.add("And", graph.add("Greater", _log_odds(graph, actor, encoded), none), others)
    weights = graph.add("Softmax", graph.add("Where", opened, _scores(graph, actor, encoded), shut))
    weights = graph.add("Where", opened, weights, none)  # all are 0 where no gate is open
    messages = graph.add("MatMul", weights, encoded)
    return in_graph(graph, actor.head, graph.add("Concat", encoded, messages, axis=2))


def _log_odds(graph: Graph, actor: AttentionActor, encoded: str) -> str:
    """Add the log-odds [N, n, n] of the gates."""
    own, other, rest = np.split(numbers(actor.gate_hidden.weight.T), 3)
    others = numbers(actor.others)
    total = graph.add("MatMul", graph.constant(others), encoded)
    mean_of_others = graph.add("Div", total, graph.constant(float(len(others) - 1)))
    of_row = graph.add("MatMul", encoded, graph.constant(own))
    of_row = graph.add("Add", of_row, graph.constant(numbers(actor.gate_hidden.bias)))
    of_rest = graph.add("MatMul", mean_of_others, graph.constant(rest))
    of_column = graph.add("MatMul", encoded, graph.constant(other))
    of_row = graph.add("Unsqueeze", graph.add("Add", of_row, of_rest), graph.constant([2]))
    of_column = graph.add("Unsqueeze", of_column, graph.constant([1]))
    hidden = graph.add("Relu", graph.add("Add", of_row, of_column))
    log_odds = in_graph(graph, actor.gate_output, hidden)
    return graph.add("Squeeze", log_odds, graph.constant([3]))


def _scores(graph: Graph, actor: AttentionActor, encoded: str) -> str:
    """Add the scaled scores [N, n, n] of soft attention."""
    queries, keys = (
        graph.add("MatMul", encoded, graph.constant(numbers(layer.weight.T)))
        for layer in (actor.query, actor.key)
    )
    products = graph.add("MatMul", queries, graph.add("Transpose", keys, perm=[0, 2, 1]))
    return graph.add("Div", products, graph.constant(sqrt(actor.key.out_features)))
