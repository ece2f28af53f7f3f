"""The linear policy: its equation, its three faces, and its cube."""

from collections.abc import Callable

import numpy as np
import pytest
import torch

from rolecast.core.types import LANE_COUNT, Float
from rolecast.envs.spec import TaskSpec
from rolecast.policies.registry import make_policy

MakeSpec = Callable[..., TaskSpec]
Draw = Callable[..., tuple[Float, Float]]
ThroughLanes = Callable[..., Float]


@pytest.mark.parametrize(("agents", "gain"), [(1, 1.0), (4, 10.0)])
def test_the_action_is_what_the_equation_says_in_every_face(
    agents: int, gain: float, spec: MakeSpec, draw: Draw, through_lanes: ThroughLanes
) -> None:
    task = spec(agents, observation_size=11, action_size=3)
    policy = make_policy("linear", task)
    assert policy.space.size == 36
    weights, observations = draw(policy, task, LANE_COUNT)
    matrix, bias = weights[0, :33].reshape(3, 11), weights[0, 33:]
    expected = np.tanh(gain * (observations[0] @ matrix.T + bias))
    np.testing.assert_allclose(
        policy.act(weights[:1], observations[None, :1])[0, 0], expected, atol=3e-7
    )
    relaxed = policy.relaxed_act(torch.tensor(weights[0]), torch.tensor(observations[:1]))
    np.testing.assert_allclose(relaxed.numpy()[0], expected, atol=1e-12)
    compiled = through_lanes(policy, weights, observations, 3)
    np.testing.assert_allclose(compiled[0], expected, atol=1e-4)


def test_the_cube_is_centred_at_0_and_reaches_1_for_every_seed(spec: MakeSpec) -> None:
    for seed in (0, 5):
        space = make_policy("linear", spec(1), seed=seed).space
        np.testing.assert_array_equal(space.centre, 0.0)
        np.testing.assert_array_equal(space.half_range, 1.0)
    wide = make_policy("linear", spec(1), ranges={"first": 3.0}, output_gain=2.0)
    assert set(wide.space.half_range) == {1.0, 3.0}


def test_an_mlp_without_hidden_layers_is_the_same_map(spec: MakeSpec, draw: Draw) -> None:
    task = spec(3)
    linear, plain = make_policy("linear", task), make_policy("mlp", task, hidden=())
    weights, observations = draw(linear, task, 4)
    np.testing.assert_array_equal(
        linear.act(weights, observations[:, None]), plain.act(weights, observations[:, None])
    )
    assert plain.options["hidden"] == []
