"""Parallel simulations: one model, an `MjData` for each episode, stepped on threads.

The simulator releases Python's lock while it computes, so threads use all cores. Each episode has
its own data from its reset on, with the warm start of the solver. Its result is that of an episode
alone, on any thread. Source of the order of calls: Gymnasium's `MujocoEnv`.
"""

import os
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

import mujoco
import numpy as np

from rolecast.core.errors import ConfigError
from rolecast.core.threads import THREADS_VARIABLE, available_cores
from rolecast.core.types import Float
from rolecast.envs.mujoco.models import load_model
from rolecast.envs.mujoco.robots import Robot

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

    def __init__(self, robot: Robot, threads: int) -> None:
        self.model = load_model(robot)
        self.robot, self.threads = robot, threads
        self.step_s = float(self.model.opt.timestep) * robot.frame_skip
        self._data: list[Any] = []
        self._helpers = ThreadPoolExecutor(threads - 1) if threads > 1 else None
        self.resize(0)

    def resize(self, batch: int) -> None:
        """Allocate B episodes, none of them started."""
        self._data = self._data[:batch]
        self._data += [mujoco.MjData(self.model) for _ in range(batch - len(self._data))]
        model = self.model
        forces = 6 * model.nbody if self.robot.contact_cost else 0
        self._cuts = np.cumsum([0, model.nq, model.nv, forces]).tolist()
        self.state = np.zeros((batch, self._cuts[-1] + 1))
        self.place = np.zeros(batch)
        self._rows = [self._row(episode) for episode in range(batch)]

    def begin(self, episode: int, positions: Float, velocities: Float) -> None:
        """Start an episode in a state of positions [nq] and velocities [nv]."""
        data = self._data[episode]
        mujoco.mj_resetData(self.model, data)
        data.qpos[:], data.qvel[:] = positions, velocities
        mujoco.mj_forward(self.model, data)
        self._show(episode)

    def advance(self, episodes: list[int], torques: Float) -> None:
        """Take one step in some episodes; motor inputs [B, nu] are of all."""
        waiting = deque(episodes)

        def work() -> None:
            while True:
                try:
                    episode = waiting.popleft()  # atomic: each is taken once
                except IndexError:
                    return
                self._step(episode, torques[episode])

        if self._helpers is None:
            work()
            return
        others = min(self.threads, len(episodes)) - 1
        helping = [self._helpers.submit(work) for _ in range(others)]
        work()
        for helper in helping:
            helper.result()

    def data(self, episode: int) -> Any:
        """Return the `mujoco.MjData` of an episode."""
        return self._data[episode]

    def close(self) -> None:
        """End the threads."""
        if self._helpers is not None:
            self._helpers.shutdown()

    def _step(self, episode: int, torques: Float) -> None:
        data = self._data[episode]
        data.ctrl[:] = torques
        mujoco.mj_step(self.model, data, self.robot.frame_skip)
        if self.robot.contact_cost:
            mujoco.mj_rnePostConstraint(self.model, data)
        self._show(episode)

    def _row(self, episode: int) -> tuple[tuple[Float, Float], ...]:
        """Return views of the simulator's memory, each with its row of results."""
        data, costly = self._data[episode], bool(self.robot.contact_cost)
        x = data.xpos[TRUNK_BODY, :1] if costly else data.qpos[:1]
        memory = [data.qpos, data.qvel, *([data.cfrc_ext.ravel()] if costly else [])]
        ends = zip(self._cuts, self._cuts[1:], strict=False)
        rows = [self.state[episode, start:end] for start, end in ends]
        return ((self.place[episode : episode + 1], x), *zip(rows, memory, strict=False))

    def _show(self, episode: int) -> None:
        for shown, memory in self._rows[episode]:
            shown[:] = memory
