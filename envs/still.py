"""The scripted policy that does nothing: what a robot earns by standing where it was put."""

from typing import Any

import numpy as np
from gymnasium import spaces

from rolecast.core.counter_random import UInt32
from rolecast.core.errors import RequestError
from rolecast.core.types import Float
from rolecast.envs.adapters.spaces import action_codec
from rolecast.envs.mujoco.task import MujocoTask
from rolecast.envs.spec import BatchedTask


class StillPolicy:
    """Actions of zero where these are no movement: torques of robots, and Boxes about zero.

    The compiled tasks are left to random actions, which hardly move either.
    """

    summary = "actions of zero (robots, and environments whose action spaces are Boxes about zero)"

    def plays(self, task: BatchedTask) -> bool:
        """Return whether zero is an action of each agent, and is none of several choices."""
        known = getattr(task, "spaces", ())
        boxes = bool(known) and all(_rests_at_zero(space) for _, space in known)
        return boxes or isinstance(task, MujocoTask)

    def act(self, task: BatchedTask, keys: tuple[UInt32, UInt32], step: int) -> Float:
        """Return zeros [B, n, da]."""
        if not self.plays(task):
            raise RequestError(
                f"scripted policy 'still' cannot play {task.spec.id!r}; expected a robot, or an "
                "environment whose action spaces are Boxes about zero"
            )
        return np.zeros((keys[0].size, task.spec.agents, task.spec.action_size))


def _rests_at_zero(space: spaces.Space[Any]) -> bool:
    if not isinstance(space, spaces.Box):
        return False
    codec = action_codec(space)
    return not np.any(codec.decode(np.zeros(codec.size)))
