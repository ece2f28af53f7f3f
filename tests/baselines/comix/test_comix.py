"""COMIX and COVDN: their loss by hand, and that they act by what their utilities prefer."""

from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from rolecast.baselines.comix.config import COMIXConfig, COVDNConfig
from rolecast.baselines.rllib.mixing import SumMixer
from rolecast.core.errors import ConfigError
from tests.baselines.conftest import make_batch, make_learner, tensors

AGENTS, OBSERVED, ACTED = 2, 3, 1


def learner(config: COMIXConfig, **settings: Any) -> Any:
    config = config.training(hidden=(32, 16), **settings)
    return make_learner(config, AGENTS, OBSERVED, ACTED)


def peaked(utility: Any, place: float, height: float) -> None:
    """Make a utility height - |action - place|, whatever is observed."""
    with torch.no_grad():
        for parameter in utility.parameters():
            parameter.zero_()
        first, second, last = (layer for layer in utility if isinstance(layer, nn.Linear))
        first.weight[:2, -1], first.bias[:2] = (
            torch.tensor([1.0, -1.0]),
            torch.tensor([-place, place]),
        )
        second.weight[0, :2], last.weight[0, 0] = 1.0, -1.0
        last.bias.fill_(height)


def test_every_agent_takes_the_action_of_highest_utility() -> None:
    net = learner(COMIXConfig(), cem_samples=200, cem_elites=10, cem_iterations=4).net
    peaked(net.actor, 0.4, 1.0)
    actions = net.act(torch.randn(5, AGENTS, OBSERVED))
    assert actions.shape == (5, AGENTS, ACTED)
    assert (actions - 0.4).abs().max() < 0.01


def test_the_search_values_actions_as_the_utility_does() -> None:
    """The first layer is split in two for speed; the best of one round is the best of its list."""
    net = learner(COMIXConfig(), cem_iterations=1).net
    observations = torch.randn(4, AGENTS, OBSERVED)
    numbers = net.search.draw(ACTED, torch.Generator().manual_seed(5))
    tried = torch.tanh(numbers[0]).expand(-1, AGENTS, -1)
    for row, found in zip(observations, net.act(observations, None, numbers), strict=True):
        rows = row.expand(len(tried), -1, -1)
        values = net.actor(torch.cat([rows, tried], dim=-1)).squeeze(-1)
        best = tried[values.argmax(dim=0), torch.arange(AGENTS)]
        np.testing.assert_allclose(found, best, atol=1e-6)


def test_the_greedy_policy_is_a_function_of_what_is_observed() -> None:
    net = learner(COMIXConfig()).net
    observations = torch.randn(6, AGENTS, OBSERVED)
    torch.rand(100)
    again = net.act(observations[2:3])
    np.testing.assert_allclose(net.act(observations)[2:3], again, atol=1e-6)


def test_exploring_draws_a_search_of_its_own_and_adds_noise() -> None:
    """Without noise, explored actions differ from draw to draw but stay near the best."""
    net = learner(COMIXConfig(), exploration_noise=0.0).net
    peaked(net.actor, -0.3, 0.0)
    observations, memory = torch.zeros(50, AGENTS, OBSERVED), torch.zeros(50, AGENTS, ACTED)
    first, second = (
        net.explore(observations, memory, torch.Generator().manual_seed(seed)) for seed in (1, 2)
    )
    assert (first != second).any()
    assert (first + 0.3).abs().max() < 0.1
    net.settings["exploration_noise"] = 0.2
    noisy = net.explore(observations, memory, torch.Generator().manual_seed(1))
    # 100 draws of deviation 0.2: their deviation is within 0.2 +- 0.07 but for 1e-6 of seeds.
    assert 0.13 < float((noisy - first).std()) < 0.27


def test_the_target_is_the_slow_value_of_the_best_action_of_the_slow_utility() -> None:
    """COVDN: slow utilities peak at 2 and 2 are summed; 1 + 0.5 * 4, or 1 at the end."""
    one = learner(COVDNConfig(), gamma=0.5, cem_samples=400, cem_elites=20, cem_iterations=8)
    peaked(one.net.targets["actor"], 0.2, 2.0)
    peaked(one.net.actor, 0.5, 0.0)
    batch = tensors(make_batch(2, AGENTS, OBSERVED, ACTED))
    batch["rewards"], batch["terminated"] = torch.ones(2, AGENTS), torch.tensor([0.0, 1.0])
    batch["actions"] = torch.tensor([[[0.5], [0.1]], [[0.5], [0.5]]])  # worth 0 - 0.4, and 0
    expected = ((3.0 + 0.4) ** 2 + (1.0 - 0.0) ** 2) / 2
    assert one.critic_loss(batch).item() == pytest.approx(expected, rel=0.01)


def test_one_step_changes_utility_and_mixer_and_the_targets_follow_both() -> None:
    one = learner(COMIXConfig(), tau=0.25)
    fast = [*one.net.actor.parameters(), *one.net.critic.parameters()]
    before = [parameter.clone() for parameter in fast]
    slow = [parameter.clone() for parameter in one.net.targets.parameters()]
    one.update_fast([make_batch(32, AGENTS, OBSERVED, ACTED)])
    assert any((a != b).any() for a, b in zip(before[:2], fast[:2], strict=True))
    assert any((a != b).any() for a, b in zip(before[-6:], fast[-6:], strict=True))
    for now, old, following in zip(one.net.targets.parameters(), slow, fast, strict=True):
        np.testing.assert_allclose(now, (0.75 * old + 0.25 * following).detach(), atol=1e-6)


def test_covdn_is_comix_with_a_sum() -> None:
    assert isinstance(learner(COVDNConfig()).net.critic, SumMixer)


@pytest.mark.parametrize(("size", "parameters"), [("small", 491), ("paper", 5441), ("xl", 168401)])
def test_what_acts_is_the_utility_and_its_parameters_are_counted(
    size: str, parameters: int
) -> None:
    """pred_prey_3: 18-14-14-1, 18-64-64-1, 18-400-400-1, by hand."""
    one = make_learner(COMIXConfig().training(size=size), 3, 16, 2)
    acting = one.net.acting_modules()
    assert sum(p.numel() for module in acting for p in module.parameters()) == parameters


def test_a_mixer_under_which_agents_cannot_choose_alone_is_refused() -> None:
    words = r"COMIXConfig.mixer is 'nonmonotonic'; expected 'monotonic' or 'sum'"
    with pytest.raises(ConfigError, match=words):
        COMIXConfig().training(mixer="nonmonotonic").check_settings()


@pytest.mark.parametrize("config", [COMIXConfig(), COVDNConfig()], ids=["comix", "covdn"])
def test_the_target_mixes_the_best_that_the_slow_utility_offers_each_agent(
    config: COMIXConfig,
) -> None:
    """Utilities peak at 0.4, height 2: the best is known without a search."""
    one = learner(config, gamma=0.9, cem_samples=400, cem_elites=20, cem_iterations=8)
    net, batch = one.net, tensors(make_batch(6, AGENTS, OBSERVED, ACTED))
    peaked(net.targets["actor"], 0.4, 2.0)
    with torch.no_grad():
        for parameter in net.targets["critic"].parameters():
            parameter.mul_(1.5)
        following = batch["next_observations"]
        coming = net.targets["critic"](torch.full((6, AGENTS), 2.0), following.flatten(1))
        target = batch["rewards"].mean(dim=1) + 0.9 * (1 - batch["terminated"]) * coming
        rows = torch.cat([batch["observations"], batch["actions"]], dim=-1)
        said = net.critic(net.actor(rows).squeeze(-1), batch["observations"].flatten(1))
        wanted = (said - target).square().mean()
    np.testing.assert_allclose(one.critic_loss(batch).item(), wanted.item(), rtol=0.01)


def test_the_joint_value_rises_with_every_agents_utility() -> None:
    """So the best joint action is each agent's own best: on 2,000 states and utilities."""
    net = learner(COMIXConfig()).net
    state = torch.randn(2000, AGENTS * OBSERVED)
    utilities = torch.randn(2000, AGENTS, requires_grad=True)
    (slopes,) = torch.autograd.grad(net.critic(utilities, state).sum(), utilities)
    assert slopes.min() >= 0.0
    assert (slopes > 0.0).any(dim=0).all()
