"""Every task can be watched: `make_env(ID, render_mode="rgb_array")` gives pictures that move."""

from typing import Any

import gymnasium
import numpy as np
import pytest

import rolecast.envs.gym_ids  # noqa: F401  # registers the ids
from rolecast.envs.mujoco.catalogue import NAMED_TASKS
from rolecast.envs.registry import FAMILIES, make_env

SMALLEST = [f"{name}_{family.sizes[0]}" for name, family in FAMILIES.items()]
BY_MUJOCO = [*NAMED_TASKS, *(name for name in SMALLEST if name.startswith("manyagent"))]
FLAT = [name for name in SMALLEST if name not in BY_MUJOCO]


def shows_moves(env: Any, full: Any) -> None:
    """Assert that a picture is one, and another after some steps."""
    env.reset(seed=3)
    before = env.render()
    for _ in range(5):
        env.step(full)
    after = env.render()
    assert before.dtype == after.dtype == np.uint8
    assert before.shape == after.shape
    assert before.ndim == 3
    assert 0 < (before != after).mean() < 0.6
    env.close()


def made(task_id: str) -> tuple[Any, Any]:
    """Return an environment that draws, and an action of all that it has."""
    env = make_env(task_id, render_mode="rgb_array")
    if isinstance(env, gymnasium.Env):
        return env, np.ones(env.action_space.shape)
    return env, {each: np.ones(env.action_space(each).shape) for each in env.possible_agents}


@pytest.mark.parametrize("task_id", [*FLAT, "pred_prey_3?sparse=3", "gym:CartPole-v1"])
def test_a_task_shows_its_moves(task_id: str) -> None:
    shows_moves(*made(task_id))


@pytest.mark.usefixtures("screen")
@pytest.mark.parametrize("task_id", BY_MUJOCO)
def test_a_body_shows_its_moves(task_id: str) -> None:
    shows_moves(*made(task_id))


@pytest.mark.usefixtures("screen")
def test_an_environment_made_by_gymnasium_shows_its_moves() -> None:
    shows_moves(gymnasium.make("rolecast/swimmer-v0", render_mode="rgb_array"), np.ones(2))
