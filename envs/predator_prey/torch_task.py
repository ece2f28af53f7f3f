"""Predator-prey on tensors: thousands to millions of episodes at once, on CUDA where there is one.

For training loops that live on the device. Everything else here runs by the compiled path
(`physics_fused.py`), which is faster on a CPU. No other module of the tasks imports this one, as
torch takes seconds to load. CUDA was not timed by the project.
"""

from typing import Final

import numpy as np
import torch
from torch import Tensor

from rolecast.core.errors import stepped_outside
from rolecast.core.types import Seeds
from rolecast.envs.predator_prey.physics import PredatorPreyParameters
from rolecast.envs.predator_prey.task import PredatorPreyTask
from rolecast.envs.predator_prey.torch_observation import observe
from rolecast.envs.predator_prey.torch_world import (
    flee,
    prey_points,
    start_positions,
    torch_world,
    transition,
)
from rolecast.envs.spec import TaskSpec
from rolecast.envs.torch_face import checked_actions, checked_dtype, chosen_device, pieces
from rolecast.envs.torch_random import key_tensors

POINTS_AT_ONCE: Final = {"cpu": 2**18, "cuda": 2**25}
"""Points of prey times predators that are looked at together: on a CPU what its caches hold."""


class TorchPredatorPrey:
    """n predators hunt n / 3 scripted prey over B parallel episodes, held on one device.

    The rules, seeds and random draws are those of `PredatorPreyTask`: in float64 the same episodes
    to rounding, in float32 to what 25 steps with contacts make of its rounding. The last bits of an
    episode may also depend on its place in the batch, as vector units round on their own.

    >>> task = TorchPredatorPrey(3, device="cpu")
    >>> task.reset(np.arange(1000)).shape
    torch.Size([1000, 3, 16])
    >>> observations, reward, done = task.step(torch.zeros(1000, 3, 2))
    """

    params: PredatorPreyParameters
    """The world."""

    steps: int
    """Steps taken in the running episodes, which all are equally long."""

    def __init__(
        self,
        n: int,
        *,
        heterogeneous: bool = False,
        observation: str = "nearest16",
        task_seed: int = 0,
        device: str | torch.device | None = None,
        dtype: torch.dtype = torch.float32,
    ) -> None:
        """Set up the task; it runs after `reset`.

        Args:
            n: predators, a multiple of 3.
            heterogeneous: predators differ in speed and acceleration.
            observation: one of `observation.VARIANTS`.
            task_seed: decides which predator is how fast, where they differ.
            device: where state and observations are; by default CUDA if torch sees one, else CPU.
            dtype: float32 or float64.

        Raises:
            RequestError: a setting is out of its range, or torch does not see the device.
        """
        reference = PredatorPreyTask(
            n, heterogeneous=heterogeneous, observation=observation, task_seed=task_seed
        )
        self.params, self._spec, self._variant = reference.params, reference.spec, observation
        self._device = chosen_device("TorchPredatorPrey.device", device)
        self._dtype = checked_dtype("TorchPredatorPrey.dtype", dtype)
        self._world = torch_world(self.params, self._device, dtype)
        per_episode = self.params.predators * self.params.prey * self.params.prey_points
        self._chunk = POINTS_AT_ONCE[self._device.type] // per_episode
        self.reset(np.zeros(0, dtype=np.uint64))

    @property
    def spec(self) -> TaskSpec:
        """Sizes of the task."""
        return self._spec

    @property
    def positions(self) -> Tensor:
        """[B, m, 2] now, a view; predators, prey, landmarks."""
        return self._positions.permute(2, 1, 0)

    @property
    def velocities(self) -> Tensor:
        """[B, n + k, 2] now, a view."""
        return self._velocities.permute(2, 1, 0)

    def reset(self, seeds: Seeds) -> Tensor:
        """Begin B episodes with seeds [B]; return observations [B, n, do]."""
        self._keys = key_tensors(np.asarray(seeds, dtype=np.uint64), self._device)
        self._positions = start_positions(self._world, self._keys)
        self._velocities = torch.zeros_like(self._positions[:, : self.params.movers])
        self.steps = 0
        return self._observe()

    def step(self, actions: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Advance all episodes by one step; once they have ended nothing moves and nothing pays.

        Args:
            actions: [B, n, 2] in [-1, 1]; values outside are clipped. That they are finite is
                checked, for which the host waits for the device. No gradient goes back to them.
        Returns:
            observations [B, n, do], team_reward [B] of this step, done [B] (from this step on).
        Raises:
            RequestError: no episode has begun, or actions have a wrong shape or are not finite.
        """
        batch, params = self._positions.shape[-1], self.params
        if not batch:
            raise stepped_outside(self.spec.id)
        own = checked_actions(self.spec, actions, batch, self.steps, self._device, self._dtype)
        reward = torch.zeros(batch, dtype=self._dtype, device=self._device)
        if self.steps < params.horizon:
            positions, velocities = map(torch.empty_like, (self._positions, self._velocities))
            for part in self._parts():
                here, keys = self._positions[..., part], (self._keys[0][part], self._keys[1][part])
                forces = flee(self._world, here, prey_points(self._world, keys, self.steps))
                positions[..., part], velocities[..., part], reward[part] = transition(
                    self._world, here, self._velocities[..., part], own[..., part], forces
                )
            self._positions, self._velocities = positions, velocities
            self.steps += 1
        done = torch.full((batch,), self.steps >= params.horizon, device=self._device)
        return self._observe(), reward, done

    def _observe(self) -> Tensor:
        shape = (self._positions.shape[-1], self.spec.agents, self.spec.observation_size)
        observations = torch.empty(shape, dtype=self._dtype, device=self._device)
        for part in self._parts():
            observations[part] = observe(
                self.params, self._positions[..., part], self._velocities[..., part], self._variant
            )
        return observations

    def _parts(self) -> list[slice]:
        """Cut the batch into pieces whose intermediate results fit."""
        return pieces(self._positions.shape[-1], self._chunk)
