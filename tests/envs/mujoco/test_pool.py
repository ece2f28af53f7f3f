import pickle
from collections.abc import Callable
from copy import deepcopy

import mujoco
import numpy as np
import pytest

from rolecast.envs.mujoco.pool import SimulationPool
from rolecast.envs.mujoco.robots import ROBOT_MODELS
from rolecast.envs.mujoco.views import layout


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("name", ["ant", "hopper"])
def test_steps_are_those_of_the_simulators_own_bindings(name: str, threads: int) -> None:
    robot, batch = ROBOT_MODELS[name], 5
    pool = SimulationPool(robot, layout(robot, "whole", "local"), 1000)
    pool.resize(batch)
    rng = np.random.default_rng(0)
    model, alone = pool.model, [mujoco.MjData(pool.model) for _ in range(batch)]
    for episode, data in enumerate(alone):
        data.qpos[:] = model.qpos0 + rng.uniform(-0.1, 0.1, model.nq)
        data.qvel[:] = rng.uniform(-0.1, 0.1, model.nv)
        mujoco.mj_forward(model, data)
        pool.begin(episode, data.qpos, data.qvel)
    taking, touched = np.array([0, 2, 3, 4]), False
    for _ in range(100):  # long enough to touch the ground
        torques = rng.uniform(-1.0, 1.0, (batch, model.nu))
        pool.done[:] = np.arange(batch) == 1  # whoever falls is stepped on
        before = pool.place.copy()
        assert pool.step(torques, threads)
        np.testing.assert_array_equal(pool.distance, pool.place - before)
        assert pool.reward[1] == 0.0
        for episode in taking:
            alone[episode].ctrl[:] = torques[episode]
            mujoco.mj_step(model, alone[episode], robot.frame_skip)
            if robot.contact_cost:
                mujoco.mj_rnePostConstraint(model, alone[episode])
        for episode, data in enumerate(alone):
            forces = data.cfrc_ext.ravel() if robot.contact_cost else np.zeros(0)
            touched |= data.ncon > 0
            expected = np.concatenate([data.qpos, data.qvel, forces, [0.0]])
            np.testing.assert_array_equal(pool.state[episode], expected)
            x = data.xpos[1, 0] if robot.contact_cost else data.qpos[0]
            assert pool.place[episode] == x
    assert touched
    assert (alone[1].time, alone[0].time) == (0.0, pool.data(0).time)
    pool.close()


@pytest.mark.parametrize("copied", [deepcopy, lambda pool: pickle.loads(pickle.dumps(pool))])
def test_a_copy_steps_its_own_episodes(copied: Callable[[SimulationPool], SimulationPool]) -> None:
    robot = ROBOT_MODELS["swimmer"]
    pool = SimulationPool(robot, layout(robot, "whole", "local"), 1000)
    pool.resize(2)
    for episode in range(2):
        pool.begin(episode, np.zeros(5), np.ones(5))
    other = copied(pool)
    before = pool.state.copy()
    other.step(np.ones((2, 2)), 2)
    np.testing.assert_array_equal(pool.state, before)
    assert (pool.data(0).time, other.data(0).time) == (0.0, other.step_s)
    pool.step(np.ones((2, 2)), 2)
    np.testing.assert_array_equal(pool.state, other.state)
