"""The operations of a step are those that the reference carries out."""

from typing import Any

import numpy as np
import pytest

from rolecast.core.types import Float32
from rolecast.envs.spec import TaskSpec
from rolecast.policies.export import reference
from rolecast.policies.export.cost import step_cost
from rolecast.policies.hom.policy import HomPolicy
from rolecast.policies.mlp import MlpPolicy
from rolecast.policies.registry import make_policy

# The reference computes every pair of roles, as a device does with self edges.
EVERY_PAIR = {"self_edges": True, "edges": "soft"}


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("mlp", {"hidden": [7, 5]}),
        ("linear", {}),
        ("hom", EVERY_PAIR),
        ("hom", {**EVERY_PAIR, "role_assignment": True, "size": "sm", "rounds": 3}),
        ("hom", {"role_interaction": False}),
    ],
    ids=str,
)
def test_products_and_tanhs_are_counted_as_they_are_computed(
    name: str, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = TaskSpec(id="team", agents=3, observation_size=5, action_size=2, horizon=25)
    policy = make_policy(name, spec, **options)
    assert isinstance(policy, HomPolicy | MlpPolicy)
    met = {"products": 0, "tanhs": 0}
    add_columns, tanh = reference.add_columns, reference.tanh

    def counted_columns(start: Float32, weight: Float32, inputs: Float32) -> Float32:
        met["products"] += inputs.size * len(weight)
        return add_columns(start, weight, inputs)

    def counted_tanh(x: Float32) -> Float32:
        met["tanhs"] += x.size
        return tanh(x)

    monkeypatch.setattr(reference, "add_columns", counted_columns)
    monkeypatch.setattr(reference, "tanh", counted_tanh)
    act = reference.reference(policy, np.zeros(policy.space.size))
    act(np.zeros((1, 3, 5), dtype=np.float32))
    cost = step_cost(policy)
    # A soft edge also multiplies what is heard.
    weighted = 9 * 2 * options.get("rounds", 2) * ("edges" in options)
    assert cost.multiply_adds == met["products"] + weighted
    # The reference computes messages and edges each time that it looks at them.
    again = 9 * (options.get("rounds", 2) - 1) * ("edges" in options)
    assert cost.tanhs == met["tanhs"] - again
