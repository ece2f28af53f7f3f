"""Chains of segments against the models that gymnasium-robotics generates."""

import mujoco
import numpy as np
import pytest
from gymnasium_robotics.envs.multiagent_mujoco import many_segment_ant, many_segment_swimmer

from rolecast.envs.mujoco.models import load_model
from rolecast.envs.mujoco.robots import ROBOT_MODELS, segmented

GENERATORS = {"ant": many_segment_ant, "swimmer": many_segment_swimmer}
FIELDS = (
    "body_parentid", "body_pos", "body_quat", "body_mass", "body_inertia", "body_ipos",
    "jnt_type", "jnt_axis", "jnt_pos", "jnt_range", "jnt_limited", "jnt_bodyid",
    "geom_type", "geom_size", "geom_pos", "geom_quat", "geom_friction", "geom_margin",
    "geom_contype", "geom_conaffinity", "geom_condim", "geom_bodyid",
    "dof_armature", "dof_damping", "actuator_gear", "actuator_trnid", "actuator_ctrlrange", "qpos0",
)  # fmt: skip


@pytest.mark.parametrize("segments", [2, 3, 6, 16])
@pytest.mark.parametrize("name", GENERATORS)
def test_a_chain_is_the_librarys(
    name: str, segments: int, tmp_path: pytest.TempPathFactory
) -> None:
    path = f"{tmp_path}/chain.xml"
    GENERATORS[name].gen_asset(segments, path)
    theirs, ours = mujoco.MjModel.from_xml_path(path), load_model(segmented(name, segments))
    for field in FIELDS:
        np.testing.assert_array_equal(getattr(ours, field), getattr(theirs, field), err_msg=field)
    for option in ("timestep", "integrator", "density", "viscosity"):
        assert getattr(ours.opt, option) == getattr(theirs.opt, option)


@pytest.mark.parametrize("name", ROBOT_MODELS)
def test_the_sizes_known_beforehand_are_the_models(name: str) -> None:
    chains = [segmented(name, 5)] if name in GENERATORS else []
    for robot in (ROBOT_MODELS[name], *chains):
        model = load_model(robot)
        sizes = (robot.positions, robot.velocities, robot.joints)
        assert sizes == (model.nq, model.nv, model.nu)
        np.testing.assert_array_equal(model.actuator_ctrlrange, [[-1.0, 1.0]] * model.nu)
