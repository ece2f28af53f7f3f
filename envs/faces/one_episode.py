"""Shared parts of the interfaces of one episode: seeds, actions, pictures."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from rolecast.core.errors import ConfigError, RequestError
from rolecast.core.types import Float
from rolecast.envs.spec import BatchedTask

RENDER_MODES: Final = ("rgb_array",)

FRAMES_PER_SECOND: Final = 20
"""Frames per second of a film with one frame per step, for tasks without a time unit."""


def render_metadata(task: BatchedTask) -> dict[str, object]:
    """Return the metadata of both interfaces: render modes, and frames per second of a film."""
    frames = getattr(task, "frames_per_second", None) or FRAMES_PER_SECOND
    return {"render_modes": list(RENDER_MODES), "render_fps": frames}


def check_render_mode(task: BatchedTask, render_mode: str | None) -> None:
    """Refuse a render mode.

    Raises:
        RequestError: the mode does not exist, or this task cannot be drawn.
    """
    if render_mode is not None and render_mode not in RENDER_MODES:
        raise ConfigError("render_mode", render_mode, "'rgb_array' or None")
    if render_mode is not None and not hasattr(task, "frame"):
        raise RequestError(f"task {task.spec.id!r} cannot be drawn; expected no render_mode")


def picture(task: BatchedTask, render_mode: str | None) -> NDArray[np.uint8] | None:
    """Return a picture [H, W, 3] of the current state; None without a render mode."""
    if render_mode is None:
        return None
    drawn: NDArray[np.uint8] = task.frame()  # type: ignore[attr-defined]  # looked for
    return drawn


def cut_short(task: BatchedTask, steps: int) -> bool:
    """Return whether an episode that has just ended was cut by a limit on its length.

    A task that does not say why an episode ended cut it if it ended at the horizon.

    Args:
        task: with a batch of this one episode.
        steps: taken in it.
    """
    terminated = getattr(task, "terminated", None)
    return steps >= task.spec.horizon if terminated is None else not terminated[0]


def checked_seed(seed: object) -> int:
    """Return the seed of an episode as Python's integer.

    Raises:
        ConfigError: it is no integer, NumPy's included, from 0 to 2^64 - 1.
    """
    if (
        isinstance(seed, bool)
        or not isinstance(seed, int | np.integer)
        or not 0 <= int(seed) < 2**64
    ):
        raise ConfigError("reset.seed", seed, "an integer from 0 to 2^64 - 1")
    return int(seed)


def next_seed(generator: np.random.Generator) -> int:
    """Return a seed for an episode that is started without one."""
    return int(generator.integers(2**63))


def checked_action(field: str, action: object, size: int) -> Float:
    """Return one agent's action [da], in the precision that was given.

    Args:
        field: name of the action in an error, with agent and step.
        action: action as given.
        size: da.
    Raises:
        ConfigError: it is no array of numbers [da], or a number is NaN or infinite.
    """
    try:
        checked: Float = np.asarray(action, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ConfigError(field, action, f"numbers of shape {(size,)}") from error
    if checked.shape != (size,):
        raise ConfigError(field, checked.shape, f"shape {(size,)}")
    if not np.isfinite(checked).all():
        raise ConfigError(field, checked.tolist(), "finite numbers")
    return checked
