"""Drone delivery as a batched task, with public state for scripts and renderers."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rolecast.core.counter_random import episode_keys
from rolecast.core.errors import ConfigError, stepped_outside
from rolecast.core.types import Float, Seeds
from rolecast.envs.actions import checked_actions
from rolecast.envs.drone_delivery.observation import (
    HANDOVER_PAIRS,
    OBSERVED_PAIRS,
    observation_size,
    observe,
)
from rolecast.envs.drone_delivery.physics import (
    EPISODE_TOTALS,
    HANDOVER_TOTAL,
    DroneDeliveryParameters,
    DroneState,
    start,
    transition,
)
from rolecast.envs.drone_delivery.render import draw
from rolecast.envs.ids import format_id
from rolecast.envs.spec import BrowserWorld, TaskSpec
from rolecast.envs.symmetry import square_symmetries

if TYPE_CHECKING:
    from rolecast.envs.drone_delivery.physics_fused import DroneDeliveryLanes


class DroneDeliveryTask:
    """Drone delivery with n drones, over B parallel episodes; float64."""

    params: DroneDeliveryParameters
    """Parameters of the world."""

    seeds: Seeds
    """Seeds [B] of the running episodes."""

    state: DroneState
    """Current state of the running episodes."""

    steps: int
    """Steps taken in the running episodes, all of equal length."""

    def __init__(self, n: int, *, handover: int = 0) -> None:
        """Set up the task; it runs after `reset`.

        Args:
            n: drones, at least 1; at least 2 with hand-overs.
            handover: 1: each delivery needs a hand-over first (`handover.py`); 0: none does.

        Raises:
            RequestError: n or handover is out of its range.
        """
        if type(handover) is not int or handover not in (0, 1):
            raise ConfigError("handover", handover, "0 or 1")
        self.params = DroneDeliveryParameters(drones=n, handover=bool(handover))
        size = observation_size(self.params)
        told = ", each parcel handed over first" if handover else ""
        self._spec = TaskSpec(
            id=format_id(f"drone_delivery_{n}", {"handover": 1} if handover else {}),
            agents=n,
            observation_size=size,
            action_size=2,
            horizon=self.params.horizon,
            summary=f"{n} drones deliver near and far, saving fuel, without colliding{told}",
            source="DSS-GP-UCB paper, section 5.6 (constants: ours)",
            symmetries=square_symmetries(HANDOVER_PAIRS if handover else OBSERVED_PAIRS, size),
        )
        self.close()

    @property
    def spec(self) -> TaskSpec:
        """Sizes of the task."""
        return self._spec

    def reset(self, seeds: Seeds) -> Float:
        """Begin B episodes; return observations [B, n, do]."""
        self.seeds = np.asarray(seeds, dtype=np.uint64)
        self._keys = episode_keys(self.seeds)
        self.state = start(self.params, self._keys)
        self.steps = 0
        return observe(self.params, self.state)

    def step(self, actions: Float) -> tuple[Float, Float, NDArray[np.bool_], Mapping[str, Float]]:
        """Advance all episodes by one step; see `BatchedTask.step`.

        The metrics are the counts of `physics.EPISODE_TOTALS`, in this step; with hand-overs
        `handovers` too.

        Raises:
            RequestError: no episode has begun, or actions have a wrong shape or are not finite.
        """
        batch, params = self.seeds.size, self.params
        if not batch:
            raise stepped_outside(self.spec.id)
        actions = checked_actions(self.spec, actions, batch, self.steps)
        reward = np.zeros(batch)
        names = (*EPISODE_TOTALS, *(HANDOVER_TOTAL,) * params.handover)
        metrics = dict.fromkeys(names, np.zeros(batch))
        if self.steps < params.horizon:
            self.state, events = transition(params, self.state, actions, self._keys)
            self.steps += 1
            reward, metrics = events.reward, events.totals()
        done = np.full(batch, self.steps >= params.horizon)
        return observe(params, self.state), reward, done, metrics

    def lanes(self) -> "DroneDeliveryLanes":
        """Return the compiled form."""
        from rolecast.envs.drone_delivery.physics_fused import DroneDeliveryLanes

        return DroneDeliveryLanes(self.params)

    def browser_world(self) -> BrowserWorld:
        """Return the world of a page, in which a policy plays."""
        from rolecast.envs.drone_delivery.browser import browser_world  # loads the compiled task

        return browser_world(self.params)

    def frame(self, episode: int = 0) -> NDArray[np.uint8]:
        """Return a picture [H, W, 3] of the current state of one episode."""
        return draw(self.params, self.state, episode)

    def close(self) -> None:
        """Release the running episodes."""
        self.reset(np.zeros(0, dtype=np.uint64))
