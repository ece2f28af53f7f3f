"""MuJoCo body as a batched task, for one or several agents."""

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rolecast.core.counter_random import episode_keys
from rolecast.core.errors import ConfigError, RunError, stepped_outside
from rolecast.core.threads import usable_threads
from rolecast.core.types import CompiledKernel, Float, Float32, Seeds
from rolecast.envs.actions import checked_actions
from rolecast.envs.ids import format_id
from rolecast.envs.mujoco.robots import Robot
from rolecast.envs.mujoco.start import start_states
from rolecast.envs.mujoco.views import layout
from rolecast.envs.spec import TaskSpec
from rolecast.envs.symmetry import Symmetry

if TYPE_CHECKING:
    from rolecast.envs.mujoco.pool import SimulationPool
    from rolecast.envs.mujoco.render import Camera

EPISODE_HORIZON: Final = 1000
"""Steps of an episode, as in Gymnasium."""


class MujocoTask:
    """Task of n agents that move one body forward, over B parallel episodes; float64.

    The metric `distance` is the forward distance of a step, in metres.
    """

    threads: int | None
    """Threads of its episodes and its steps. None: OMP_NUM_THREADS, else one per core."""

    def __init__(
        self,
        task_id: str,
        robot: Robot,
        *,
        split: str = "whole",
        summary: str,
        source: str,
        obs: str = "local",
        horizon: int = EPISODE_HORIZON,
        symmetries: tuple[Symmetry, ...] = (),
        threads: int | None = None,
    ) -> None:
        """Set up the task; the simulator is loaded by the first `reset`.

        Args:
            task_id: id without options.
            robot: the body.
            split: division among agents; see `layout`.
            summary: one line for listings.
            source: source of the task.
            obs: observations of the agents; see `layout`.
            horizon: maximum steps of an episode.
            symmetries: symmetries of the body.
            threads: number of threads, without effect on results and not in the id. None:
                OMP_NUM_THREADS, else one per core.

        Raises:
            RequestError: a setting is out of its range.
        """
        if type(horizon) is not int or horizon < 1:
            raise ConfigError(f"horizon of task {task_id!r}", horizon, "an integer >= 1")
        usable_threads(threads)  # which refuses what is no number of threads
        self.robot, self.threads = robot, threads
        self._layout = layout(robot, split, obs)
        self._body = layout(robot, "whole", obs)
        options: dict[str, object] = {}
        if obs != "local":
            options["obs"] = obs
        if horizon != EPISODE_HORIZON:
            options["horizon"] = horizon
        agents, seen = self._layout.seen.shape
        self._spec = TaskSpec(
            id=format_id(task_id, options),
            agents=agents,
            observation_size=seen,
            action_size=self._layout.moved.shape[1],
            horizon=horizon,
            summary=summary,
            source=source,
            symmetries=symmetries,
        )
        self._pool: SimulationPool | None = None
        self._camera: Camera | None = None
        self._twins: list[MujocoTask] = []
        self._twin = partial(
            MujocoTask,
            task_id,
            robot,
            split=split,
            summary=summary,
            source=source,
            obs=obs,
            horizon=horizon,
            symmetries=symmetries,
            threads=1,
        )
        self.seeds = np.zeros(0, dtype=np.uint64)

    @property
    def spec(self) -> TaskSpec:
        """Sizes of the task."""
        return self._spec

    @property
    def frames_per_second(self) -> int:
        """Frames of one step each in a second of simulated time."""
        from rolecast.envs.mujoco.models import load_model

        model = load_model(self.robot) if self._pool is None else self._pool.model
        return round(1.0 / (float(model.opt.timestep) * self.robot.frame_skip))

    @property
    def terminated(self) -> NDArray[np.bool_]:
        """Whether an episode [B] ended because the body fell, not by the horizon alone."""
        return np.zeros(0, dtype=bool) if self._pool is None else self._pool.fallen.copy()

    @property
    def survival_bonus(self) -> Float | None:
        """Healthy reward [B] in the rewards of the last step; None for a robot without one."""
        if not self.robot.pays_survival:
            return None
        return np.zeros(0) if self._pool is None else self._pool.bonus.copy()

    @property
    def state_size(self) -> int:
        """Size S of the state."""
        return int(self._body.seen.size)

    def state(self) -> Float:
        """Return states [B, S]: the observation that a single agent has of the whole body.

        Source: FACMAC (Peng et al. 2021), the state of its multi-agent MuJoCo.

        Raises:
            RequestError: no episode has begun.
        """
        return self._body.observe(self._running().state)[:, 0]

    def reset(self, seeds: Seeds) -> Float:
        """Begin B episodes; return observations [B, n, do]."""
        from rolecast.envs.mujoco.pool import SimulationPool

        if self._pool is None:
            self._pool = SimulationPool(self.robot, self._layout, self._spec.horizon)
        batch = np.size(seeds)
        self._pool.resize(batch)
        self.seeds = np.zeros(batch, dtype=np.uint64)
        return self.restart(np.arange(batch), seeds)

    def restart(self, episodes: ArrayLike, seeds: ArrayLike) -> Float:
        """Restart some of the B episodes.

        Args:
            episodes: [K], rows of the episodes.
            seeds: [K], their new seeds.
        Returns:
            Observations [B, n, do] of all.
        Raises:
            RequestError: no episode has begun.
        """
        pool = self._running()
        rows = np.asarray(episodes, dtype=np.int64)
        self.seeds[rows] = np.asarray(seeds, dtype=np.uint64)
        starts = start_states(self.robot, pool.model.qpos0, episode_keys(self.seeds[rows]))
        for episode, positions, velocities in zip(rows.tolist(), *starts, strict=True):
            pool.begin(episode, positions, velocities)
        return pool.observations.copy()

    def step(self, actions: Float) -> tuple[Float, Float, NDArray[np.bool_], Mapping[str, Float]]:
        """Advance all episodes by one step; see `BatchedTask.step`.

        Raises:
            RequestError: no episode has begun, or actions have a wrong shape or are not finite.
            RunError: the simulator diverged; names the seed and the step.
        """
        pool = self._running()
        actions = checked_actions(self._spec, actions, self.seeds.size, pool.steps)
        torques = self._layout.torques(actions)
        if not pool.step(torques, usable_threads(self.threads)):
            raise self._diverged(pool)
        metrics = {"distance": pool.distance.copy()}
        return pool.observations.copy(), pool.reward.copy(), pool.done.copy(), metrics

    def play_on(
        self,
        policy: CompiledKernel,
        lanes: tuple[Float32, Float32],
        bound: float,
        sums: Float,
        log: Float,
        totals: Float,
    ) -> tuple[int, bool, Mapping[str, float]]:
        """Play the only running episode on; see `CompiledSimulator.play_on`.

        Raises:
            RequestError: other than one episode is running, or an action is not finite.
            RunError: the simulator diverged; names the seed and the step.
        """
        from rolecast.envs.mujoco.episode_fused import ACTION_FAULT

        pool = self._running()
        if self.seeds.size != 1:
            raise ConfigError("running episodes", self.seeds.size, "one")
        taken = pool.play(policy, lanes, bound, sums, log, totals)
        if taken == ACTION_FAULT:
            acted = lanes[1][0, :, :, 0]
            agent, number = np.argwhere(~np.isfinite(acted))[0].tolist()
            raise ConfigError(
                f"task {self._spec.id!r}: action of agent {agent} at step {pool.steps[0] + 1} of "
                f"the episode of seed {self.seeds[0]}",
                float(acted[agent, number]),
                "finite numbers",
            )
        if taken < 0:
            raise self._diverged(pool)
        return taken, bool(pool.done[0]), {"distance": float(totals[1])}

    def frame(self, episode: int = 0) -> NDArray[np.uint8]:
        """Return a picture [H, W, 3] of the current state of one episode.

        Raises:
            RequestError: no episode has begun, or this machine cannot render off screen.
        """
        from rolecast.envs.mujoco.render import Camera

        pool = self._running()
        if self._camera is None:
            self._camera = Camera(pool.model, self.robot.segments)
        return self._camera.picture(pool.data(episode))

    def twins(self) -> "list[MujocoTask]":
        """Return a task like this one for each of its threads, with one thread each."""
        threads = usable_threads(self.threads)
        while len(self._twins) < threads:
            self._twins.append(self._twin())
        return self._twins[:threads]

    def close(self) -> None:
        """Release the running episodes, and end the threads."""
        for twin in self._twins:
            twin.close()
        if self._camera is not None:
            self._camera.close()
        if self._pool is not None:
            self._pool.close()
        self._pool = self._camera = None
        self._twins = []
        self.seeds = np.zeros(0, dtype=np.uint64)

    def _diverged(self, pool: "SimulationPool") -> RunError:
        broken = np.flatnonzero(~np.isfinite(pool.reward))[0]
        return RunError(
            f"task {self._spec.id!r} diverged in step {pool.steps[broken]} of the episode of "
            f"seed {self.seeds[broken]}; expected finite positions"
        )

    def _running(self) -> "SimulationPool":
        if self._pool is None or not self.seeds.size:
            raise stepped_outside(self._spec.id)
        return self._pool
