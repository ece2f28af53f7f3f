"""Policies that tell agents apart, by their number or by weights of their own."""

from typing import Any

import numpy as np
import pytest
import torch

from rolecast.baselines.registry import algorithm_config
from rolecast.baselines.rllib.actor_policy import ActorPolicy
from rolecast.baselines.rllib.team_actor import TeamActor
from rolecast.core.errors import ConfigError

ALIKE = torch.ones(5, 3, 4)
"""Three agents that see the same."""


def actor(*, agent_id: bool, share_policy: bool) -> TeamActor:
    torch.manual_seed(0)
    return TeamActor(3, 4, (6,), 2, agent_id=agent_id, share_policy=share_policy)


@pytest.mark.parametrize(
    ("agent_id", "share_policy", "apart", "weights"),
    [
        (False, True, False, 4 * 6 + 6 + 6 * 2 + 2),
        (True, True, True, 7 * 6 + 6 + 6 * 2 + 2),
        (False, False, True, 3 * (4 * 6 + 6 + 6 * 2 + 2)),
        (True, False, True, 3 * (7 * 6 + 6 + 6 * 2 + 2)),
    ],
)
def test_agents_that_see_the_same_act_apart_only_where_they_are_told_apart(
    agent_id: bool, share_policy: bool, apart: bool, weights: int
) -> None:
    net = actor(agent_id=agent_id, share_policy=share_policy)
    actions = net(ALIKE)
    assert actions.shape == (5, 3, 2)
    assert torch.allclose(actions[:, 0], actions[:, 1]) is not apart
    assert sum(p.numel() for p in net.parameters()) == weights
    assert torch.allclose(net(ALIKE[0]), actions[0])


def test_the_weights_of_an_agent_are_its_own() -> None:
    net = actor(agent_id=False, share_policy=False)
    net(torch.randn(5, 3, 4))[:, 1].sum().backward()
    for parameter in net.parameters():
        assert parameter.grad is not None
        touched = parameter.grad.flatten(1).abs().sum(dim=1) > 0
        assert touched.tolist() == [False, True, False]


@pytest.mark.parametrize(
    ("name", "option"),
    [
        ("comix", {"agent_id": True}),
        ("comix", {"share_policy": False}),
        ("g2anet", {"share_policy": False}),
        ("masac", {"share_policy": False}),
    ],
)
def test_a_method_whose_policy_has_no_such_form_says_so(name: str, option: dict[str, bool]) -> None:
    with pytest.raises(ConfigError, match=next(iter(option))):
        algorithm_config(name)().tuned(option)


@pytest.mark.usefixtures("ray_cluster")
@pytest.mark.filterwarnings("ignore::DeprecationWarning:ray")
@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("maddpg", {"agent_id": True, "share_policy": False}),
        ("g2anet", {"agent_id": True}),
        ("masac", {"agent_id": True}),
    ],
)
def test_such_a_policy_learns_and_is_scored(name: str, options: dict[str, Any]) -> None:
    config = (
        algorithm_config(name)()
        .environment("pred_prey_3")
        .training(
            hidden=(4,),
            critic_hidden=(4,),
            train_batch_size_per_learner=8,
            num_steps_sampled_before_learning_starts=50,
            **options,
        )
        .debugging(seed=0)
    )
    algorithm: Any = config.build_algo()
    try:
        before = ActorPolicy(name, algorithm.get_module()).weights
        algorithm.pause_at = 400
        algorithm.train()
        policy = ActorPolicy(name, algorithm.get_module(), options)
    finally:
        algorithm.stop()
    assert not np.array_equal(before, policy.weights)
    seen = np.ones((1, 2, 3, 16))
    actions = policy.act(policy.weights, seen)[0]
    assert not np.allclose(actions[:, 0], actions[:, 1])
