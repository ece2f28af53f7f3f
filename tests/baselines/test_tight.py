"""Gradients written by hand against those that autograd finds for the losses, in float64."""

from typing import Any, Final

import pytest
import torch
from ray.rllib.core import DEFAULT_MODULE_ID

from rolecast.baselines.registry import algorithm_config
from tests.baselines.conftest import make_batch, make_learner, tensors

METHODS: Final = ("ddpg", "sac", "td3")
NETS: Final = (((4,), (5,)), ((6, 5), (7, 4)), ((5, 4, 3), (6,)))


def learner(name: str, hidden: tuple[int, ...], critic_hidden: tuple[int, ...]) -> Any:
    """Return a learner in float64, where rounding hides nothing."""
    config = algorithm_config(name)().training(
        hidden=hidden, critic_hidden=critic_hidden, gamma=0.9
    )
    if name == "sac":
        config.training(initial_alpha=0.3)
    if name == "ddpg":
        config.training(last_layer=None)  # small ones have gradients too small to tell
    one = make_learner(config, agents=1, observed=3, acted=2)
    one.net.double()
    one.configure_optimizers_for_module(DEFAULT_MODULE_ID)
    return one


def doubled() -> dict[str, torch.Tensor]:
    return {name: rows.double() for name, rows in tensors(make_batch(40, 1, 3, 2)).items()}


def check_step(one: Any, part: str, batch: dict[str, torch.Tensor]) -> None:
    """Compare loss and gradients of a step with those of autograd, at the same random numbers."""
    _, parameters = one._groups[part]
    one.generator.manual_seed(3)
    loss = getattr(one, f"{part}_loss")(batch)
    wanted = torch.autograd.grad(loss, parameters)
    one.generator.manual_seed(3)
    getattr(one, f"step_{part}")(batch)
    assert one.losses[f"{part}_loss"].item() == pytest.approx(loss.item(), rel=1e-12)
    assert any(gradient.abs().max() > 1e-3 for gradient in wanted)
    for parameter, gradient in zip(parameters, wanted, strict=True):
        torch.testing.assert_close(parameter.grad, gradient, rtol=1e-10, atol=1e-13)


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize(("hidden", "critic_hidden"), NETS)
@pytest.mark.parametrize("part", ["critic", "actor"])
def test_a_step_follows_the_gradient_of_its_loss(
    name: str, part: str, hidden: tuple[int, ...], critic_hidden: tuple[int, ...]
) -> None:
    check_step(learner(name, hidden, critic_hidden), part, doubled())


def test_a_policy_may_have_one_critic_that_is_smaller_everywhere() -> None:
    one = learner("sac", (4,), (5,))
    with torch.no_grad():
        one.net.critic.first.get_submodule("2").bias += 100.0
    check_step(one, "actor", doubled())


@pytest.mark.parametrize("limit", [-30.0, 10.0])
def test_a_deviation_at_its_limit_learns_nothing(limit: float) -> None:
    one = learner("sac", (4,), (5,))
    with torch.no_grad():
        one.net.actor.log_deviation.bias[0] = limit
    check_step(one, "actor", doubled())
    gradient = one.net.actor.log_deviation.weight.grad
    assert (gradient[0] == 0.0).all()
    assert (gradient[1] != 0.0).any()


@pytest.mark.parametrize("name", METHODS)
def test_the_steps_use_the_weights_that_a_checkpoint_brought(name: str) -> None:
    """Restored weights are those that the gradients are taken at, not those that were built."""
    one, other = (learner(name, (4,), (5,)) for _ in range(2))
    with torch.no_grad():
        for parameter in other.net.parameters():
            parameter.add_(0.3)
    one.set_state(other.get_state())
    torch.testing.assert_close(list(one.net.parameters()), list(other.net.parameters()))
    for part in ("critic", "actor"):
        check_step(one, part, doubled())
