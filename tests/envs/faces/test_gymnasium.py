import subprocess
import sys
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import rolecast.envs.gym_ids  # noqa: F401  # registers the ids
from rolecast.core.errors import RequestError
from rolecast.envs.faces.gymnasium import TaskGymEnv
from rolecast.envs.faces.pettingzoo import TaskEnv
from rolecast.envs.mujoco.robots import ROBOT_MODELS
from rolecast.envs.registry import make_env, make_task


@pytest.mark.parametrize("name", ROBOT_MODELS)
def test_it_passes_the_checker_of_gymnasium(name: str) -> None:
    env = gymnasium.make(f"rolecast/{name}-v0").unwrapped
    assert isinstance(env, TaskGymEnv)
    with pytest.warns(UserWarning, match="infinit"):  # observations have no bounds, as Gymnasium's
        check_env(env, skip_render_check=True)  # tests of the pictures are the task's
    env.close()


@pytest.mark.parametrize("task_id", ["hopper", "swimmer?horizon=12", "ant?sparse=3&delay=1"])
def test_it_runs_through_the_trajectory_of_the_batched_task(task_id: str) -> None:
    batched, env = make_task(task_id), make_env(task_id)
    spec, rng = batched.spec, np.random.default_rng(1)
    observations = batched.reset(np.array([4, 9], dtype=np.uint64))
    seen, _ = env.reset(seed=9)
    ended = False
    while not ended:
        np.testing.assert_array_equal(seen, observations[1, 0])
        actions = rng.uniform(-1.0, 1.0, (2, 1, spec.action_size))
        observations, reward, done, metrics = batched.step(actions)
        seen, paid, terminated, truncated, info = env.step(actions[1, 0])
        assert paid == reward[1]
        assert info == {name: value[1] for name, value in metrics.items()}
        ended = terminated or truncated
        assert ended == done[1]
        assert not (terminated and truncated)
    assert truncated == (spec.horizon == 12)


def test_without_a_seed_each_episode_is_a_new_one_yet_repeatable() -> None:
    starts = []
    for _ in range(2):
        env = make_env("hopper")
        starts.append([env.reset()[0] for _ in range(3)])
    np.testing.assert_array_equal(starts[0], starts[1])
    assert len(np.unique(np.stack(starts[0]), axis=0)) == 3


def test_one_agent_has_the_face_of_gymnasium_and_a_team_that_of_pettingzoo() -> None:
    env: Any = make_env("gym:Pendulum-v1")
    assert isinstance(env, TaskGymEnv)
    with pytest.warns(UserWarning, match="infinit"):
        check_env(env, skip_render_check=True)
    team: Any = make_env("pettingzoo:mpe2.simple_tag_v3")
    assert isinstance(team, TaskEnv)
    assert team.possible_agents == ["adversary_0", "adversary_1", "adversary_2", "agent_0"]


def test_a_registered_id_takes_options() -> None:
    env: Any = gymnasium.make("rolecast/hopper-v0", horizon=7, sparse=2).unwrapped
    assert env.task.spec.id == "hopper?horizon=7&sparse=2"


def test_the_ids_are_there_once_the_module_is_named() -> None:
    code = "import gymnasium; gymnasium.make('rolecast.envs.gym_ids:rolecast/swimmer-v0').reset()"
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)


def test_wrong_requests_are_refused() -> None:
    env = make_env("hopper", horizon=1)
    with pytest.raises(RequestError, match="stepped before its reset; expected a reset"):
        env.step(np.zeros(3))
    for seed in (-1, 2**64, 0.5, True):
        with pytest.raises(RequestError, match=r"reset\.seed is .*; expected an integer from 0 to"):
            env.reset(seed=seed)
    np.testing.assert_array_equal(env.reset(seed=np.uint64(3))[0], env.reset(seed=3)[0])
    env.reset(seed=0)
    with pytest.raises(RequestError, match=r"action in step 1 of .* is \(2,\); expected shape"):
        env.step(np.zeros(2))
    with pytest.raises(RequestError, match=r"step 1 .*\[0.0, nan, 0.0\]; expected finite numbers"):
        env.step(np.array([0.0, np.nan, 0.0]))
    env.step(np.zeros(3))
    with pytest.raises(RequestError, match="stepped after its last step; expected a reset"):
        env.step(np.zeros(3))
    with pytest.raises(RequestError, match="render_mode is 'human'; expected 'rgb_array'"):
        make_env("hopper", render_mode="human")
    with pytest.raises(RequestError, match="has 3 agents; expected one"):
        TaskGymEnv(make_task("ma_hopper_3x1"))


@pytest.mark.parametrize("body", ["Ant", "Hopper", "Swimmer", "Walker2d"])
def test_a_film_of_a_body_runs_at_its_own_speed_as_gymnasiums_does(body: str) -> None:
    ours = make_env(body.lower()).metadata["render_fps"]
    assert ours == gymnasium.make(f"{body}-v5").metadata["render_fps"]
