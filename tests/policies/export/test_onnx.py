"""ONNX models of policies: the fields of their messages, and what ONNX Runtime computes."""

from typing import Any

import numpy as np
import pytest

from rolecast.core.errors import RunError
from rolecast.platform.deployment.onnx import build_onnx, run_onnx
from rolecast.policies.export.onnx.graph import FLOAT_ELEMENTS, ONNX_OPSET, Graph
from rolecast.policies.export.onnx.mlp import mlp_model
from rolecast.policies.export.onnx.shortest_paths import shortest_path_agents
from rolecast.policies.export.reference import reference
from rolecast.policies.export.shortest_paths import shortest_paths
from tests.policies.export.test_c99 import SHAPES, made, vectors

IN_GRAPHS: list[tuple[str, int, dict[str, Any]]] = [
    *SHAPES,
    ("hom", 1, {"role_assignment": False}),
    ("hom", 2, {"role_assignment": True, "edges": "soft"}),
    ("hom", 10, {"role_assignment": True, "self_edges": True}),
    ("hom", 15, {"role_assignment": True, "size": "sm", "role_interaction": False}),
    ("hom", 15, {"role_assignment": False, "message_reads": "observation"}),
]


def fields(message: bytes) -> list[tuple[int, int | bytes]]:
    """Read the fields of a protobuf message: varints, and parts with a length."""
    found: list[tuple[int, int | bytes]] = []
    place = 0

    def varint() -> int:
        nonlocal place
        value = shift = 0
        while True:
            byte = message[place]
            place += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while place < len(message):
        key = varint()
        value = varint()
        if key & 7 == 2:
            found.append((key >> 3, message[place : place + value]))
            place += value
        else:
            found.append((key >> 3, value))
    return found


def parts(message: bytes, field: int) -> list[bytes]:
    return [value for key, value in fields(message) if key == field and isinstance(value, bytes)]


def test_a_model_states_its_opset_its_values_and_its_operations() -> None:
    policy, weights = made("mlp", 1, {"hidden": [4, 3]})
    model = mlp_model(policy, weights)
    (graph,) = parts(model, 7)
    operations = {parts(node, 4)[0].decode() for node in parts(graph, 1)}
    assert operations == {"Clip", "Gather", "Mul", "Add", "Div"}
    assert (2, ONNX_OPSET) in fields(parts(model, 8)[0])
    assert [parts(value, 1)[0] for value in parts(graph, 11)] == [b"observation"]
    assert [parts(value, 1)[0] for value in parts(graph, 12)] == [b"action"]


@pytest.mark.parametrize(("name", "agents", "options"), IN_GRAPHS, ids=str)
def test_onnx_runtime_gives_the_bits_of_the_reference(
    name: str, agents: int, options: dict[str, Any]
) -> None:
    """Observations are drawn, tied between agents, at their bounds and subnormal."""
    policy, weights = made(name, agents, options)
    observations = vectors(agents, 1000)
    expected = reference(policy, weights)(observations)
    model, equal = build_onnx(policy, weights, observations, expected)
    assert equal == 1000
    assert len(model) < 250_000
    expected[7, 0, 1] = np.nextafter(expected[7, 0, 1], np.float32(0.0))
    with pytest.raises(RunError, match=f"1 of {expected.size} actions of ONNX Runtime are not eq"):
        build_onnx(policy, weights, observations, expected)


@pytest.mark.parametrize("agents", [1, 2, 5, 12])
def test_shortest_paths_in_loops_are_those_of_the_reference(agents: int) -> None:
    """Affinities are drawn, whole numbers with many ties, and all equal."""
    rng = np.random.default_rng(agents)
    drawn = rng.normal(size=(120, agents, agents))
    drawn[::3] = rng.integers(-2, 3, drawn[::3].shape)
    drawn[::7] = 0.5
    affinity = drawn.astype(np.float32)
    graph = Graph()
    found = shortest_path_agents(graph, agents, "affinity")
    graph.add("Cast", found, to=FLOAT_ELEMENTS, output="agents")
    model = graph.model("assignment", ("affinity", (agents, agents)), ("agents", (agents,)))
    np.testing.assert_array_equal(run_onnx(model, affinity), shortest_paths(affinity))
