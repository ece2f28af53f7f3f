"""The losses of DDPG against cases worked out by hand."""

import pytest
import torch

from rolecast.baselines.ddpg.config import DDPGConfig
from tests.baselines.conftest import fill, make_batch, make_learner, tensors


def test_the_target_is_the_slow_critics_value_and_none_after_a_termination() -> None:
    config = DDPGConfig().training(hidden=(4,), critic_hidden=(5,), gamma=0.5)
    one = make_learner(config, agents=1, observed=2, acted=1)
    fill(one.net.critic, 1.0)
    fill(one.net.targets["critic"], 4.0)
    batch = tensors(make_batch(2, 1, 2, 1))
    batch["rewards"], batch["terminated"] = torch.full((2, 1), 3.0), torch.tensor([0.0, 1.0])
    assert one.critic_loss(batch).item() == pytest.approx(((5.0 - 1.0) ** 2 + (3.0 - 1.0) ** 2) / 2)
    assert one.actor_loss(batch).item() == pytest.approx(-1.0)


def test_the_noise_remembers_within_an_episode() -> None:
    """Ornstein-Uhlenbeck of decay 0.15: after a step of no noise, 0.85 of it is left."""
    config = DDPGConfig().training(
        hidden=(4,),
        critic_hidden=(5,),
        noise_process="ornstein_uhlenbeck",
        exploration_noise=0.0,
    )
    net = make_learner(config, agents=1, observed=2, acted=1).net
    fill(net.actor, 0.0)
    memory = torch.full((3, 1, 1), 0.4)
    actions = net.explore(torch.zeros(3, 1, 2), memory, None)
    torch.testing.assert_close(memory, torch.full((3, 1, 1), 0.34))
    torch.testing.assert_close(actions, memory)


@pytest.mark.parametrize(("last_layer", "least", "most"), [(3e-3, 1e-3, 3e-3), (None, 0.1, 1.0)])
def test_last_layers_are_drawn_as_small_as_its_authors_had_them(
    last_layer: float | None, least: float, most: float
) -> None:
    config = DDPGConfig().training(hidden=(8,), critic_hidden=(8,), last_layer=last_layer)
    net = make_learner(config, agents=1, observed=5, acted=2).net
    for module in (net.actor, net.critic.net, net.targets["actor"], net.targets["critic"].net):
        greatest = max(weights.detach().abs().max().item() for weights in module[-1].parameters())
        assert least < greatest < most
