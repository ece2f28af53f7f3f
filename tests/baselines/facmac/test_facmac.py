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
            value = net.critic(batch["observations"], actions, net.state_of(batch)).mean()
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


@pytest.mark.parametrize("mixer", ["monotonic", "nonmonotonic"])
def test_the_gradient_of_each_agents_action_sees_what_the_others_do_now(mixer: str) -> None:
    """The replay's actions are no part of the policy's loss, another agent's new action is.

    By hand: the slope of the joint value in an agent's action, as autograd has it with all actions
    chosen anew, changes with another agent's new action, as the mixer is not a sum.
    """
    one = learner(mixer=mixer, action_penalty=0.0)
    net, batch = one.net, tensors(make_batch(8, AGENTS, OBSERVED, ACTED))
    same = one.actor_loss(batch | {"actions": -batch["actions"]})
    assert same == one.actor_loss(batch)

    def slopes(chosen: torch.Tensor) -> torch.Tensor:
        chosen = chosen.detach().requires_grad_()
        values = net.critic(batch["observations"], chosen, net.state_of(batch))
        (found,) = torch.autograd.grad(values.sum(), chosen)
        return found

    chosen = net.act(batch["observations"])
    every = slopes(chosen)
    assert (every.abs().sum(dim=(0, 2)) > 0).all()
    other = chosen.detach().clone()
    other[:, 1] = -other[:, 1]
    assert (slopes(other)[:, 0] != every[:, 0]).any()
    wanted = torch.autograd.grad(chosen, list(net.actor.parameters()), -every / len(chosen))
    found = torch.autograd.grad(one.actor_loss(batch), list(net.actor.parameters()))
    for one_found, one_wanted in zip(found, wanted, strict=True):
        np.testing.assert_allclose(one_found, one_wanted, rtol=1e-4, atol=1e-7)


def test_the_target_is_the_slow_mixture_of_what_the_slow_policy_would_do_next() -> None:
    """The mean of the agents' rewards, and the mixing formula written out for the slow critic."""
    one = learner(mixer="monotonic", gamma=0.9)
    net, batch = one.net, tensors(make_batch(5, AGENTS, OBSERVED, ACTED))
    with torch.no_grad():
        for parameter in net.targets.parameters():
            parameter.mul_(1.5)
        following, slow = batch["next_observations"], net.targets["critic"]
        actions = torch.tanh(net.targets["actor"](following))
        utilities = slow.utility(torch.cat([following, actions], dim=-1)).squeeze(-1)
        reads = slow.mixer.reader(following.flatten(1))
        weights = reads[:, : 4 * AGENTS].abs().view(-1, AGENTS, 4)
        mixed = torch.einsum("ba,bae->be", utilities, weights) + reads[:, -8:-4]
        mixed = torch.where(mixed > 0, mixed, mixed.exp() - 1.0)
        value = (mixed * reads[:, 4 * AGENTS : 4 * AGENTS + 4].abs()).sum(dim=1)
        value = value + slow.mixer.value(torch.relu(reads[:, -4:])).squeeze(1)
        target = batch["rewards"].sum(dim=1) / AGENTS + 0.9 * (1 - batch["terminated"]) * value
        values = net.critic(batch["observations"], batch["actions"], net.state_of(batch))
        wanted = (values - target).square().mean()
    np.testing.assert_allclose(one.critic_loss(batch).item(), wanted.item(), rtol=1e-5)
