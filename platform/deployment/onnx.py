"""Target `onnx`: the model of a policy, compared with the reference where there is ONNX Runtime."""

from importlib import import_module
from importlib.util import find_spec
from typing import Final

import numpy as np

from rolecast.core.errors import RunError
from rolecast.core.types import Float, Float32
from rolecast.policies.export.onnx.hom import hom_model
from rolecast.policies.export.onnx.mlp import mlp_model
from rolecast.policies.hom.policy import HomPolicy
from rolecast.policies.mlp import MlpPolicy

ONNX_FILE: Final = "rolecast_policy.onnx"
RUNTIME_MODULE: Final = "onnxruntime"


def build_onnx(
    policy: HomPolicy | MlpPolicy, weights: Float, observations: Float32, expected: Float32
) -> tuple[bytes, int | None]:
    """Return the model of a policy, and the vectors on which its actions have the expected bits.

    Args:
        policy: as it is.
        weights: [D].
        observations: [V, n, do], on which it is checked.
        expected: [V, n, da], of the reference.
    Returns:
        The model; V, or None where ONNX Runtime is not installed.
    Raises:
        RunError: an action differs.
    """
    if isinstance(policy, HomPolicy):
        model, rows = hom_model(policy, weights), observations
    else:
        model, rows = mlp_model(policy, weights), observations.reshape(-1, observations.shape[-1])
    if find_spec(RUNTIME_MODULE) is None:
        return model, None
    found = run_onnx(model, rows).reshape(expected.shape)
    wrong = int((found.view(np.uint32) != expected.view(np.uint32)).sum())
    if wrong:
        raise RunError(f"{wrong} of {expected.size} actions of ONNX Runtime are not equal")
    return model, len(observations)


def run_onnx(model: bytes, observations: Float32) -> Float32:
    """Return what ONNX Runtime computes from the one input of a model to its one output."""
    session = import_module(RUNTIME_MODULE).InferenceSession(model)
    (given,) = session.get_inputs()
    (found,) = session.run(None, {given.name: np.ascontiguousarray(observations)})
    return np.asarray(found, dtype=np.float32)
