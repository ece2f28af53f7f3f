"""FusedAdam is torch's, to the last bit, and its state is torch's too."""

from typing import Any

import torch
from torch import nn

from rolecast.baselines.rllib.adam import FusedAdam


def network() -> nn.Module:
    torch.manual_seed(2)
    return nn.Sequential(nn.Linear(5, 7), nn.Tanh(), nn.Linear(7, 1))


def take_steps(net: nn.Module, optimizer: Any, steps: int, first: int = 0) -> None:
    """Go down the squared error of targets that differ from step to step."""
    for step in range(first, first + steps):
        generator = torch.Generator().manual_seed(step)
        rows, targets = (torch.randn((9, size), generator=generator) for size in (5, 1))
        for group in optimizer.param_groups:
            group["lr"] = 0.01 / (1 + step)
        optimizer.zero_grad(set_to_none=True)
        (net(rows) - targets).square().mean().backward()
        optimizer.step_fused() if isinstance(optimizer, FusedAdam) else optimizer.step()


def assert_same(one: nn.Module, other: nn.Module) -> None:
    for left, right in zip(one.parameters(), other.parameters(), strict=True):
        torch.testing.assert_close(left, right, rtol=0, atol=0)


def test_steps_are_those_of_torchs_fused_adam() -> None:
    """Under a learning rate that changes, and with an epsilon of its own."""
    fused_net, torch_net = network(), network()
    fused = FusedAdam(fused_net.parameters(), lr=0.01)
    plain = torch.optim.Adam(torch_net.parameters(), lr=0.01, fused=True)
    for optimizer in (fused, plain):
        optimizer.param_groups[0]["eps"] = 1e-3
    take_steps(fused_net, fused, 20)
    take_steps(torch_net, plain, 20)
    assert_same(fused_net, torch_net)
    for left, right in zip(
        fused.state_dict()["state"].values(), plain.state_dict()["state"].values(), strict=True
    ):
        for name in ("step", "exp_avg", "exp_avg_sq"):
            torch.testing.assert_close(left[name], right[name], rtol=0, atol=0)


def test_either_goes_on_from_the_others_state() -> None:
    whole, changed = network(), network()
    plain = torch.optim.Adam(whole.parameters(), lr=0.01, fused=True)
    take_steps(whole, plain, 9)
    first = torch.optim.Adam(changed.parameters(), lr=0.01, fused=True)
    take_steps(changed, first, 3)
    second = FusedAdam(changed.parameters(), lr=0.01)
    second.load_state_dict(first.state_dict())
    take_steps(changed, second, 3, first=3)
    third = torch.optim.Adam(changed.parameters(), lr=0.01, fused=True)
    third.load_state_dict(second.state_dict())
    take_steps(changed, third, 3, first=6)
    assert_same(whole, changed)


def test_a_parameter_without_a_gradient_stays_and_its_steps_are_not_counted() -> None:
    fused_net, torch_net = network(), network()
    fused = FusedAdam(fused_net.parameters(), lr=0.01)
    plain = torch.optim.Adam(torch_net.parameters(), lr=0.01, fused=True)
    for part in (slice(0, 2), slice(0, 4), slice(2, 4), slice(0, 4)):
        for net in (fused_net, torch_net):
            net.zero_grad(set_to_none=True)
            for index, parameter in enumerate([*net.parameters()][part]):
                parameter.grad = torch.full_like(parameter, index + 0.5)
        fused.step_fused()
        plain.step()
    assert_same(fused_net, torch_net)


def test_a_state_that_is_loaded_replaces_the_one_that_has_grown() -> None:
    """Which is how an algorithm is taken back to its checkpoint."""
    once, twice = network(), network()
    first, second = (FusedAdam(net.parameters(), lr=0.01) for net in (once, twice))
    start = {name: value.clone() for name, value in twice.state_dict().items()}
    fresh = second.state_dict()
    take_steps(twice, second, 4)
    twice.load_state_dict(start)
    second.load_state_dict(fresh)
    take_steps(once, first, 4)
    take_steps(twice, second, 4)
    assert_same(once, twice)
