"""Tasks whose physics a page carries, as C that follows the compiled task.

A task says so itself, by `browser_world`; the template of its world is `templates/<name>.c.jinja`.
Source: `physics_fused.py` and `observation_fused.py` of each task: same order of events, same
counters of random draws, float32. Differs: one episode at a time, so that sums of a few terms may
round otherwise.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from rolecast.envs.rewards.task import unwrapped
from rolecast.envs.spec import BatchedTask, HasBrowserWorld
from rolecast.policies.export.c99 import c_templates, float_literal

WORLD_TEMPLATES: Final = c_templates("rolecast.platform.play")


@dataclass(frozen=True, kw_only=True)
class World:
    """Physics of a task in C, and what a page needs to draw it."""

    source: str
    """C that includes `rolecast_policy.h` and exports the functions of `world.c.jinja`."""

    scene: Mapping[str, Any]
    """Kind of picture, counts and radii, for the page's script."""


def world_of(task: BatchedTask) -> World | None:
    """Return the world of a task, which pays as earned; None of a task without one in C."""
    below = unwrapped(task)
    if not isinstance(below, HasBrowserWorld):
        return None
    told = below.browser_world()
    source = WORLD_TEMPLATES.get_template("world.c.jinja").render(
        world=told.name,
        task_id=below.spec.id,
        horizon=below.spec.horizon,
        **{name: _in_c(value) for name, value in told.values.items()},
    )
    return World(source=source, scene=told.scene)


def _in_c(value: float | Sequence[float]) -> int | str | list[str]:
    """Return numbers as float32 literals; an integer, a count or a switch, stays as it is."""
    if isinstance(value, int):
        return value
    if isinstance(value, float):
        return float_literal(value)
    return [float_literal(each) for each in value]
