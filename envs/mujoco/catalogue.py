"""MuJoCo tasks by id: four bodies whole, the same divided among agents, and chains."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from rolecast.envs.mujoco.robots import ROBOT_MODELS, segmented
from rolecast.envs.mujoco.symmetry import BODY_SYMMETRIES

if TYPE_CHECKING:
    from rolecast.envs.mujoco.task import MujocoTask  # loads MuJoCo and Numba

TASK_OPTIONS: Final = ("obs", "horizon", "threads")
"""Options of the ids."""

DIVISION_LIBRARY: Final = "gymnasium-robotics 1.4, mamujoco_v1"

DIVIDED_BODIES: Final[Mapping[str, tuple[str, str, str]]] = MappingProxyType(
    {
        "ma_ant_4x2": ("ant", "4x2", "four legs walk one ant, an agent a leg"),
        "ma_hopper_3x1": ("hopper", "3x1", "three joints hop on one leg, an agent a joint"),
        "ma_swimmer_2x1": ("swimmer", "2x1", "two joints swim together, an agent a joint"),
        "ma_walker2d_2x3": ("walker2d", "2x3", "two legs walk together, an agent a leg"),
    }
)
"""Id to body, division and summary."""

CHAIN_PARTS: Final = MappingProxyType(
    {"ant": "segments of two legs walk", "swimmer": "joints swim"}
)


def whole(name: str, **options: Any) -> "MujocoTask":
    """Return a task with one agent that observes and moves the whole body."""
    from rolecast.envs.mujoco.task import MujocoTask

    robot = ROBOT_MODELS[name]
    return MujocoTask(
        name,
        robot,
        summary=f"one agent moves the whole {name} forward",
        source=f"Gymnasium {robot.reference}",
        symmetries=BODY_SYMMETRIES.get(name, ()),
        **options,
    )


def divided(task_id: str, **options: Any) -> "MujocoTask":
    """Return a task with one body divided among agents."""
    from rolecast.envs.mujoco.task import MujocoTask

    name, split, summary = DIVIDED_BODIES[task_id]
    robot = ROBOT_MODELS[name]
    if name == "walker2d":  # the library clips the hopper's velocities, not these
        robot = replace(robot, observed_speed=np.inf)
    return MujocoTask(
        task_id, robot, split=split, summary=summary, source=DIVISION_LIBRARY, **options
    )


def many_segments(name: str, n: int, **options: Any) -> "MujocoTask":
    """Return a task with n agents, each a segment of one body."""
    from rolecast.envs.mujoco.task import MujocoTask

    return MujocoTask(
        f"manyagent_{name}_{n}",
        segmented(name, n),
        split="segments",
        summary=f"{n} {CHAIN_PARTS[name]} as one body, an agent each",
        source=DIVISION_LIBRARY,
        **options,
    )


NAMED_TASKS: Final[Mapping[str, Callable[..., "MujocoTask"]]] = MappingProxyType(
    {name: partial(whole, name) for name in ROBOT_MODELS}
    | {task_id: partial(divided, task_id) for task_id in DIVIDED_BODIES}
)
"""Tasks without a size in their id."""
