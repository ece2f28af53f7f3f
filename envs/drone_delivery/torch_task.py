"""Drone delivery on tensors: thousands to millions of episodes at once, on CUDA where there is one.

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
from rolecast.envs.drone_delivery.task import DroneDeliveryTask
from rolecast.envs.drone_delivery.torch_observation import observe
from rolecast.envs.drone_delivery.torch_world import TorchDroneState, start, transition
from rolecast.envs.spec import TaskSpec
from rolecast.envs.torch_face import checked_actions, checked_dtype, chosen_device, pieces
from rolecast.envs.torch_random import key_tensors

PAIRS_AT_ONCE: Final = {"cpu": 2**16, "cuda": 2**24}
"""Pairs of drones that are looked at together: on a CPU what its caches hold."""


class TorchDroneDelivery:
    """n drones make deliveries over B parallel episodes, held on one device.

    The rules, seeds and random draws are those of `DroneDeliveryTask`: in float64 the same episodes
    to rounding, in float32 until a delivery, a collision or an empty tank lies on the edge of its
    rounding.

    >>> task = TorchDroneDelivery(3, device="cpu")
    >>> task.reset(np.arange(1000)).shape
    torch.Size([1000, 3, 13])
    >>> observations, reward, done = task.step(torch.zeros(1000, 3, 2))
    """

    state: TorchDroneState
    """Of the running episodes, now."""

    steps: int
    """Steps taken in the running episodes, which all are equally long."""

    def __init__(
        self,
        n: int,
        *,
        device: str | torch.device | None = None,
        dtype: torch.dtype = torch.float32,
    ) -> None:
        """Set up the task; it runs after `reset`.

        Args:
            n: drones, at least 1.
            device: where state and observations are; by default CUDA if torch sees one, else CPU.
            dtype: float32 or float64.

        Raises:
            RequestError: a setting is out of its range, or torch does not see the device.
        """
        reference = DroneDeliveryTask(n)
        self.params, self._spec = reference.params, reference.spec
        self._device = chosen_device("TorchDroneDelivery.device", device)
        self._dtype = checked_dtype("TorchDroneDelivery.dtype", dtype)
        self._chunk = PAIRS_AT_ONCE[self._device.type] // n**2
        self.reset(np.zeros(0, dtype=np.uint64))

    @property
    def spec(self) -> TaskSpec:
        """Sizes of the task."""
        return self._spec

    def reset(self, seeds: Seeds) -> Tensor:
        """Begin B episodes with seeds [B]; return observations [B, n, 13]."""
        self._keys = key_tensors(np.asarray(seeds, dtype=np.uint64), self._device)
        self.state = start(self.params, self._keys, self._dtype)
        self.steps = 0
        return self._observe()

    def step(self, actions: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Advance all episodes by one step; once they have ended nothing moves and nothing pays.

        Args:
            actions: [B, n, 2] in [-1, 1]; values outside are clipped. That they are finite is
                checked, for which the host waits for the device. No gradient goes back to them.
        Returns:
            observations [B, n, 13], team_reward [B] of this step, done [B] (from this step on).
        Raises:
            RequestError: no episode has begun, or actions have a wrong shape or are not finite.
        """
        batch, horizon = self.state.fuel.shape[-1], self.params.horizon
        if not batch:
            raise stepped_outside(self.spec.id)
        own = checked_actions(self.spec, actions, batch, self.steps, self._device, self._dtype)
        reward = torch.zeros(batch, dtype=self._dtype, device=self._device)
        if self.steps < horizon:
            after = []
            for part in pieces(batch, self._chunk):
                keys = (self._keys[0][part], self._keys[1][part])
                state, reward[part] = transition(
                    self.params, self.state.part(part), own[..., part], keys
                )
                after.append(state)
            self.state = TorchDroneState.joined(after)
            self.steps += 1
        done = torch.full((batch,), self.steps >= horizon, device=self._device)
        return self._observe(), reward, done

    def _observe(self) -> Tensor:
        batch = self.state.fuel.shape[-1]
        shape = (batch, self.spec.agents, self.spec.observation_size)
        observations = torch.empty(shape, dtype=self._dtype, device=self._device)
        for part in pieces(batch, self._chunk):
            observations[part] = observe(self.params, self.state.part(part))
        return observations
