"""Parallel simulations: one model, an `MjData` for each episode, stepped on threads.

Steps are compiled calls without Python's lock, so threads use all cores. Each episode has its own
data from its reset on, with the warm start of the solver. Its result is that of an episode alone,
on any thread. Source of the order of calls: Gymnasium's `MujocoEnv`.
"""

import os
from concurrent.futures import ThreadPoolExecutor, wait
from typing import Any, Final

import mujoco
import numpy as np
from numpy.typing import NDArray

from rolecast.core.errors import ConfigError
from rolecast.core.threads import THREADS_VARIABLE, available_cores
from rolecast.core.types import Float
from rolecast.envs.mujoco.models import load_model
from rolecast.envs.mujoco.robots import Robot
from rolecast.envs.mujoco.simulator_fused import (
    Addresses,
    address_of,
    library_address,
    show_state,
    step_episodes,
)

TRUNK_BODY: Final = 1
"""Index of the first body after the world."""


def usable_threads(asked: int | None) -> int:
    """Return the number of threads: as asked, else OMP_NUM_THREADS, else one per core.

    Raises:
        ConfigError: `asked` is no integer of at least 1.
    """
    if asked is not None:
        if type(asked) is not int or asked < 1:
            raise ConfigError("threads", asked, "an integer >= 1, or None")
        return asked
    limit = os.environ.get(THREADS_VARIABLE, "").partition(",")[0]
    if limit.isdigit() and int(limit):
        return int(limit)
    return available_cores()


class SimulationPool:
    """B simulations of a body; arrays of results have one row per episode."""

    state: Float
    """State [B, F]: positions, velocities, contact forces if they have a cost, and a zero."""

    place: Float
    """Place [B] along x in metres, from which the forward reward is measured."""

    def __init__(self, robot: Robot) -> None:
        self.model = load_model(robot)
        self.robot = robot
        self.step_s = float(self.model.opt.timestep) * robot.frame_skip
        forces = 6 * self.model.nbody if robot.contact_cost else 0
        self._sizes = (self.model.nq, self.model.nv, forces)
        self._functions = self._called()
        self._data: list[Any] = []
        self._helpers: ThreadPoolExecutor | None = None
        self.resize(0)

    def resize(self, batch: int) -> None:
        """Allocate B episodes, none of them started."""
        self._data = self._data[:batch]
        self._data += [mujoco.MjData(self.model) for _ in range(batch - len(self._data))]
        self._memory = self._addresses()
        self.state = np.zeros((batch, sum(self._sizes) + 1))
        self.place = np.zeros(batch)

    def begin(self, episode: int, positions: Float, velocities: Float) -> None:
        """Start an episode in a state of positions [nq] and velocities [nv]."""
        data = self._data[episode]
        mujoco.mj_resetData(self.model, data)
        data.qpos[:], data.qvel[:] = positions, velocities
        mujoco.mj_forward(self.model, data)
        show_state(self._memory, self._sizes, episode, self.state, self.place)

    def advance(self, episodes: NDArray[np.int64], torques: Float, threads: int) -> None:
        """Take one step in some episodes [L] on threads; motor inputs [B, nu] are of all."""
        counter = np.zeros(1, dtype=np.int64)

        def work() -> None:  # holds `self`, so that the memory of the episodes lives
            step_episodes(
                self._functions,
                address_of(self.model),
                self._memory,
                self._sizes,
                self.robot.frame_skip,
                counter,
                episodes,
                torques,
                self.state,
                self.place,
            )

        others = min(threads, len(episodes)) - 1
        if others < 1:
            work()
            return
        if self._helpers is None:
            self._helpers = ThreadPoolExecutor()  # which starts as many as are at work
        helping = [self._helpers.submit(work) for _ in range(others)]
        try:
            work()
        finally:
            wait(helping)
        for helper in helping:
            helper.result()

    def data(self, episode: int) -> Any:
        """Return the `mujoco.MjData` of an episode."""
        return self._data[episode]

    def close(self) -> None:
        """End the threads."""
        if self._helpers is not None:
            self._helpers.shutdown()

    def __getstate__(self) -> dict[str, Any]:
        """Return what a copy has too: all but threads."""
        return {**vars(self), "_helpers": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Find the addresses of a copy, which has memory of its own."""
        vars(self).update(state)
        self._functions, self._memory = self._called(), self._addresses()

    def _called(self) -> Addresses:
        """Return the addresses [2] of what a step calls; 0 for no contact forces."""
        forces = library_address("mj_rnePostConstraint") if self.robot.contact_cost else 0
        return np.array([library_address("mj_step"), forces])

    def _addresses(self) -> Addresses:
        """Return where each `MjData` is, and in it inputs, x and the parts of a state [B, 6]."""
        rows = []
        for data in self._data:
            x = data.xpos[TRUNK_BODY, :1] if self.robot.contact_cost else data.qpos[:1]
            numbers = (data.ctrl, x, data.qpos, data.qvel, data.cfrc_ext)
            rows.append([address_of(data), *(each.ctypes.data for each in numbers)])
        return np.array(rows, dtype=np.int64).reshape(-1, 6)
