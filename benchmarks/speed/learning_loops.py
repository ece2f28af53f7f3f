"""What is timed when learners are: our algorithms, RLlib's own SAC, and bare torch.

A side takes updates when it is called, and says how many. Whole loops take a step in the task for
each update; the baselines are reached by name, as the arrows of the design have it.

The loops in bare torch are as a script would have them, written apart from the baselines from the
same formulas: they know no RLlib, configs or checkpoints. An update draws a batch by index from
tensors, and takes a step of every network with torch's fused Adam.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from importlib import import_module
from types import MappingProxyType
from typing import Any, Final

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


TIMED_TASK: Final = "Pendulum-v1"
OBSERVED, ACTED = 3, 1
TEAM_TASK: Final = "pred_prey_3"
TRAIN_BATCH: Final = 256
WARM_UP: Final = 300
"""Env steps before the first update."""

CALL_UPDATES: Final = 24
"""Updates, or env steps, of one call of a side."""

LOOP, ALONE, BARE_LOOP, STOCK = "whole loop", "learner alone", "bare torch", "RLlib's SAC"


@dataclass(frozen=True, kw_only=True)
class LearningLoop:
    """One way to learn."""

    algorithm: str
    """Its name among our algorithms; "sac" for RLlib's."""

    hidden: tuple[int, ...]
    """Widths of all networks; empty for a team's defaults."""

    what: str
    """LOOP, ALONE, BARE_LOOP or STOCK."""

    take: Callable[[], int]
    """Takes some updates, warmed up before; returns how many, or env steps for a team's LOOP."""

    @property
    def name(self) -> str:
        """Unique in all that is measured."""
        nets = "-".join(map(str, self.hidden)) or "default nets"
        return f"{self.algorithm}, {nets}, {self.what}"


class Ours:
    """One of our algorithms on a task."""

    def __init__(self, name: str, task: str, settings: dict[str, Any]) -> None:
        """Build it, and go on until it updates; needs a Ray that runs.

        Args:
            name: of the algorithm.
            task: task id.
            settings: of its `training`.
        """
        registry = import_module("rolecast.baselines.registry")
        config = registry.algorithm_config(name)().environment(task).training(**settings)
        config.reporting(min_sample_timesteps_per_iteration=0).debugging(seed=1)
        self._algorithm: Any = config.build_algo()
        self._batch = config.train_batch_size_per_learner
        group = self._algorithm.learner_group
        (self._learner,) = (told.get() for told in group.foreach_learner(lambda local: local))
        while not self._learner.updates:
            self.whole()

    def whole(self) -> int:
        """Step in the task and learn as it does; return env steps."""
        algorithm, before = self._algorithm, self._algorithm.env_steps
        algorithm.pause_at = before + CALL_UPDATES
        algorithm.train()
        steps: int = algorithm.env_steps - before
        return steps

    def alone(self) -> int:
        """Take updates on draws from the replay; return how many."""
        buffer = self._algorithm.replay
        self._learner.update_fast(buffer.sample(self._batch) for _ in range(CALL_UPDATES))
        return CALL_UPDATES

    def close(self) -> None:
        """End it."""
        self._algorithm.stop()


class Stock:
    """RLlib's own SAC with its default replay and settings, but for networks and warm-up."""

    def __init__(self, hidden: tuple[int, ...]) -> None:
        """Build it, and go on until it updates; needs a Ray that runs.

        Args:
            hidden: widths of all networks.
        """
        from ray.rllib.algorithms.sac import SACConfig
        from ray.rllib.core.rl_module.default_model_config import DefaultModelConfig

        made: Any = SACConfig
        config = made().environment(TIMED_TASK)
        config.training(
            train_batch_size_per_learner=TRAIN_BATCH,
            num_steps_sampled_before_learning_starts=WARM_UP,
        )
        config.reporting(
            min_time_s_per_iteration=0, min_sample_timesteps_per_iteration=CALL_UPDATES // 2
        )
        config.env_runners(num_env_runners=0).debugging(seed=1)
        config.rl_module(
            model_config=DefaultModelConfig(
                fcnet_hiddens=list(hidden), fcnet_activation="relu", head_fcnet_hiddens=[]
            )
        )
        self._algorithm: Any = config.build_algo()
        self._updates = 0
        while not self._updates:
            self.whole()
        self.whole()

    def whole(self) -> int:
        """Step in the task and learn as it does; return updates."""
        learnt = self._algorithm.train().get("learners")
        if not learnt:
            return 0
        rows = learnt["__all_modules__"]["num_env_steps_trained_lifetime"]
        before, self._updates = self._updates, round(rows / TRAIN_BATCH)
        return self._updates - before

    def close(self) -> None:
        """End it."""
        self._algorithm.stop()


def bare(name: str, hidden: tuple[int, ...]) -> LearningLoop:
    """Return an algorithm in bare torch."""
    update = BARE_LEARNERS[name](Memory(OBSERVED, ACTED, TRAIN_BATCH), hidden).update

    def take() -> int:
        for _ in range(CALL_UPDATES):
            update()
        return CALL_UPDATES

    take()
    return LearningLoop(algorithm=name, hidden=hidden, what=BARE_LOOP, take=take)
