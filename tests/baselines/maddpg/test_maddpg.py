"""The losses of MADDPG against cases worked out apart from it."""

from typing import Any

import numpy as np
import pytest
import torch

from rolecast.baselines.maddpg.config import MADDPGConfig
from rolecast.envs.errors import ConfigError
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
    values = critics.of_own_choice(observations, taken, chosen)
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
