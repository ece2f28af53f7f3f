"""The losses of MADDPG against cases worked out apart from it."""

from typing import Any

import numpy as np
import pytest
import torch

from rolecast.baselines.maddpg.config import MADDPGConfig
from rolecast.core.errors import ConfigError
from tests.baselines.conftest import make_batch, make_learner, tensors

AGENTS, OBSERVED, ACTED = 3, 2, 1


def learner(**settings: Any) -> Any:
    config = MADDPGConfig().training(hidden=(4,), critic_hidden=(5,), **settings)
    return make_learner(config, AGENTS, OBSERVED, ACTED)


def constant(critics: Any, values: list[float]) -> None:
    """Make each agent's critic return a constant."""
    with torch.no_grad():
        for parameter in critics.parameters():
            parameter.zero_()
        critics.networks.biases[-1].copy_(torch.tensor(values).view(AGENTS, 1, 1))


def test_each_critic_learns_from_its_own_agents_reward_and_slow_critic() -> None:
    """Agent i is paid i, slow critics say 10 i, critics say 1; discount 0.5."""
    one = learner(gamma=0.5)
    constant(one.net.critic, [1.0, 1.0, 1.0])
    constant(one.net.targets["critic"], [0.0, 10.0, 20.0])
    batch = tensors(make_batch(2, AGENTS, OBSERVED, ACTED))
    batch["rewards"] = torch.tensor([[0.0, 1.0, 2.0]]).repeat(2, 1)
    batch["terminated"] = torch.tensor([0.0, 1.0])
    goes_on = np.square(np.array([0.0, 6.0, 12.0]) - 1.0)
    ends = np.square(np.array([0.0, 1.0, 2.0]) - 1.0)
    assert one.critic_loss(batch).item() == pytest.approx((goes_on + ends).sum() / 2, rel=1e-6)


def test_in_an_agents_own_choice_the_others_act_as_they_did() -> None:
    """Each critic returns a sum of its inputs, weighted 1, 10, 100 by whose action it is."""
    one = learner()
    critics: Any = one.net.critic
    critics.networks = torch.nn.Identity()
    observations, taken = torch.zeros(1, AGENTS, OBSERVED), torch.tensor([[[1.0], [2.0], [3.0]]])
    chosen = torch.tensor([[[5.0], [6.0], [7.0]]])
    weights = torch.tensor([0.0] * 6 + [1.0, 10.0, 100.0])[:, None]
    critics.networks.register_forward_hook(lambda *call: call[2] @ weights)
    values = critics.values_of_policy_actions(observations, taken, chosen)
    assert values.tolist() == [[5 + 20 + 300, 1 + 60 + 300, 1 + 20 + 700]]
    assert critics(observations, taken).tolist() == [[321.0, 321.0, 321.0]]


def test_a_critic_that_sees_its_own_agent_alone_does_not_change_with_the_others() -> None:
    one = learner(critic_sees="own")
    batch = tensors(make_batch(4, AGENTS, OBSERVED, ACTED))
    before = one.net.critic(batch["observations"], batch["actions"])
    batch["observations"][:, 1] += 1.0
    batch["actions"][:, 1] += 1.0
    after = one.net.critic(batch["observations"], batch["actions"])
    assert (before != after).any(dim=0).tolist() == [False, True, False]


def test_the_policys_gradient_is_the_mean_over_agents_of_each_ones_own() -> None:
    """Against autograd of one agent after the other, by a critic of plain layers."""
    one = learner(action_penalty=0.0)
    net, batch = one.net, tensors(make_batch(6, AGENTS, OBSERVED, ACTED))
    stack = net.critic.networks
    total = torch.zeros(())
    for agent in range(AGENTS):
        actions = batch["actions"].clone()
        actions[:, agent] = torch.tanh(net.actor(batch["observations"][:, agent]))
        rows = torch.cat([batch["observations"].flatten(1), actions.flatten(1)], dim=1)
        hidden = torch.relu(rows @ stack.weights[0][agent] + stack.biases[0][agent])
        total = total + (hidden @ stack.weights[1][agent] + stack.biases[1][agent]).mean()
    parameters = list(net.actor.parameters())
    wanted = torch.autograd.grad(-total / AGENTS, parameters)
    found = torch.autograd.grad(one.actor_loss(batch), parameters)
    for one_found, one_wanted in zip(found, wanted, strict=True):
        np.testing.assert_allclose(one_found, one_wanted, rtol=1e-4, atol=1e-7)


def test_the_penalty_is_the_weighted_mean_square_of_actions() -> None:
    one = learner(action_penalty=0.5)
    constant(one.net.critic, [1.0, 2.0, 3.0])
    with torch.no_grad():
        for parameter in one.net.actor.parameters():
            parameter.zero_()
        list(one.net.actor.parameters())[-1].fill_(float(np.arctanh(0.6)))
    batch = tensors(make_batch(4, AGENTS, OBSERVED, ACTED))
    assert one.actor_loss(batch).item() == pytest.approx(0.5 * 0.36 - 2.0, rel=1e-5)


def test_adams_epsilon_is_the_configs() -> None:
    one = learner(adam_epsilon=0.01)
    assert {group["eps"] for opt, _ in one._groups.values() for group in opt.param_groups} == {0.01}


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"critic_sees": "some"}, r"critic_sees is 'some'; expected 'all' or 'own'"),
        ({"action_penalty": -1.0}, r"action_penalty is -1.0; expected a number >= 0"),
        ({"adam_epsilon": 0.0}, r"adam_epsilon is 0.0; expected a number > 0"),
    ],
)
def test_a_setting_that_cannot_be_is_refused(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        MADDPGConfig().training(**settings).check_settings()


def test_the_policys_loss_reads_what_the_others_did_and_not_what_they_would_do() -> None:
    """To an agent's own choice, another's action in the replay counts; its policy's does not."""
    one = learner(action_penalty=0.0)
    net, batch = one.net, tensors(make_batch(6, AGENTS, OBSERVED, ACTED))
    chosen = net.act(batch["observations"]).detach().requires_grad_()
    values = net.critic.values_of_policy_actions(batch["observations"], batch["actions"], chosen)
    for agent in range(AGENTS):
        (slopes,) = torch.autograd.grad(values[:, agent].sum(), chosen, retain_graph=True)
        assert (slopes.abs().sum(dim=(0, 2)) > 0).tolist() == [a == agent for a in range(AGENTS)]
    before = one.actor_loss(batch)
    assert one.actor_loss(batch | {"actions": -batch["actions"]}) != before


def test_the_target_values_what_all_slow_policies_would_do_next() -> None:
    """Against the slow networks layer by layer; one agent's reward differs from another's."""
    one = learner(gamma=0.9)
    net, batch = one.net, tensors(make_batch(5, AGENTS, OBSERVED, ACTED))
    with torch.no_grad():
        for parameter in net.targets.parameters():
            parameter.mul_(1.5)
        following = batch["next_observations"]
        stack = net.targets["critic"].networks
        coming = torch.tanh(net.targets["actor"](following))
        rows = torch.cat([following.flatten(1), coming.flatten(1)], dim=1)
        total = torch.zeros(())
        for agent in range(AGENTS):
            hidden = torch.relu(rows @ stack.weights[0][agent] + stack.biases[0][agent])
            value = (hidden @ stack.weights[1][agent] + stack.biases[1][agent]).squeeze(1)
            target = batch["rewards"][:, agent] + 0.9 * (1.0 - batch["terminated"]) * value
            said = net.critic(batch["observations"], batch["actions"])[:, agent]
            total = total + (said - target).square().mean()
    np.testing.assert_allclose(one.critic_loss(batch).item(), total.item(), rtol=1e-5)
