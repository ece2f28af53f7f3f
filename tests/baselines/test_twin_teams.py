"""MATD3 and MASAC: what they add to MADDPG and SAC, worked out by hand."""

from typing import Any

import numpy as np
import pytest
import torch
from torch.distributions import Normal, TransformedDistribution
from torch.distributions.transforms import TanhTransform

from rolecast.baselines.registry import algorithm_config
from tests.baselines.conftest import fill, make_batch, make_learner, tensors

AGENTS = 3


def learner(name: str, **settings: Any) -> Any:
    config = algorithm_config(name)().training(hidden=(4,), critic_hidden=(5,), **settings)
    return make_learner(config, agents=AGENTS, observed=2, acted=1)


def constant(critics: Any, values: list[float]) -> None:
    """Make each agent's critic return a number of its own."""
    with torch.no_grad():
        for parameter in critics.parameters():
            parameter.zero_()
        critics.networks.biases[-1].copy_(torch.tensor(values).view(AGENTS, 1, 1))


def test_each_agents_target_is_the_smaller_of_its_two_values() -> None:
    """Rewards 0, 1, 2; discount 0.5; nothing follows the second transition."""
    one = learner("matd3", gamma=0.5)
    slow = one.net.targets["critic"]
    constant(slow.first, [4.0, 10.0, 20.0])
    constant(slow.second, [6.0, 8.0, 30.0])
    batch = tensors(make_batch(2, AGENTS, 2, 1))
    batch["rewards"] = torch.tensor([[0.0, 1.0, 2.0]]).repeat(2, 1)
    batch["terminated"] = torch.tensor([0.0, 1.0])
    assert one.td_targets(batch).tolist() == [[2.0, 5.0, 12.0], [0.0, 1.0, 2.0]]
    constant(one.net.critic.first, [2.0, 5.0, 12.0])
    constant(one.net.critic.second, [3.0, 5.0, 12.0])
    wanted = (1.0 + 2.0**2 + 3.0**2 + 2 * 4.0**2 + 2 * 10.0**2) / 2
    assert one.critic_loss(batch).item() == pytest.approx(wanted)


def test_target_actions_of_all_agents_carry_clipped_noise() -> None:
    """Slow critics return the sum of all actions: 3 times 0.9, plus noise of at most 0.25 each."""
    one = learner("matd3", gamma=1.0, target_noise=10.0, target_noise_clip=0.25)
    slow = one.net.targets["critic"]
    fill(one.net.targets["actor"], float(np.arctanh(0.9)))
    for twin in (slow.first, slow.second):
        constant(twin, [0.0] * AGENTS)
        with torch.no_grad():
            twin.networks.weights[0][:, -AGENTS:, 0] = 1.0
            twin.networks.weights[1][:, 0] = 1.0
    batch = tensors(make_batch(400, AGENTS, 2, 1))
    batch["rewards"], batch["terminated"] = torch.zeros(400, AGENTS), torch.zeros(400)
    done = one.td_targets(batch)
    assert done.max().item() == pytest.approx(3.0, abs=1e-6)
    assert done.min().item() == pytest.approx(3 * 0.65, abs=1e-6)
    assert len(done[:, 0].unique()) > 4


def test_the_entropy_of_masac_is_that_of_the_joint_action() -> None:
    """Alpha 0.5, values 4 and 3 follow: the target is r + gamma (3 - 0.5 log pi(a' | s'))."""
    one = learner("masac", gamma=0.5, initial_alpha=0.5)
    fill(one.net.critic.first, 0.0)
    fill(one.net.targets["critic"].first, 4.0)
    fill(one.net.targets["critic"].second, 3.0)
    batch = tensors(make_batch(6, AGENTS, 2, 1))
    batch["terminated"] = torch.zeros(6)
    one.generator.manual_seed(3)
    target = one.td_target(batch)
    one.generator.manual_seed(3)
    _, log_prob = one.sample_actions(batch["next_observations"])
    assert log_prob.shape == (6,)
    wanted = batch["rewards"].mean(dim=1) + 0.5 * (3.0 - 0.5 * log_prob)
    torch.testing.assert_close(target, wanted.detach())
    assert one.target_entropy == -3.0


def test_isac_is_sac_of_each_agent() -> None:
    """Rewards 0, 1, 2 of the agents, alpha 0.5; values 4, 10, 20 and 3, 12, 20 follow."""
    one = learner("isac", gamma=0.5, initial_alpha=0.5)
    constant(one.net.targets["critic"].first, [4.0, 10.0, 20.0])
    constant(one.net.targets["critic"].second, [3.0, 12.0, 20.0])
    batch = tensors(make_batch(6, AGENTS, 2, 1))
    batch["rewards"] = torch.tensor([[0.0, 1.0, 2.0]]).repeat(6, 1)
    batch["terminated"] = torch.zeros(6)
    one.generator.manual_seed(3)
    target = one.td_target(batch)
    one.generator.manual_seed(3)
    _, log_prob = one.sample_actions(batch["next_observations"])
    assert log_prob.shape == (6, AGENTS)
    smaller = torch.tensor([3.0, 10.0, 20.0])
    wanted = batch["rewards"] + 0.5 * (smaller - 0.5 * log_prob)
    torch.testing.assert_close(target, wanted.detach())
    assert one.target_entropy == -1.0
    before, _ = one.net.critic(batch["observations"], batch["actions"])
    batch["actions"][:, 1] += 1.0
    after, _ = one.net.critic(batch["observations"], batch["actions"])
    assert (before != after).any(dim=0).tolist() == [False, True, False]
    assert not one.config.reads_state


@pytest.mark.parametrize(("name", "target"), [("masac", -6.0), ("isac", -2.0)])
def test_padding_has_no_entropy(name: str, target: float) -> None:
    """Of agents with 1, 3 and 2 numbers: densities and target are of these alone."""
    config: Any = algorithm_config(name)().training(hidden=(4,), critic_hidden=(5,))
    padded, whole = (make_learner(config, AGENTS, 2, 3, own_sizes=own) for own in ((1, 3, 2), None))
    assert padded.target_entropy == target
    assert whole.target_entropy == target * 1.5
    obs = tensors(make_batch(6, AGENTS, 2, 3))["observations"]
    padded.generator.manual_seed(3)
    whole.generator.manual_seed(3)
    actions, log_prob = padded.sample_actions(obs)
    same, _ = whole.sample_actions(obs)
    torch.testing.assert_close(actions, same, rtol=0.0, atol=0.0)
    mean, log_std = padded.net.actor.mean_and_log_std(obs)
    squashed: Any = TransformedDistribution(
        Normal(mean, log_std.exp()), [TanhTransform(cache_size=1)]
    )
    wanted = squashed.log_prob(actions)
    wanted[:, 0, 1:] = wanted[:, 2, 2:] = 0.0
    wanted = wanted.sum(dim=-1) if name == "isac" else wanted.sum(dim=(1, 2))
    torch.testing.assert_close(log_prob, wanted, rtol=1e-3, atol=1e-3)


def test_masac_reads_the_state_where_there_is_one() -> None:
    config: Any = algorithm_config("masac")().training(hidden=(4,), critic_hidden=(5,))
    net = make_learner(config, agents=AGENTS, observed=2, acted=1, state=7).net
    assert net.critic.first[0].in_features == 7 + AGENTS


@pytest.mark.parametrize("name", ["matd3", "masac"])
def test_the_epsilon_of_adam_is_the_teams(name: str) -> None:
    one = learner(name, adam_epsilon=0.125)
    groups = [group for optimizer, _ in one._groups.values() for group in optimizer.param_groups]
    assert {group["eps"] for group in groups} == {0.125}


def test_independent_learners_have_names_and_see_their_own_agent_alone() -> None:
    iddpg, ippo = algorithm_config("iddpg")(), algorithm_config("ippo")()
    assert (iddpg.critic_sees, iddpg.reads_state) == ("own", False)
    iddpg.critic_sees, iddpg.symmetries = "all", True
    assert not iddpg.reads_state, "states are not mapped by a symmetry"
    iddpg = algorithm_config("iddpg")()
    assert (ippo.centralised_critic, ippo.reads_state) == (False, False)
    one = learner("iddpg")
    batch = tensors(make_batch(4, AGENTS, 2, 1))
    before = one.net.critic(batch["observations"], batch["actions"])
    batch["actions"][:, 1] += 1.0
    after = one.net.critic(batch["observations"], batch["actions"])
    assert (before != after).any(dim=0).tolist() == [False, True, False]
