"""Every task can be watched: `make_env(ID, render_mode="rgb_array")` gives pictures that move."""

from dataclasses import dataclass
from typing import Any

import gymnasium
import numpy as np
import pytest

import rolecast.envs.gym_ids  # noqa: F401  # registers the ids
from rolecast.envs.mujoco.catalogue import NAMED_TASKS
from rolecast.envs.registry import FAMILIES, make_env, make_task
from rolecast.envs.spec import BatchedTask

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


class Drawn(gymnasium.Env[Any, Any]):
    """Draws, if it is made to."""

    observation_space = action_space = gymnasium.spaces.Box(-1.0, 1.0, (1,))
    metadata: dict[str, Any] = {"render_modes": ["rgb_array"]}  # noqa: RUF012 - Gymnasium's form

    def __init__(self, render_mode: str | None = None) -> None:
        self.render_mode = render_mode

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        return np.zeros(1), {}

    def render(self) -> Any:
        return None if self.render_mode is None else np.zeros((4, 4, 3), dtype=np.uint8)


def batched() -> BatchedTask:
    """Return a task that is batched by itself, and takes no mode."""
    return make_task("pred_prey_3")


@dataclass
class Point:
    """An entry point of a plug-in."""

    value: Any
    name = "arena"

    def load(self) -> Any:
        return self.value


def drawn(render_mode: str) -> Drawn:
    """Return an environment that is made to draw, and in no other way."""
    return Drawn(render_mode)


@pytest.mark.parametrize("task", [Drawn, drawn, batched])
def test_whoever_draws_is_told_to_whatever_names_it(
    task: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The colon of an id decided: a plug-in's environment was not told, a batched task was."""

    def points(group: str, name: str | None = None) -> list[Point]:
        return [Point(task)] if name in (None, "arena") else []

    monkeypatch.setattr("rolecast.envs.registry.entry_points", points)
    for source in (task, f"python:{__name__}:{task.__name__}", "arena"):
        env = make_env(source, render_mode="rgb_array")
        env.reset(seed=0)
        assert env.render().shape[2] == 3
        env.close()
