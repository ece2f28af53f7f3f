"""Nets in float64 that decide as the compiled ones do."""

from collections.abc import Callable

import numpy as np
import pytest

from rolecast.core.types import Float
from rolecast.envs.spec import TaskSpec
from rolecast.policies.network import TANH_BOUND, squashed
from rolecast.policies.protocol import Policy
from rolecast.policies.registry import make_policy

MakeSpec = Callable[..., TaskSpec]
ThroughLanes = Callable[[Policy, Float, Float, int], Float]


def test_an_action_is_constant_beyond_the_bound_of_float32_and_near_tanh_everywhere() -> None:
    outputs = np.linspace(-30.0, 30.0, 6001)
    np.testing.assert_allclose(squashed(outputs, 0.5), np.tanh(0.5 * outputs), atol=3e-7, rtol=0.0)
    beyond = np.array([float(TANH_BOUND), 8.0, 1e30, np.inf])
    assert len(set(squashed(beyond, 1.0))) == 1
    np.testing.assert_array_equal(squashed(-beyond, 1.0), -squashed(beyond, 1.0))
    assert np.isnan(squashed(np.array(np.nan), 1.0))


@pytest.mark.parametrize("name", ["linear", "mlp", "hom"])
def test_saturated_actions_are_decided_as_in_the_compiled_form(
    name: str, spec: MakeSpec, through_lanes: ThroughLanes
) -> None:
    """A discrete action is the first of the largest. With tanh, a tenth to a fourth differ."""
    policy = make_policy(name, spec(3, 18, 5))
    rng = np.random.default_rng(2)
    weights = policy.space.weights(rng.random((256, policy.space.dimension)))
    observations = 0.7 * rng.normal(size=(256, 3, 18))
    compiled = through_lanes(policy, weights, observations, 5)
    readable = policy.act(weights, observations[:, None])[:, 0]
    tied = (compiled == compiled.max(axis=-1, keepdims=True)).sum(axis=-1) > 1
    assert tied.mean() > 0.2
    assert (readable.argmax(axis=-1) == compiled.argmax(axis=-1)).mean() > 0.98
