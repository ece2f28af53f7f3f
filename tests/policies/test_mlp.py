"""The shared MLP: its equation, and its three faces."""

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

TEAMS = [(1, (10, 10), 27, 8), (3, (14, 14), 16, 2), (2, (5,), 3, 1), (4, (3, 6, 2), 7, 3)]


def test_the_action_is_what_the_equation_says(spec: MakeSpec, draw: Draw) -> None:
    task = spec(2, observation_size=3, action_size=2)
    policy = make_policy("mlp", task, hidden=[4, 5], output_gain=1.7)
    (weights,), (observations,) = draw(policy, task, 1)
    cut = np.split(weights, np.cumsum([12, 4, 20, 5, 10]))
    for agent in range(2):
        first = np.tanh(cut[0].reshape(4, 3) @ observations[agent] + cut[1])
        second = np.tanh(cut[2].reshape(5, 4) @ first + cut[3])
        expected = np.tanh(1.7 * (cut[4].reshape(2, 5) @ second + cut[5]))
        actions = policy.act(weights[None], observations[None, None])
        np.testing.assert_allclose(actions[0, 0, agent], expected, atol=1e-12)


@pytest.mark.parametrize(("agents", "hidden", "size", "actions"), TEAMS)
def test_the_compiled_face_is_the_reference(
    agents: int,
    hidden: tuple[int, ...],
    size: int,
    actions: int,
    spec: MakeSpec,
    draw: Draw,
    through_lanes: ThroughLanes,
) -> None:
    task = spec(agents, observation_size=size, action_size=actions)
    policy = make_policy("mlp", task, hidden=hidden)
    weights, observations = draw(policy, task, 4 * LANE_COUNT)
    expected = policy.act(weights, observations[:, None])[:, 0]
    found = through_lanes(policy, weights, observations, actions)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-4)


@pytest.mark.parametrize(("agents", "hidden", "size", "actions"), TEAMS)
def test_the_torch_face_is_the_reference(
    agents: int, hidden: tuple[int, ...], size: int, actions: int, spec: MakeSpec, draw: Draw
) -> None:
    task = spec(agents, observation_size=size, action_size=actions)
    policy = make_policy("mlp", task, hidden=hidden)
    (weights,), observations = draw(policy, task, 1)[0], draw(policy, task, 6)[1]
    found = policy.relaxed_act(torch.tensor(weights), torch.tensor(observations))
    expected = policy.act(weights[None], observations[None])[0]
    # Torch does not stop at TANH_BOUND, where gradients would.
    np.testing.assert_allclose(found.numpy(), expected, rtol=0.0, atol=3e-7)


def test_renaming_agents_permutes_actions(spec: MakeSpec, draw: Draw) -> None:
    task = spec(5)
    policy = make_policy("mlp", task)
    weights, observations = draw(policy, task, 8)
    order = np.array([3, 0, 4, 1, 2])
    actions = policy.act(weights, observations[:, None])
    renamed = policy.act(weights, observations[:, None, order])
    np.testing.assert_allclose(renamed, actions[:, :, order], atol=1e-12)
