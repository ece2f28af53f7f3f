"""Gymnasium ids of the tasks with one agent, registered on import: `rolecast/hopper-v0`.

    import gymnasium, rolecast.envs.gym_ids
    env = gymnasium.make("rolecast/hopper-v0", horizon=500)
    envs = gymnasium.make_vec("rolecast/hopper-v0", num_envs=16)

Gymnasium 1 has no plug-ins, so this module must be imported. Its name before a colon does it too:
`gymnasium.make("rolecast.envs.gym_ids:rolecast/hopper-v0")`.
"""

from typing import Any, Final

import gymnasium

from rolecast.envs.faces.gymnasium import TaskGymEnv
from rolecast.envs.faces.gymnasium_vector import TaskVectorEnv, make_vector_env
from rolecast.envs.mujoco.robots import ROBOT_MODELS
from rolecast.envs.registry import make_task

ID_VERSION: Final = 0
"""Version of the ids, which rises when results change."""


def single(*, task: str, render_mode: str | None = None, **options: Any) -> TaskGymEnv:
    """Return the environment of an id."""
    return TaskGymEnv(make_task(task, **options), render_mode)


def vector(*, task: str, num_envs: int, **options: Any) -> TaskVectorEnv:
    """Return the vector environment of an id."""
    return make_vector_env(task, num_envs, **options)


for name in ROBOT_MODELS:
    gymnasium.register(
        id=f"rolecast/{name}-v{ID_VERSION}",
        entry_point=f"{__name__}:single",
        vector_entry_point=f"{__name__}:vector",
        kwargs={"task": name},
    )
