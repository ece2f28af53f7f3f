"""The constant policy: its weights are its actions."""

from collections.abc import Callable
from pathlib import Path

import numpy as np

import rolecast
from rolecast.core.types import LANE_COUNT, Float
from rolecast.envs.spec import TaskSpec
from rolecast.policies.artefact import save_policy
from rolecast.policies.protocol import Policy
from rolecast.policies.registry import make_policy
from rolecast.testing import PolicyContract

ThroughLanes = Callable[[Policy, Float, Float, int], Float]


class TestConstant(PolicyContract):
    def make(self, task: TaskSpec) -> Policy:
        return make_policy("constant", task)


def test_the_cube_is_that_of_the_actions_and_a_saved_policy_acts_alike(tmp_path: Path) -> None:
    task = TaskSpec(id="team", agents=2, observation_size=3, action_size=2, horizon=5)
    policy = make_policy("constant", task, seed=3)
    cube = np.array([0.0, 0.25, 0.5, 1.0])
    weights = policy.space.weights(cube)
    np.testing.assert_array_equal(weights, 2.0 * cube - 1.0)
    save_policy(tmp_path / "policy", policy, weights, task)
    loaded = rolecast.load_policy(tmp_path / "policy")
    np.testing.assert_array_equal(loaded.act(np.ones((2, 3))), [[-1.0, -0.5], [0.0, 1.0]])


def test_large_observations_are_no_reason_for_other_actions(through_lanes: ThroughLanes) -> None:
    """Each is finite in float32, and their sum is not."""
    policy = make_policy(
        "constant", TaskSpec(id="far", agents=1, observation_size=2, action_size=1, horizon=5)
    )
    weights, far = np.full((LANE_COUNT, 1), 0.5), np.full((LANE_COUNT, 1, 2), 3e38)
    np.testing.assert_array_equal(through_lanes(policy, weights, far, 1), 0.5)
    farther = np.full((LANE_COUNT, 1, 1, 2), 1e308)
    np.testing.assert_array_equal(policy.act(weights, farther), 0.5)
