"""What every batched task asks of the actions that it is given."""

import numpy as np
from numpy.typing import ArrayLike

from rolecast.envs.errors import ConfigError
from rolecast.envs.spec import Float, TaskSpec


def checked_actions(spec: TaskSpec, actions: ArrayLike, batch: int) -> Float:
    """Return actions [B, n, da] clipped to [-1, 1].

    Raises:
        ConfigError: the shape is not [B, n, da], or a number is NaN or infinite.
    """
    checked = np.asarray(actions, dtype=np.float64)
    shape = (batch, spec.agents, spec.action_size)
    if checked.shape != shape:
        raise ConfigError(f"actions for task {spec.id!r}", checked.shape, f"shape {shape}")
    if not np.isfinite(checked).all():
        raise ConfigError(f"actions for task {spec.id!r}", "NaN or infinite", "finite numbers")
    return np.clip(checked, -1.0, 1.0)
