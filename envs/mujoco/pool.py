"""Parallel simulations: one model, an `MjData` for each episode, stepped on threads.

Steps are compiled calls without Python's lock, so threads use all cores. Each episode has its own
data from its reset on, with the warm start of the solver. Its result is that of an episode alone,
on any thread. Source of the order of calls: Gymnasium's `MujocoEnv`.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from typing import Any, Final

import mujoco
import numpy as np
from numpy.typing import NDArray

from rolecast.core.types import CompiledKernel, Float, Float32
from rolecast.envs.mujoco.episode_fused import play_steps
from rolecast.envs.mujoco.models import load_model
from rolecast.envs.mujoco.robots import Robot
from rolecast.envs.mujoco.simulator_fused import (
    Addresses,
    address_of,
    library_address,
    show_state,
)
from rolecast.envs.mujoco.step_fused import Rules, Running, View, observe, take_steps
from rolecast.envs.mujoco.views import Layout

TRUNK_BODY: Final = 1
"""Index of the first body after the world."""


class SimulationPool:
    """B simulations of a body; arrays of results have one row per episode."""

    state: Float
    """State [B, F]: positions, velocities, contact forces if they have a cost, and a zero."""

    place: Float
    """Place [B] along x in metres, from which the forward reward is measured."""

    steps: NDArray[np.int64]
    """Steps [B] taken."""

    done: NDArray[np.bool_]
    """Whether an episode [B] has ended; so have those that were not begun."""

    fallen: NDArray[np.bool_]
    """Whether an episode [B] ended because the body fell, not by the horizon alone."""

    bonus: Float
    """Reward [B] of a healthy body in the last step."""

    observations: Float
    """Observations [B, n, do] after the last step."""

    reward: Float
    """Reward [B] of the last step."""

    distance: Float
    """Distance [B] of the last step, in metres."""

    def __init__(self, robot: Robot, layout: Layout, horizon: int) -> None:
        self.model = load_model(robot)
        self.robot, self.horizon, self._layout = robot, horizon, layout
        self.step_s = float(self.model.opt.timestep) * robot.frame_skip
        forces = 6 * self.model.nbody if robot.contact_cost else 0
        self._view = View(layout.seen, layout.limit)
        self._sizes = (self.model.nq, self.model.nv, forces)
        self._data: list[Any] = []
        self._rules = self._followed()
        self._helpers: ThreadPoolExecutor | None = None
        self.resize(0)

    def resize(self, batch: int) -> None:
        """Allocate B episodes, none of them begun."""
        if batch != len(self._data):
            self._data = self._data[:batch]
            self._data += [mujoco.MjData(self.model) for _ in range(batch - len(self._data))]
            self._rules = self._followed()
        self.state = np.zeros((batch, sum(self._sizes) + 1))
        self.place, self.bonus = np.zeros(batch), np.zeros(batch)
        self.steps = np.zeros(batch, dtype=np.int64)
        self.done, self.fallen = np.ones(batch, dtype=bool), np.zeros(batch, dtype=bool)
        self.observations = np.zeros((batch, *self._layout.seen.shape))
        self.reward, self.distance = np.zeros(batch), np.zeros(batch)

    def begin(self, episode: int, positions: Float, velocities: Float) -> None:
        """Begin an episode in a state of positions [nq] and velocities [nv]."""
        data = self._data[episode]
        mujoco.mj_resetData(self.model, data)
        data.qpos[:], data.qvel[:] = positions, velocities
        mujoco.mj_forward(self.model, data)
        show_state(self._rules.memory, self._sizes, episode, self.state, self.place)
        observe(self._view, self.state, self.observations, episode)
        self.steps[episode], self.done[episode], self.fallen[episode] = 0, False, False

    def step(self, torques: Float, threads: int) -> bool:
        """Take one step in all episodes that go on; return whether all rewards are finite.

        Args:
            torques: motors' inputs [B, nu].
            threads: that share the episodes.
        """
        counter = np.zeros(2, dtype=np.int64)

        def work() -> None:  # holds `self`, so that the memory of the episodes lives
            take_steps(self._rules, self._running(), torques, counter)

        self._share(work, min(threads, self.done.size) - 1)
        return not counter[1]

    def play(
        self,
        policy: CompiledKernel,
        lanes: tuple[Float32, Float32],
        bound: float,
        sums: Float,
        log: Float,
        totals: Float,
    ) -> int:
        """Play the only episode on; return as `play_steps`, with arguments as of `play_on`."""
        moved = self._layout.moved.ravel()
        return play_steps(
            self._rules, self._running(), np.empty((1, moved.size)), moved,
            *policy, *lanes, bound, sums, log, totals,
        )  # fmt: skip

    def _followed(self) -> Rules:
        """Return what is the same in all steps."""
        robot = self.robot
        low, high = robot.healthy_range()
        return Rules(
            functions=self._called(),
            memory=self._addresses(),
            sizes=self._sizes,
            frame_skip=robot.frame_skip,
            shown=self._view,
            low=low,
            high=high,
            seconds=self.step_s,
            control_cost=robot.control_cost,
            contact_cost=robot.contact_cost,
            healthy_reward=robot.healthy_reward,
            mortal=robot.mortal,
            horizon=self.horizon,
        )

    def _running(self) -> Running:
        return Running(
            self.state, self.place, self.steps, self.done, self.fallen, self.bonus,
            self.observations, self.reward, self.distance,
        )  # fmt: skip

    def _share(self, work: Callable[[], None], others: int) -> None:
        """Do work that threads take parts of, on so many others too."""
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
        return {**vars(self), "_helpers": None, "_rules": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Find the addresses of a copy, which has memory of its own."""
        vars(self).update(state)
        self._rules = self._followed()

    def _called(self) -> Addresses:
        """Return the addresses [3] of the model and of what a step calls; 0: no contact forces."""
        forces = library_address("mj_rnePostConstraint") if self.robot.contact_cost else 0
        return np.array([address_of(self.model), library_address("mj_step"), forces])

    def _addresses(self) -> Addresses:
        """Return where each `MjData` is, and in it inputs, x and the parts of a state [B, 6]."""
        rows = []
        for data in self._data:
            x = data.xpos[TRUNK_BODY, :1] if self.robot.contact_cost else data.qpos[:1]
            numbers = (data.ctrl, x, data.qpos, data.qvel, data.cfrc_ext)
            rows.append([address_of(data), *(each.ctypes.data for each in numbers)])
        return np.array(rows, dtype=np.int64).reshape(-1, 6)
