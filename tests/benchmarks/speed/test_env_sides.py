"""Each side counts the steps that it makes."""

from contextlib import ExitStack

import pytest

from rolecast.benchmarks.speed import envs
from rolecast.benchmarks.speed.env_sides import (
    MUJOCO_EPISODE_STEPS,
    batched_steps,
    loop_steps,
    numpy_steps,
    policy_steps,
    simple_tag_steps,
    vector_steps,
)
from rolecast.benchmarks.speed.envs import WHOLE_BODIES, divided_body


def test_an_episode_of_simple_tag_has_25_steps() -> None:
    assert simple_tag_steps(2)() == 50


def test_episodes_of_predator_prey_have_25_steps_on_every_path() -> None:
    assert policy_steps("pred_prey_3", "mlp", 2, 3)() == 150
    assert numpy_steps(4)() == 100


def test_episodes_of_drone_delivery_have_150_steps_on_every_path() -> None:
    assert policy_steps("drone_delivery_3", "mlp", 2, 3)() == 900


@pytest.mark.parametrize("task_id", WHOLE_BODIES)
def test_steps_of_fallen_bodies_are_not_counted(task_id: str) -> None:
    env_id, settings = WHOLE_BODIES[task_id]
    with ExitStack() as stack:
        batch = batched_steps(task_id, 8, 1, stack)()
        loop = [loop_steps(env_id, settings, stack)() for _ in range(3)]
        vector = vector_steps(env_id, settings, 8, stack)()
    assert 8 <= batch <= 8 * MUJOCO_EPISODE_STEPS
    assert all(1 <= steps <= MUJOCO_EPISODE_STEPS for steps in loop)
    assert 4 * MUJOCO_EPISODE_STEPS <= vector <= 8 * MUJOCO_EPISODE_STEPS
    if task_id == "hopper":  # some fall within 50 steps; all draws are from seeds
        assert batch < 8 * MUJOCO_EPISODE_STEPS
        assert vector < 8 * MUJOCO_EPISODE_STEPS


def test_a_package_that_is_not_there_is_named_with_what_installs_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(envs, "find_spec", lambda _: None)
    with ExitStack() as stack:
        group = divided_body("ma_hopper_3x1", stack, quick=True)
    assert group.missing == {
        "gymnasium-robotics mamujoco_v1 Hopper 3x1": "pip install gymnasium-robotics"
    }
    assert [side.name.split(",")[0] for side in group.sides] == ["ma_hopper_3x1"] * len(group.sides)
