"""What roles do, as numbers that a report shows."""

import json
from dataclasses import asdict
from typing import Final

import numpy as np
import pytest

from rolecast.core.seeds import Purpose, episode_seeds
from rolecast.envs.registry import make_task
from rolecast.platform.rollout.held_out import HeldOut
from rolecast.platform.rollout.rollout import rollout
from rolecast.platform.search.records.roles import SHOWN_EDGES, RoleMeasures, measured_roles
from rolecast.policies.hom.policy import HomPolicy
from rolecast.policies.hom.trace import trace
from rolecast.policies.registry import make_policy

SPREAD: Final = "pettingzoo:mpe2.simple_spread_v3?N=3&continuous_actions=true"


@pytest.mark.parametrize("task_id", ["het_pred_prey_3", SPREAD, "pred_prey_15"])
def test_roles_are_those_of_the_first_held_out_episode(task_id: str) -> None:
    task = make_task(task_id)
    policy = make_policy("hom", task)
    assert isinstance(policy, HomPolicy)
    weights = policy.space.weights(np.random.default_rng(0).random(policy.space.size))
    found = measured_roles(task, policy, weights)
    assert found is not None
    seeds = episode_seeds(0, Purpose.HELD_OUT, HeldOut.seed, 1)
    played = rollout(task, policy, weights[None], seeds, record=10_000)
    assert played.observations is not None
    assert len(played.observations) == played.lengths.item() == found.steps[-1] + 1
    whole = trace(policy, weights, played.observations)
    held, steps = whole.role_of_agent, list(found.steps)
    np.testing.assert_array_equal(held[steps], found.role_of_agent)
    np.testing.assert_allclose(whole.edges[steps], found.edges, atol=5e-4)
    assert found.changed_roles == pytest.approx((held[1:] != held[:-1]).mean())
    assert len(steps) * task.spec.agents**2 <= max(SHOWN_EDGES, 10 * task.spec.agents**2)
    assert 0.0 <= found.connectivity_mean <= 1.0
    assert sum(found.explained) <= 1.0 + 1e-9
    task.close()


def test_measures_are_the_same_from_their_file() -> None:
    task = make_task("het_pred_prey_3")
    policy = make_policy("hom", task, role_interaction=False)
    weights = policy.space.weights(np.random.default_rng(1).random(policy.space.size))
    found = measured_roles(task, policy, weights)
    assert found is not None
    assert RoleMeasures.from_json(json.loads(json.dumps(asdict(found)))) == found
    assert found.connectivity_mean == 0.0
    assert found.message_effect == 0.0
    points = np.array(found.points)
    np.testing.assert_array_equal(points[..., :2], points[..., 2:])


def test_actions_of_many_numbers_are_shown_along_their_principal_components() -> None:
    task = make_task("ma_walker2d_2x3")
    policy = make_policy("hom", task)
    weights = policy.space.weights(np.random.default_rng(2).random(policy.space.size))
    found = measured_roles(task, policy, weights)
    assert found is not None
    first, second = found.explained
    assert 1.0 + 1e-9 >= first + second >= first >= second >= 0.0
    after = np.array(found.points)[..., :2].reshape(-1, 2)
    assert np.abs(after).max() <= 2.0 * 3**0.5  # an action's numbers are within 1
    task.close()


@pytest.mark.parametrize(("task_id", "name"), [("pred_prey_3", "mlp"), ("hopper", "hom")])
def test_a_policy_without_roles_or_of_one_agent_is_not_measured(task_id: str, name: str) -> None:
    task = make_task(task_id)
    policy = make_policy(name, task)
    assert measured_roles(task, policy, policy.space.centre) is None
    task.close()
