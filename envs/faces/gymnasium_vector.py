"""Gymnasium vector interface of tasks with one agent: B episodes of one batched task.

Each episode runs as it does in a `TaskGymEnv` with the same seed and actions.
"""

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import ArrayLike, NDArray

from rolecast.core.errors import ConfigError, RequestError, stepped_outside
from rolecast.core.types import Float
from rolecast.envs.adapters.sources import Factory
from rolecast.envs.faces.gymnasium import check_single, spaces_of
from rolecast.envs.faces.one_episode import checked_seed, next_seed
from rolecast.envs.registry import make_task
from rolecast.envs.spec import BatchedTask

Flags = NDArray[np.bool_]
Step = tuple[Float, Float, Flags, Flags, dict[str, Any]]


class RestartableTask(BatchedTask, Protocol):
    """Batched task that can restart some of its episodes while the others continue."""

    def restart(self, episodes: ArrayLike, seeds: ArrayLike) -> Float:
        """Begin episodes [K] of B with seeds [K]; return observations [B, n, do] of all."""


class TaskVectorEnv(VectorEnv[Float, Float, Any]):
    """B episodes of a task with one agent as a `gymnasium.vector.VectorEnv`.

    An episode that has ended restarts in the next step, with its action ignored and reward 0
    (`AutoresetMode.NEXT_STEP`, Gymnasium's default). Spaces are those of `TaskGymEnv`.
    """

    metadata: dict[str, Any] = {"autoreset_mode": AutoresetMode.NEXT_STEP}  # noqa: RUF012 - theirs

    def __init__(self, task: RestartableTask, num_envs: int) -> None:
        """Wrap a task, of which this environment is then the owner.

        Args:
            task: from `make_task`.
            num_envs: B.

        Raises:
            RequestError: the task has several agents or no `restart`, or B is no integer of at
                least 1.
        """
        self.task = task  # first: Gymnasium closes even what could not be made
        check_single(task.spec)
        if not hasattr(task, "restart"):
            raise RequestError(
                f"task {task.spec.id!r} cannot begin episodes one by one; "
                "expected one that can, such as 'hopper'"
            )
        if type(num_envs) is not int or num_envs < 1:
            raise ConfigError("num_envs", num_envs, "an integer >= 1")
        self.num_envs = num_envs
        self.single_observation_space, self.single_action_space = spaces_of(task.spec)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._generators = [np.random.default_rng(index) for index in range(num_envs)]
        self._ended: Flags = np.zeros(num_envs, dtype=np.bool_)
        self._steps = np.zeros(num_envs, dtype=np.int64)
        self._begun = False

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Float, dict[str, Any]]:
        """Begin all episodes.

        Args:
            seed: seed s of the first episode, with s + 1, s + 2, ... for the others; or one each.
                None: the next of a sequence from each episode's last seed.
            options: unused; part of the interface.
        """
        count = self.num_envs
        seeds: list[int | None]
        if seed is None:
            seeds = [None] * count
        elif isinstance(seed, int | np.integer):
            seeds = [checked_seed(seed + index) for index in range(count)]
        else:
            seeds = [None if given is None else checked_seed(given) for given in seed]
        if len(seeds) != count:
            raise ConfigError("reset.seed", seed, f"an integer, or {count} of them")
        for index, given in enumerate(seeds):
            if given is not None:
                self._generators[index] = np.random.default_rng(given)
        drawn = [
            next_seed(generator) if given is None else given
            for generator, given in zip(self._generators, seeds, strict=True)
        ]
        self._ended[:], self._steps[:], self._begun = False, 0, True
        return self.task.reset(np.array(drawn, dtype=np.uint64))[:, 0], {}

    def step(self, actions: Float) -> Step:
        """Advance all episodes by one step with actions [B, da].

        Raises:
            RequestError: no episode has begun, or actions have a wrong shape or are not finite.
        """
        if not self._begun:
            raise stepped_outside(self.task.spec.id)
        joint = np.asarray(actions, dtype=np.float64)
        expected = (self.num_envs, self.task.spec.action_size)
        if joint.shape != expected:
            raise ConfigError(f"actions of task {self.task.spec.id!r}", joint.shape, str(expected))
        resting = self._ended
        observations, reward, done, metrics = self.task.step(joint[:, None])
        ended = done & ~resting
        self._steps += 1
        by_itself = getattr(self.task, "terminated", self._steps < self.task.spec.horizon)
        truncated = ended & ~by_itself
        if resting.any():
            rows = np.flatnonzero(resting)
            seeds = [next_seed(self._generators[row]) for row in rows.tolist()]
            observations = self.task.restart(rows, np.array(seeds, dtype=np.uint64))
            self._steps[rows] = 0
        self._ended = ended
        infos: dict[str, Any] = {}
        for name, values in metrics.items():
            infos |= {name: values, f"_{name}": ~resting}
        return observations[:, 0], reward, ended & ~truncated, truncated, infos

    def close_extras(self, **_: Any) -> None:
        """Release the task."""
        self.task.close()


def make_vector_env(task: str | Factory, num_envs: int, **options: Any) -> TaskVectorEnv:
    """Return a task with one agent as a `gymnasium.vector.VectorEnv`.

    Args:
        task: as in `make_task`, with `restart`, as the MuJoCo tasks have.
        num_envs: B, episodes side by side.
        options: as in `make_task`, such as `threads` of the MuJoCo tasks.

    Raises:
        RequestError: as in `make_task`; or the task has several agents, or no `restart`.
    """
    made: Any = make_task(task, **options)
    return TaskVectorEnv(made, num_envs)
