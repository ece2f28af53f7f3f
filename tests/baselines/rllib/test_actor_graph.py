"""The ONNX graph of every learner's policy gives its actions, in ONNX Runtime."""

from typing import Any

import numpy as np
import pytest
import torch

from rolecast.baselines.registry import ALGORITHMS, algorithm_config
from rolecast.baselines.rllib.actor_policy import ActorPolicy
from rolecast.platform.deployment.onnx import run_onnx
from tests.baselines.conftest import make_learner, settings_it_has

AGENTS, OBSERVED, ACTED, ROWS = 3, 7, 2, 2000
CHOOSING_NAMES = ("comix", "covdn", "iql", "vdn", "qmix")
"""Learners that take the best of values."""
TEAM_KINDS: list[tuple[str, dict[str, Any]]] = [
    ("maddpg", {"agent_id": True}),
    ("matd3", {"share_policy": False}),
    ("maddpg", {"agent_id": True, "share_policy": False}),
    ("g2anet", {"agent_id": True}),
    ("masac", {"agent_id": True}),
    ("comix", {"cem_iterations": 3}),
]


def made(name: str, settings: dict[str, Any]) -> tuple[ActorPolicy, int]:
    """Return the policy of a learner with weights as large as learnt ones, and its agents."""
    config = algorithm_config(name)()
    agents = AGENTS if config.TEAMS else 1
    sizes = settings_it_has(name, hidden=(16, 12), critic_hidden=(8,))
    built = make_learner(config.training(**sizes, **settings), agents, OBSERVED, ACTED)
    net: Any = built.net if hasattr(built, "net") else built.module["default_policy"].unwrapped()
    generator = torch.Generator().manual_seed(3)
    with torch.no_grad():
        for module in net.acting_modules():
            for parameter in module.parameters():
                parameter.copy_(0.5 * torch.randn(parameter.shape, generator=generator))
        if hasattr(net, "normaliser"):
            net.normaliser.see(1.0 + 2.0 * torch.randn((50, OBSERVED), generator=generator))
    return ActorPolicy(name, net), agents


@pytest.mark.parametrize(
    ("name", "settings"), [*((name, {}) for name in sorted(ALGORITHMS)), *TEAM_KINDS], ids=str
)
def test_onnx_runtime_gives_the_actions_of_the_learner(name: str, settings: dict[str, Any]) -> None:
    """Within 1e-6 of the network in float64, all: the graph computes so too.

    The learner itself rounds to float32: its actions are within 1e-5, but where it takes the best
    of values that are equal but for rounding, one choice in a hundred.
    """
    policy, agents = made(name, settings)
    observations = np.random.default_rng(5).normal(size=(ROWS, agents, OBSERVED))
    given = observations.astype(np.float32)
    wanted = policy.exact_actions(given.astype(np.float64))
    found = run_onnx(policy.onnx_model(agents, OBSERVED, ACTED), given)
    assert found.shape == wanted.shape == (ROWS, agents, ACTED)
    assert np.ptp(wanted, axis=0).min() > 0.1
    assert np.abs(found - wanted).max() <= 1e-6
    learner = policy.act(policy.weights, given[None].astype(np.float64))[0]
    apart = np.abs(found - learner).max(axis=(1, 2))
    assert (apart <= 1e-5).mean() >= (0.99 if name in CHOOSING_NAMES else 1.0)
