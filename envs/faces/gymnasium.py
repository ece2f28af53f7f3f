"""Gymnasium interface of tasks with one agent: one episode of the batched task.

It holds a batch of one, so that seeds and actions give the trajectories of the batched task.
"""

from typing import Any

import gymnasium
import numpy as np
from gymnasium.spaces import Box
from numpy.typing import NDArray

from rolecast.core.errors import RequestError, stepped_outside
from rolecast.core.types import Float
from rolecast.envs.faces.one_episode import (
    check_render_mode,
    checked_action,
    checked_seed,
    cut_short,
    next_seed,
    picture,
    render_metadata,
)
from rolecast.envs.spec import BatchedTask, TaskSpec


class TaskGymEnv(gymnasium.Env[Float, Float]):
    """Task with one agent as a `gymnasium.Env`.

    Observations are a Box of float64 [do], actions a Box of float32 in [-1, 1] [da]. Actions of
    higher precision are used unchanged. An episode that is cut by a limit on its length, such as
    the horizon, is truncated; one that ends by itself is terminated. The info of a step has its
    metrics.
    """

    def __init__(self, task: BatchedTask, render_mode: str | None = None) -> None:
        """Wrap a task, of which this environment is then the owner.

        Args:
            task: from `make_task`.
            render_mode: None, or "rgb_array".

        Raises:
            RequestError: the task has more than one agent, the mode does not exist, or this task
                cannot be drawn.
        """
        check_single(task.spec)
        check_render_mode(task, render_mode)
        self.task = task
        self.render_mode = render_mode
        self.metadata = render_metadata(task)
        self.observation_space, self.action_space = spaces_of(task.spec)
        self.np_random = np.random.default_rng(0)
        self._steps = 0
        self._live = False

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Float, dict[str, Any]]:
        """Begin an episode.

        Args:
            seed: seed of this episode, an integer >= 0, as in the batched task. None: the next
                of a sequence from the last seed, at first 0.
            options: unused; part of the interface.
        """
        if seed is None:
            seed = next_seed(self.np_random)
        else:
            seed = checked_seed(seed)
            super().reset(seed=seed)
        self._steps, self._live = 0, True
        return self.task.reset(np.array([seed], dtype=np.uint64))[0, 0], {}

    def step(self, action: Float) -> tuple[Float, float, bool, bool, dict[str, Any]]:
        """Advance by one step with an action [da].

        Raises:
            RequestError: no episode is running, or the action has a wrong shape or is not finite;
                names the step.
        """
        spec = self.task.spec
        if not self._live:
            raise stepped_outside(spec.id, self._steps)
        field = f"action in step {self._steps + 1} of task {spec.id!r}"
        given = checked_action(field, action, spec.action_size)
        observations, reward, done, metrics = self.task.step(given[None, None])
        self._steps += 1
        ended = bool(done[0])
        truncated = ended and cut_short(self.task, self._steps)
        self._live = not ended
        info = {name: float(value[0]) for name, value in metrics.items()}
        return observations[0, 0], float(reward[0]), ended and not truncated, truncated, info

    def render(self) -> NDArray[np.uint8] | None:  # type: ignore[override]  # theirs is a variable
        """Return a picture [H, W, 3] of the current state; None without a render mode."""
        return picture(self.task, self.render_mode)

    def close(self) -> None:
        """Release the task."""
        self.task.close()


def check_single(spec: TaskSpec) -> None:
    """Refuse a task with several agents.

    Raises:
        RequestError: it has more than one agent.
    """
    if spec.agents != 1:
        raise RequestError(
            f"task {spec.id!r} has {spec.agents} agents; expected one for a Gymnasium environment"
        )


def spaces_of(spec: TaskSpec) -> tuple[Box, Box]:
    """Return the observation and action space of a task with one agent."""
    seen = Box(-np.inf, np.inf, (spec.observation_size,), np.float64)
    return seen, Box(-1.0, 1.0, (spec.action_size,), np.float32)
