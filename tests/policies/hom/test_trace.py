"""What a policy decides at each step, against its own actions and against roles known before."""

from itertools import product
from typing import Any

import numpy as np
import pytest

from rolecast.core.types import Float
from rolecast.policies.hom.policy import HomPolicy
from rolecast.policies.hom.trace import specialisation, trace
from tests.policies.hom.test_policy import SWITCHES, team, teams


def silenced(policy: HomPolicy, weights: Float, *names: str) -> Float:
    """Return weights [..., D] with those of some nets 0."""
    changed = weights.copy()
    for name in names:
        changed[..., policy.space.nets[name]] = 0.0
    return changed


def layer(policy: HomPolicy, weights: Float, name: str) -> Float:
    """Return one layer of weights [D], to be written to."""
    shape = next(block.shape for block in policy.space.blocks if block.name == name)
    return weights[policy.space.slices[name]].reshape(shape)


@pytest.mark.parametrize("options", [*SWITCHES, {"edges": "soft"}], ids=str)
def test_traced_actions_are_those_of_the_policy_with_and_without_messages(
    options: dict[str, Any],
) -> None:
    policy = team(3, **options)
    weights, observations = teams(policy, 40)
    quiet = weights[0]
    if policy.model.role_interaction:
        quiet = silenced(policy, quiet, "message")
    found = trace(policy, weights[0], observations)
    held = found.role_of_agent[..., None]
    for acted, given in ((found.actions, weights[0]), (found.unheard, quiet)):
        expected = policy.act(given[None], observations[None])[0]
        np.testing.assert_allclose(np.take_along_axis(acted, held, axis=1), expected, atol=1e-12)
    assert found.edges.shape == (40, 3, 3)
    assert found.edges.any() == policy.model.role_interaction


def test_roles_are_held_by_the_agents_whose_first_number_makes_them() -> None:
    """Affinity for role 1 grows with the first number observed: the agent of the larger has it."""
    policy = team(2)
    weights = np.zeros(policy.space.size)
    net = next(net for net in policy.model.nets if net.name == "role")
    first = layer(policy, weights, "role.0.weight")
    first[0, net.inputs.index("obs[0]")] = 0.1
    first[0, net.inputs.index("role code[0]")] = 3.0
    # tanh bends: with the code, an observation counts for less.
    layer(policy, weights, "role.1.weight")[:] = np.eye(4)
    layer(policy, weights, "role.2.weight")[0, 0] = -1.0
    observations = np.random.default_rng(0).normal(size=(50, 2, 5))
    observations[..., 0] = np.abs(observations[..., 0])
    held = trace(policy, weights, observations).role_of_agent
    np.testing.assert_array_equal(held[:, 0] == 1, observations[:, 0, 0] > observations[:, 1, 0])


@pytest.mark.parametrize(
    ("columns", "share"), [(("role code[0]", "role code[1]"), 1.0), (("obs[0]", "obs[1]"), 0.0)]
)
def test_roles_that_alone_decide_are_whole_specialists_and_others_none(
    columns: tuple[str, str], share: float
) -> None:
    policy = team(3)
    weights = np.zeros(policy.space.size)
    net = next(net for net in policy.model.nets if net.name == "update")
    first = layer(policy, weights, "update.0.weight")
    for unit, column in enumerate(columns):
        first[unit, net.inputs.index(column)] = 1.0
    layer(policy, weights, "update.1.weight")[:] = np.eye(4)
    layer(policy, weights, "update.2.weight")[0, :2] = [0.3, -0.2]
    observations = np.random.default_rng(1).normal(size=(20, 3, 5))
    assert specialisation(policy, weights, observations) == pytest.approx(share)


def test_specialisation_is_the_variance_between_roles_of_all_variance() -> None:
    policy = team(3, rounds=2)
    weights, observations = teams(policy, 6, seed=3)
    quiet = silenced(policy, weights[0], "message")
    still = team(3, rounds=2, role_assignment=False)
    part = quiet[policy.space.nets["role"].stop :]
    actions = np.empty((6, 3, 3, 2))  # of a joint observation, an agent of it, a role
    for row, agent in product(range(6), range(3)):
        alike = np.repeat(observations[row, agent][None], 3, axis=0)
        actions[row, agent] = still.act(part[None], alike[None, None])[0, 0]
    total = actions.reshape(-1, 2).var(axis=0).sum()
    between = actions.var(axis=2).mean(axis=(0, 1)).sum()
    found = specialisation(policy, weights[0], observations)
    assert found == pytest.approx(between / total)
    assert specialisation(policy, np.zeros(policy.space.size), observations) is None
