"""The losses of TD3 against cases worked out by hand."""

from typing import Any

import numpy as np
import pytest
import torch

from rolecast.baselines.td3.config import TD3Config
from tests.baselines.conftest import fill, make_batch, make_learner, tensors


def learner(**settings: Any) -> Any:
    config = TD3Config().training(hidden=(4,), critic_hidden=(5,), **settings)
    return make_learner(config, agents=1, observed=2, acted=1)


def test_the_target_is_the_smaller_value_and_none_after_a_termination() -> None:
    """Values 3 and 2 follow; reward 1, discount 0.9: the target is 1 + 0.9 * 2, or 1 at the end."""
    one = learner(gamma=0.9)
    net = one.net
    fill(net.critic.first, 0.5)
    fill(net.critic.second, 1.0)
    fill(net.targets["critic"].first, 3.0)
    fill(net.targets["critic"].second, 2.0)
    batch = tensors(make_batch(4, 1, 2, 1))
    batch["rewards"], batch["terminated"] = torch.ones(4, 1), torch.tensor([0.0, 1.0, 0.0, 0.0])
    goes_on = (2.8 - 0.5) ** 2 + (2.8 - 1.0) ** 2
    ends = (1.0 - 0.5) ** 2 + (1.0 - 1.0) ** 2
    assert one.critic_loss(batch).item() == pytest.approx((3 * goes_on + ends) / 4, rel=1e-6)


def test_target_actions_carry_clipped_noise_and_stay_in_range() -> None:
    """The target critics return their action plus 1, less 1, so the target shows what was done."""
    one = learner(gamma=1.0, target_noise=10.0, target_noise_clip=0.25)
    for twin in (one.net.targets["critic"].first, one.net.targets["critic"].second):
        fill(twin, -1.0)
        with torch.no_grad():
            twin[0].weight[0, 2] = twin[0].bias[0] = twin[2].weight[0, 0] = 1.0
    fill(one.net.targets["actor"], float(np.arctanh(0.9)))
    batch = tensors(make_batch(200, 1, 2, 1))
    batch["rewards"], batch["terminated"] = torch.zeros(200, 1), torch.zeros(200)
    done = one.td_target(batch)
    assert done.max().item() == 1.0  # 0.9 + 0.25, cut off
    assert done.min().item() == pytest.approx(0.65, abs=1e-6)


def test_the_policys_loss_is_minus_the_first_critics_value() -> None:
    one = learner()
    fill(one.net.critic.first, 0.7)
    fill(one.net.critic.second, -5.0)
    assert one.actor_loss(tensors(make_batch(3, 1, 2, 1))).item() == pytest.approx(-0.7)


def test_policy_and_targets_move_at_every_second_update() -> None:
    one = learner(tau=0.5)
    net = one.net
    moved = []
    for _ in range(4):
        before = {
            name: [parameter.clone() for parameter in module.parameters()]
            for name, module in (
                ("critic", net.critic),
                ("actor", net.actor),
                ("slow", net.targets),
            )
        }
        one.update_fast([make_batch(16, 1, 2, 1)])
        moved.append(
            [
                any((a != b).any() for a, b in zip(old, module.parameters(), strict=True))
                for old, module in zip(
                    before.values(), (net.critic, net.actor, net.targets), strict=True
                )
            ]
        )
    assert moved == [[True, False, False], [True, True, True]] * 2


def test_targets_go_a_share_of_the_way() -> None:
    one = learner(tau=0.25, policy_delay=1)
    old = [parameter.clone() for parameter in one.net.targets["critic"].parameters()]
    one.update_fast([make_batch(16, 1, 2, 1)])
    for slow, before, fast in zip(
        one.net.targets["critic"].parameters(), old, one.net.critic.parameters(), strict=True
    ):
        torch.testing.assert_close(slow, 0.75 * before + 0.25 * fast)


def test_the_step_of_the_policy_leaves_the_critics_alone() -> None:
    """And its gradient is that of the composed function, as autograd has it without our loop."""
    one = learner(policy_delay=1, actor_lr=0.125)
    net, batch = one.net, tensors(make_batch(16, 1, 2, 1))
    critic = [parameter.clone() for parameter in net.critic.parameters()]
    loss = one.actor_loss(batch)
    wanted = torch.autograd.grad(loss, list(net.actor.parameters()), retain_graph=True)
    before = [parameter.clone() for parameter in net.actor.parameters()]
    one.step("actor", loss)
    for old, new in zip(critic, net.critic.parameters(), strict=True):
        torch.testing.assert_close(old, new, rtol=0, atol=0)
    for old, new, gradient in zip(before, net.actor.parameters(), wanted, strict=True):
        # The first step of Adam is the learning rate times the sign of the gradient.
        torch.testing.assert_close(new, old - 0.125 * gradient.sign(), rtol=1e-3, atol=1e-3)


def test_the_defaults_are_those_of_the_paper_and_updates_begin_among_uniform_steps() -> None:
    """Fujimoto et al. (2018), and the first published code: updates after the first episode."""
    config = TD3Config()
    assert (config.actor_lr, config.critic_lr, config.train_batch_size_per_learner) == (
        1e-3,
        1e-3,
        100,
    )
    assert (config.critic_hidden, config.paper_hidden) == ((400, 300), (400, 300))
    assert config.num_steps_sampled_before_learning_starts < config.random_steps == 1000
