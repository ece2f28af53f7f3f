"""Off-policy updates in bare torch, as a script would have them, beside which learners are timed.

Written apart from the baselines, from the same formulas: nothing here knows RLlib, configs or
checkpoints. An update draws a batch by index from tensors, and takes a step of every network with
torch's fused Adam.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

import torch
from torch import Tensor, nn
from torch.nn import functional

KEPT_TRANSITIONS: Final = 20_000
"""Transitions to draw from."""

LEARNING_RATE: Final = 3e-4
DISCOUNT_FACTOR: Final = 0.99
TARGET_RATE: Final = 0.005


@dataclass(frozen=True, kw_only=True)
class Bare:
    """An algorithm in bare torch."""

    update: Callable[[], None]
    """Takes one update."""

    critics: tuple[nn.Module, ...]
    """From rows of observation and action to values; they learn."""


def net(inputs: int, hidden: tuple[int, ...], outputs: int) -> nn.Sequential:
    """Return a perceptron with ReLU between its layers."""
    widths = (inputs, *hidden)
    layers: list[nn.Module] = []
    for fan_in, fan_out in zip(widths, hidden, strict=False):
        layers += [nn.Linear(fan_in, fan_out), nn.ReLU()]
    return nn.Sequential(*layers, nn.Linear(widths[-1], outputs))


class Memory:
    """Random transitions of a task of one agent."""

    def __init__(self, observed: int, acted: int, batch: int) -> None:
        """Draw them.

        Args:
            observed: numbers observed.
            acted: numbers acted with.
            batch: rows of a draw.
        """
        self.batch, self.sizes = batch, (observed, acted)
        self.random = torch.Generator().manual_seed(0)
        self.observations, self.following = (
            torch.randn((KEPT_TRANSITIONS, observed), generator=self.random) for _ in range(2)
        )
        self.actions = torch.rand((KEPT_TRANSITIONS, acted), generator=self.random) * 2.0 - 1.0
        self.rewards = torch.randn(KEPT_TRANSITIONS, generator=self.random)
        self.going_on = torch.ones(KEPT_TRANSITIONS)

    def draw(self) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
        """Return observations, actions, rewards, next observations, and 0 where nothing follows."""
        rows = torch.randint(KEPT_TRANSITIONS, (self.batch,), generator=self.random)
        columns = (self.observations, self.actions, self.rewards, self.following, self.going_on)
        one, two, three, four, five = (column[rows] for column in columns)
        return one, two, three, four, five


def descend(optimizer: torch.optim.Optimizer, loss: Tensor, inputs: list[nn.Parameter]) -> None:
    """Take a step of some parameters."""
    optimizer.zero_grad(set_to_none=True)
    loss.backward(inputs=inputs)  # type: ignore[no-untyped-call]  # torch leaves it so
    optimizer.step()


def follow(slow: Sequence[Tensor], fast: Sequence[Tensor]) -> None:
    """Move targets."""
    with torch.no_grad():
        torch._foreach_lerp_(tuple(slow), tuple(fast), TARGET_RATE)


def bare_ddpg(memory: Memory, hidden: tuple[int, ...]) -> Bare:
    """Return DDPG; hidden are the widths of both networks."""
    observed, acted = memory.sizes
    policy, critic = net(observed, hidden, acted), net(observed + acted, hidden, 1)
    slow_policy, slow_critic = deepcopy(policy), deepcopy(critic)
    acting, valuing = list(policy.parameters()), list(critic.parameters())
    optimizers = [torch.optim.Adam(part, LEARNING_RATE, fused=True) for part in (acting, valuing)]
    slow, fast = [*slow_policy.parameters(), *slow_critic.parameters()], [*acting, *valuing]

    def update() -> None:
        seen, acts, reward, following, going_on = memory.draw()
        with torch.no_grad():
            rows = torch.cat([following, torch.tanh(slow_policy(following))], dim=1)
            target = reward + DISCOUNT_FACTOR * going_on * slow_critic(rows).squeeze(1)
        said = critic(torch.cat([seen, acts], dim=1)).squeeze(1)
        descend(optimizers[1], (said - target).square().mean(), valuing)
        rows = torch.cat([seen, torch.tanh(policy(seen))], dim=1)
        descend(optimizers[0], -critic(rows).mean(), acting)
        follow(slow, fast)

    return Bare(update=update, critics=(critic,))


def bare_td3(memory: Memory, hidden: tuple[int, ...]) -> Bare:
    """Return TD3, of whose updates every second moves policy and targets."""
    observed, acted = memory.sizes
    policy = net(observed, hidden, acted)
    first, second = (net(observed + acted, hidden, 1) for _ in range(2))
    slow_policy, slow_first, slow_second = deepcopy(policy), deepcopy(first), deepcopy(second)
    acting, valuing = list(policy.parameters()), [*first.parameters(), *second.parameters()]
    optimizers = [torch.optim.Adam(part, LEARNING_RATE, fused=True) for part in (acting, valuing)]
    slow = [p for part in (slow_policy, slow_first, slow_second) for p in part.parameters()]
    updates = 0

    def update() -> None:
        nonlocal updates
        seen, acts, reward, following, going_on = memory.draw()
        with torch.no_grad():
            coming = torch.tanh(slow_policy(following))
            noise = (0.2 * torch.randn_like(coming)).clamp(-0.5, 0.5)
            rows = torch.cat([following, (coming + noise).clamp(-1.0, 1.0)], dim=1)
            value = torch.minimum(slow_first(rows), slow_second(rows)).squeeze(1)
            target = reward + DISCOUNT_FACTOR * going_on * value
        rows = torch.cat([seen, acts], dim=1)
        misses = ((critic(rows).squeeze(1) - target).square().mean() for critic in (first, second))
        descend(optimizers[1], next(misses) + next(misses), valuing)
        updates += 1
        if updates % 2 == 0:
            rows = torch.cat([seen, torch.tanh(policy(seen))], dim=1)
            descend(optimizers[0], -first(rows).mean(), acting)
            follow(slow, [*acting, *valuing])

    return Bare(update=update, critics=(first, second))


def bare_sac(memory: Memory, hidden: tuple[int, ...]) -> Bare:
    """Return SAC, with the price of entropy learnt."""
    observed, acted = memory.sizes
    body = net(observed, hidden, 1)[:-1]
    heads = [nn.Linear(hidden[-1], acted) for _ in range(2)]
    first, second = (net(observed + acted, hidden, 1) for _ in range(2))
    slow_first, slow_second = deepcopy(first), deepcopy(second)
    log_price = nn.Parameter(torch.zeros(()))
    acting = [p for part in (body, *heads) for p in part.parameters()]
    valuing = [*first.parameters(), *second.parameters()]
    slow = [*slow_first.parameters(), *slow_second.parameters()]
    groups = (acting, valuing, [log_price])
    optimizers = [torch.optim.Adam(part, LEARNING_RATE, fused=True) for part in groups]

    def drawn(seen: Tensor) -> tuple[Tensor, Tensor]:
        features = body(seen)
        mean, deviation = heads[0](features), heads[1](features).clamp(-20.0, 2.0)
        noise = torch.randn_like(mean)
        raw = mean + deviation.exp() * noise
        squeeze = 2.0 * (math.log(2.0) - raw - functional.softplus(-2.0 * raw))
        density = -0.5 * (noise.square() + math.log(2.0 * math.pi)) - deviation - squeeze
        return torch.tanh(raw), density.sum(dim=1)

    def update() -> None:
        seen, acts, reward, following, going_on = memory.draw()
        with torch.no_grad():
            coming, density = drawn(following)
            rows = torch.cat([following, coming], dim=1)
            value = torch.minimum(slow_first(rows), slow_second(rows)).squeeze(1)
            target = reward + DISCOUNT_FACTOR * going_on * (value - log_price.exp() * density)
        rows = torch.cat([seen, acts], dim=1)
        misses = ((critic(rows).squeeze(1) - target).square().mean() for critic in (first, second))
        descend(optimizers[1], 0.5 * (next(misses) + next(misses)), valuing)
        chosen, density = drawn(seen)
        rows = torch.cat([seen, chosen], dim=1)
        value = torch.minimum(first(rows), second(rows)).squeeze(1)
        descend(optimizers[0], (log_price.detach().exp() * density - value).mean(), acting)
        follow(slow, valuing)
        entropy = density.detach() - acted
        descend(optimizers[2], -(log_price.exp() * entropy).mean(), [log_price])

    return Bare(update=update, critics=(first, second))


BARE_LEARNERS: Final[Mapping[str, Callable[[Memory, tuple[int, ...]], Bare]]] = MappingProxyType(
    {"ddpg": bare_ddpg, "sac": bare_sac, "td3": bare_td3}
)
"""By the name of the algorithm."""
