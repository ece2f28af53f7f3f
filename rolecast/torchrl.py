"""Environments of TorchRL as tasks: `rolecast.torchrl.TorchRLParallelEnv`.

Needs TorchRL (`pip install torchrl`). The way back needs nothing of ours: TorchRL's
`PettingZooWrapper` takes `rolecast.make_env(ID)`.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from gymnasium.spaces import Box, Discrete, Space
from pettingzoo import ParallelEnv
from torchrl.data import Bounded, Categorical, OneHot, TensorSpec, Unbounded
from torchrl.envs import EnvBase

from rolecast.core.errors import ConfigError, RequestError


class TorchRLParallelEnv(ParallelEnv):  # type: ignore[misc]
    """One group of agents of a TorchRL environment, each with the name that TorchRL has for it."""

    metadata = {"name": "torchrl_v0"}  # noqa: RUF012 - PettingZoo's own form

    def __init__(self, env: EnvBase, group: str | None = None) -> None:
        """Take an environment.

        Args:
            env: of TorchRL, with agents in groups; not batched, or in a batch of one.
            group: of agents that act, where there are several.
        Raises:
            RequestError: the batch is larger, no group is named among several, or the spaces are
                none of bounded numbers, one-hot vectors and categories, equal for all agents.
        """
        if env.batch_size.numel() != 1:
            shape = list(env.batch_size)
            raise RequestError(f"the TorchRL environment is a batch of {shape}; expected one")
        groups = env.group_map
        name = next(iter(groups)) if group is None and len(groups) == 1 else group
        if name not in groups:
            raise ConfigError("group", name, f"one of {sorted(groups)}")
        self._env, self._group = env, name
        self.possible_agents = list(groups[name])
        self.agents: list[str] = []
        self._batch = tuple(env.batch_size)
        self._action_spec = self._of_one(env.full_action_spec[name, "action"])
        self._observation_space = space_of(
            self._of_one(env.full_observation_spec[name, "observation"])
        )
        self._action_space = space_of(self._action_spec)
        self._now: Any = None

    def observation_space(self, agent: str) -> Space[Any]:
        """Return what every agent sees."""
        return self._observation_space

    def action_space(self, agent: str) -> Space[Any]:
        """Return what every agent does."""
        return self._action_space

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Begin an episode, the first after TorchRL's `set_seed` where a seed is given."""
        if seed is not None:
            self._env.set_seed(seed % 2**31)
        self._now = self._env.reset()
        self.agents = list(self.possible_agents)
        seen = self._of_one(self._now[self._group, "observation"])
        return self._by_agent(seen.cpu().numpy()), {agent: {} for agent in self.agents}

    def step(self, actions: dict[str, Any]) -> tuple[Any, Any, Any, Any, Any]:
        """Act, all agents at once."""
        chosen = torch.as_tensor(np.stack([actions[agent] for agent in self.possible_agents]))
        if isinstance(self._action_spec, OneHot):
            chosen = torch.nn.functional.one_hot(chosen, self._action_spec.shape[-1])
        chosen = chosen.to(self._action_spec.dtype).reshape(*self._batch, *self._action_spec.shape)
        self._now.set((self._group, "action"), chosen)
        both = self._env.step(self._now)
        self._now = self._env.step_mdp(both)
        after = both["next"]
        rewards = self._of_one(after[self._group, "reward"]).reshape(len(self.possible_agents))
        terminated, truncated = (self._flags(after, name) for name in ("terminated", "truncated"))
        if all(one or other for one, other in zip(terminated, truncated, strict=True)):
            self.agents = []
        return (
            self._by_agent(self._of_one(after[self._group, "observation"]).cpu().numpy()),
            self._by_agent(rewards.tolist()),
            self._by_agent(terminated),
            self._by_agent(truncated),
            {agent: {} for agent in self.possible_agents},
        )

    def _of_one(self, values: Any) -> Any:
        """Return values or a specification [n, ...] without the batch of one."""
        return values[(0,) * len(self._batch)] if self._batch else values

    def _by_agent(self, rows: Sequence[Any]) -> dict[str, Any]:
        """Return rows [n, ...] by the name of their agent."""
        return dict(zip(self.possible_agents, rows, strict=True))

    def _flags(self, after: Any, name: str) -> list[bool]:
        """Return which agents have ended so; an environment may say it of all at once, or never."""
        own, whole = after.get((self._group, name), None), after.get(name, None)
        if own is None:
            ended = False if whole is None else bool(self._of_one(whole).all())
            return [ended] * len(self.possible_agents)
        flags: list[bool] = self._of_one(own).reshape(len(self.possible_agents)).tolist()
        return flags


def space_of(spec: TensorSpec) -> Space[Any]:
    """Return the space of one agent; a specification is of all agents of a group, [n, ...].

    Raises:
        RequestError: there is no such space.
    """
    shape = tuple(spec.shape[1:])
    if isinstance(spec, Bounded | Unbounded):
        low, high = (
            np.broadcast_to(bound.cpu().numpy(), spec.shape)[0]
            for bound in (spec.space.low, spec.space.high)
        )
        return Box(low, high, shape, dtype=low.dtype.type)
    if isinstance(spec, OneHot) or (isinstance(spec, Categorical) and not shape):
        return Discrete(int(spec.space.n))
    kind = type(spec).__name__
    raise RequestError(
        f"the TorchRL environment has a {kind} of shape {list(spec.shape)}; expected bounded "
        "numbers, one-hot vectors or categories, equal for all agents"
    )
