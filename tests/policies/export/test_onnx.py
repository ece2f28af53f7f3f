"""ONNX models of policies: the fields of their messages, and what ONNX Runtime computes."""

from importlib.util import find_spec

import numpy as np
import pytest

from rolecast.envs.spec import TaskSpec
from rolecast.policies.export.onnx import ONNX_OPSET, onnx_model
from rolecast.policies.mlp import MlpPolicy
from rolecast.policies.registry import make_policy


def made(hidden: list[int]) -> tuple[MlpPolicy, np.ndarray[tuple[int], np.dtype[np.float64]]]:
    spec = TaskSpec(id="team", agents=1, observation_size=5, action_size=2, horizon=25)
    policy = make_policy("mlp", spec, hidden=hidden)
    assert isinstance(policy, MlpPolicy)
    weights = policy.space.weights(np.random.default_rng(0).random(policy.space.dimension))
    return policy, weights


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


def test_a_model_has_the_nodes_of_its_layers_and_states_its_opset() -> None:
    policy, weights = made([4, 3])
    model = onnx_model(policy, weights)
    (graph,) = parts(model, 7)
    operations = [parts(node, 4)[0].decode() for node in parts(graph, 1)]
    assert operations == ["Clip", "Gemm", "Tanh", "Gemm", "Tanh", "Gemm", "Mul", "Tanh"]
    assert (2, ONNX_OPSET) in fields(parts(model, 8)[0])
    numbers = {parts(tensor, 8)[0].decode(): parts(tensor, 9)[0] for tensor in parts(graph, 5)}
    first = weights[:20].reshape(4, 5).astype(np.float32)
    np.testing.assert_array_equal(np.frombuffer(numbers["weight0"], "<f4").reshape(5, 4), first.T)


@pytest.mark.skipif(find_spec("onnxruntime") is None, reason="needs the Python package onnxruntime")
@pytest.mark.parametrize("hidden", [[], [16, 16]], ids=str)
def test_onnx_runtime_gives_the_actions_of_the_policy(hidden: list[int]) -> None:
    import onnxruntime

    policy, weights = made(hidden)
    session = onnxruntime.InferenceSession(onnx_model(policy, weights))
    observations = np.random.default_rng(1).normal(size=(500, 5)).astype(np.float32)
    (found,) = session.run(None, {"observation": observations})
    rounded = weights.astype(np.float32).astype(np.float64)
    wanted = policy.act(rounded[None], observations[None, :, None].astype(np.float64))[0, :, 0]
    np.testing.assert_allclose(found, wanted, atol=1e-6)
