"""Check of actions, shared by all batched tasks."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rolecast.core.errors import ConfigError
from rolecast.core.types import Float
from rolecast.envs.spec import TaskSpec


def checked_actions(
    spec: TaskSpec, actions: ArrayLike, batch: int, steps: int | NDArray[np.int64]
) -> Float:
    """Return actions [B, n, da] clipped to [-1, 1].

    Args:
        spec: spec of the task.
        actions: actions as given.
        batch: B.
        steps: steps taken before, by all episodes or by each [B].
    Raises:
        ConfigError: the shape is not [B, n, da], or a number is NaN or infinite; names the agent,
            the episode and the step.
    """
    checked = np.asarray(actions, dtype=np.float64)
    shape = (batch, spec.agents, spec.action_size)
    if checked.shape != shape:
        raise ConfigError(f"actions for task {spec.id!r}", checked.shape, f"shape {shape}")
    if not np.isfinite(checked).all():
        episode, agent, number = np.argwhere(~np.isfinite(checked))[0].tolist()
        step = int(np.broadcast_to(steps, batch)[episode]) + 1
        raise ConfigError(
            f"task {spec.id!r}: action of agent {agent} in episode {episode} at step {step}",
            float(checked[episode, agent, number]),
            "finite numbers",
        )
    return np.minimum(np.maximum(checked, -1.0), 1.0)  # as `np.clip`, in half the time
