"""The losses of FACMAC against cases worked out apart from it."""

from typing import Any

import numpy as np
import pytest
import torch

from rolecast.baselines.facmac.config import FACMACConfig
from tests.baselines.conftest import make_batch, make_learner, tensors

AGENTS, OBSERVED, ACTED = 3, 2, 1


def learner(**settings: Any) -> Any:
    config = FACMACConfig().training(
        hidden=(4,), critic_hidden=(5,), mixing_embedding=4, **settings
    )
    return make_learner(config, AGENTS, OBSERVED, ACTED)


def constant(network: torch.nn.Module, value: float) -> None:
    """Make a perceptron return a constant: its last bias."""
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.zero_()
        list(network.parameters())[-1].fill_(value)


def test_the_joint_value_learns_from_the_mean_reward_and_the_slow_joint_value() -> None:
    """Three utilities of 2 follow, summed: 1 + 0.5 * 6, or 1 at the end; three of 1 are there."""
    one = learner(mixer="sum", gamma=0.5)
    constant(one.net.critic.utility, 1.0)
    constant(one.net.targets["critic"].utility, 2.0)
    batch = tensors(make_batch(2, AGENTS, OBSERVED, ACTED))
    batch["rewards"] = torch.tensor([[0.0, 1.0, 2.0], [1.0, 1.0, 1.0]])
    batch["terminated"] = torch.tensor([0.0, 1.0])
    expected = ((4.0 - 3.0) ** 2 + (1.0 - 3.0) ** 2) / 2
    assert one.critic_loss(batch).item() == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("mixer", ["monotonic", "nonmonotonic", "sum"])
def test_the_policys_gradient_is_that_of_all_agents_acting_anew_together(mixer: str) -> None:
    """Against finite differences of the joint value in the policy's last bias, float64."""
    one = learner(mixer=mixer, action_penalty=0.1)
    batch = tensors(make_batch(8, AGENTS, OBSERVED, ACTED))
    net = one.net.double()
    batch = {name: rows.double() for name, rows in batch.items()}
    bias = list(net.actor.parameters())[-1]
    (found,) = torch.autograd.grad(one.actor_loss(batch), bias)

    def loss(shift: float) -> float:
        with torch.no_grad():
            bias.add_(shift)
            actions = torch.tanh(net.actor(batch["observations"]))
            value = net.critic(batch["observations"], actions).mean()
            bias.sub_(shift)
        return float(0.1 * actions.square().mean() - value)

    wanted = (loss(1e-6) - loss(-1e-6)) / 2e-6
    np.testing.assert_allclose(found.numpy(), [wanted], rtol=1e-5)


def test_the_critic_is_monotonic_in_every_utility_unless_it_is_told_not_to_be() -> None:
    lowest = {}
    for mixer in ("monotonic", "nonmonotonic"):
        critic = learner(mixer=mixer).net.critic
        batch = tensors(make_batch(500, AGENTS, OBSERVED, ACTED))
        utilities = critic.utilities(batch["observations"], batch["actions"]).detach()
        utilities.requires_grad_()
        value = critic.mixer(utilities, batch["observations"].flatten(1))
        (slopes,) = torch.autograd.grad(value.sum(), utilities)
        lowest[mixer] = float(slopes.min())
    assert lowest["monotonic"] >= 0.0
    assert lowest["nonmonotonic"] < 0.0


def test_a_share_of_the_way_is_what_every_target_goes() -> None:
    one = learner(tau=0.25)
    old = [parameter.clone() for parameter in one.net.targets.parameters()]
    one.update_fast([make_batch(16, AGENTS, OBSERVED, ACTED)])
    fast = [*one.net.actor.parameters(), *one.net.critic.parameters()]
    for slow, before, now in zip(one.net.targets.parameters(), old, fast, strict=True):
        np.testing.assert_allclose(slow, (0.75 * before + 0.25 * now).detach(), atol=1e-6)


@pytest.mark.parametrize(("size", "parameters"), [("small", 478), ("paper", 5378), ("xl", 168002)])
def test_policies_have_the_sizes_of_the_papers(size: str, parameters: int) -> None:
    """pred_prey_3: 16-14-14-2 is the paper's 478; 16-64-64-2 and 16-400-400-2 by hand."""
    one = make_learner(FACMACConfig().training(size=size), 3, 16, 2)
    acting = one.net.acting_modules()
    assert sum(p.numel() for module in acting for p in module.parameters()) == parameters
