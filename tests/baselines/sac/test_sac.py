"""The losses of SAC against torch's own distributions and cases worked out by hand."""

import math
from typing import Any

import pytest
import torch
from torch.distributions import Normal, TransformedDistribution
from torch.distributions.transforms import TanhTransform

from rolecast.baselines.sac.config import SACConfig
from tests.baselines.conftest import fill, make_batch, make_learner, tensors


def learner(**settings: Any) -> Any:
    config = SACConfig().training(hidden=(4,), critic_hidden=(5,), **settings)
    return make_learner(config, agents=1, observed=3, acted=2)


def test_log_densities_are_those_of_a_squashed_gaussian() -> None:
    actor = learner().net.actor
    observations, noise = torch.randn(50, 3), torch.randn(50, 2)
    actions, log_prob = actor.sample(observations, noise)
    mean, log_std = actor.mean_and_log_std(observations)
    squashed: Any = TransformedDistribution(
        Normal(mean, log_std.exp()), [TanhTransform(cache_size=1)]
    )
    raw = mean + log_std.exp() * noise
    torch.testing.assert_close(actions, torch.tanh(raw))
    wanted = squashed.log_prob(squashed.transforms[0](raw)).sum(dim=-1)
    torch.testing.assert_close(log_prob, wanted, rtol=1e-4, atol=1e-4)


def test_log_densities_stay_finite_where_the_tanh_saturates() -> None:
    actor = learner().net.actor
    with torch.no_grad():
        actor.mean[-1].bias.fill_(40.0)
    assert torch.isfinite(actor.sample(torch.zeros(5, 3), torch.zeros(5, 2))[1]).all()


def test_the_target_is_the_smaller_value_plus_alpha_times_the_entropy() -> None:
    """Values 3 and 2, alpha 0.5, log-density l: 1 + 0.9 (2 - 0.5 l), or 1 at the end."""
    one = learner(gamma=0.9, initial_alpha=0.5)
    net = one.net
    fill(net.critic.first, 0.0)
    fill(net.critic.second, 0.0)
    fill(net.targets["critic"].first, 3.0)
    fill(net.targets["critic"].second, 2.0)
    batch = tensors(make_batch(6, 1, 3, 2))
    batch["rewards"] = torch.ones(6, 1)
    batch["terminated"] = torch.tensor([0.0, 1.0, 0.0, 0.0, 1.0, 0.0])
    one.generator.manual_seed(5)
    _, log_prob = one.sample_actions(batch["next_observations"])
    one.generator.manual_seed(5)
    target = 1.0 + 0.9 * (1.0 - batch["terminated"]) * (2.0 - 0.5 * log_prob.detach())
    assert one.critic_loss(batch).item() == pytest.approx(target.square().mean().item(), rel=1e-5)


def test_alpha_rises_where_entropy_is_below_its_target_and_falls_above() -> None:
    """By hand: the gradient of the loss for log alpha is -alpha (log-density + target)."""
    one = learner(initial_alpha=0.5, alpha_lr=0.1)
    assert one.target_entropy == -2.0
    for log_prob, rises in ((5.0, True), (-5.0, False)):
        before = one.net.log_alpha.item()
        one._log_prob = torch.full((8,), log_prob)
        loss = one.alpha_loss()
        (gradient,) = torch.autograd.grad(loss, one.net.log_alpha)
        assert gradient.item() == pytest.approx(-math.exp(before) * (log_prob - 2.0), rel=1e-5)
        one.step("alpha", one.alpha_loss())
        assert one.net.log_alpha.grad.item() == pytest.approx(gradient.item(), rel=1e-6)
        assert (one.net.log_alpha.item() > before) == rises


def test_an_alpha_that_is_not_learned_stays() -> None:
    one = learner(initial_alpha=0.25, learn_alpha=False)
    for _ in range(3):
        one.update_fast([make_batch(8, 1, 3, 2)])
    assert one.net.log_alpha.item() == pytest.approx(math.log(0.25))


def test_the_step_of_the_policy_moves_mean_and_deviation_and_no_critic() -> None:
    one = learner()
    net = one.net
    old = {name: parameter.clone() for name, parameter in net.named_parameters()}
    one.step("actor", one.actor_loss(tensors(make_batch(8, 1, 3, 2))))
    changed = {name.split(".")[0] for name, p in net.named_parameters() if (p != old[name]).any()}
    assert changed == {"actor"}
    assert (net.actor.log_deviation.weight != old["actor.log_deviation.weight"]).any()
    assert (net.actor.mean[0].weight != old["actor.mean.0.weight"]).any()


def test_greedy_actions_are_the_means() -> None:
    net = learner().net
    observations = torch.randn(7, 1, 3)
    torch.testing.assert_close(net.act(observations), torch.tanh(net.actor.mean(observations)))


@pytest.mark.parametrize("limit", [-30.0, 10.0])
def test_a_standard_deviation_at_its_limit_learns_nothing(limit: float) -> None:
    one = learner()
    with torch.no_grad():
        one.net.actor.log_deviation.bias[0] = limit
    one.step("actor", one.actor_loss(tensors(make_batch(40, 1, 3, 2))))
    gradient = one.net.actor.log_deviation.weight.grad
    assert (gradient[0] == 0.0).all()
    assert (gradient[1] != 0.0).any()
