"""The HOM policy: the paper's equations written out in loops, renaming, and the compiled face."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from rolecast.core.types import LANE_COUNT, Float
from rolecast.envs.spec import TaskSpec
from rolecast.policies.hom.policy import HomPolicy
from rolecast.policies.network import TANH_BOUND, forward, unpack
from rolecast.policies.registry import make_policy

ThroughLanes = Callable[..., Float]

SWITCHES: list[dict[str, Any]] = [
    {"role_assignment": True},
    {"role_assignment": False},
    {"role_assignment": True, "role_interaction": False},
    {"role_assignment": False, "role_interaction": False},
    {"role_assignment": True, "size": "sm"},
    {"role_assignment": False, "self_edges": True, "rounds": 3},
]


def team(n: int, do: int = 5, da: int = 2, **options: Any) -> HomPolicy:
    task = TaskSpec(id="team", agents=n, observation_size=do, action_size=da, horizon=25)
    policy = make_policy("hom", task, **options)
    assert isinstance(policy, HomPolicy)
    return policy


def teams(policy: HomPolicy, rows: int, seed: int = 0) -> tuple[Float, Float]:
    """Draw weights [rows, D] and observations [rows, n, do]."""
    rng = np.random.default_rng(seed)
    model = policy.model
    weights = policy.space.weights(rng.random((rows, policy.space.size)))
    return weights, rng.normal(size=(rows, model.agents, model.observation_size))


def written_out(policy: HomPolicy, weights: Float, observations: Float) -> Float:
    """Compute the actions [n, da] of one team as Algorithms 1 to 3 read, one number at a time."""
    model, n = policy.model, policy.model.agents
    slices = policy.space.slices

    def net(name: str, *inputs: Sequence[float] | Float) -> Float:
        x = np.concatenate([np.asarray(part, dtype=np.float64) for part in inputs])
        for layer in range(len(model.hidden) + 1):
            shape = next(b.shape for b in policy.space.blocks if b.name == f"{name}.{layer}.weight")
            x = np.tanh(x) if layer else x
            x = weights[slices[f"{name}.{layer}.weight"]].reshape(shape) @ x
            x = x + weights[slices[f"{name}.{layer}.bias"]]
        return x

    def code(role: int) -> list[float]:
        return [float(role >> bit & 1) for bit in range(int(np.ceil(np.log2(n))))]

    agent_of_role = list(range(n))
    if model.role_assignment:
        affinity = np.empty((n, n))
        for role in range(n):
            for agent in range(n):
                complement = [1.0 - bit for bit in code(role)]
                affinity[role, agent] = net("role", observations[agent], code(role), complement)[0]
        agent_of_role = linear_sum_assignment(affinity, maximize=True)[1].tolist()
    states = [observations[agent] for agent in agent_of_role]
    hidden = [np.zeros(model.action_size) for _ in range(n)]
    for _ in range(model.rounds):
        following = []
        for i in range(n):
            message = np.zeros(model.action_size)
            for other in range(n):
                if not model.role_interaction or (i == other and not model.self_edges):
                    continue
                if net("edge", states[i], states[other], code(i), code(other))[0] > 0.0:
                    message += net("message", hidden[i], hidden[other], code(i), code(other))
            following.append(net("update", states[i], code(i), hidden[i] + message))
        hidden = following
    actions = np.empty((n, model.action_size))
    for role, agent in enumerate(agent_of_role):
        sums = model.settings.output_gain * hidden[role]
        actions[agent] = np.tanh(np.clip(sums, -TANH_BOUND, TANH_BOUND))
    return actions


@pytest.mark.parametrize("options", SWITCHES, ids=str)
@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_the_actions_are_what_the_equations_say(n: int, options: dict[str, Any]) -> None:
    policy = team(n, **options)
    weights, observations = teams(policy, 5)
    actions = policy.act(weights, observations[:, None])[:, 0]
    for row in range(5):
        expected = written_out(policy, weights[row], observations[row])
        np.testing.assert_allclose(actions[row], expected, atol=1e-10)


def lead_of_the_best(policy: HomPolicy, weights: Float, observations: Float) -> Float:
    """Return [rows], by how much the best assignment of roles leads the second."""
    model = policy.model
    rows, n = observations.shape[:2]
    if not model.role_assignment or n == 1:
        return np.full(rows, np.inf)
    codes = np.broadcast_to(model.role_codes[:, None], (rows, n, n, 2 * model.bits))
    states = np.broadcast_to(observations[:, None], (rows, n, n, model.observation_size))
    inputs = np.concatenate([states, codes], axis=-1)
    affinity = forward(unpack(weights, model.nets)["role"], inputs)[..., 0]
    leads = np.empty(rows)
    for row, matrix in enumerate(affinity):
        roles, agents = linear_sum_assignment(matrix, maximize=True)
        others = []
        for role, agent in zip(roles, agents, strict=True):
            without = matrix.copy()
            without[role, agent] = -1e6
            others.append(without[linear_sum_assignment(without, maximize=True)].sum())
        leads[row] = matrix[roles, agents].sum() - max(others)
    return leads


@pytest.mark.parametrize("n", range(1, 10))
@pytest.mark.parametrize("options", SWITCHES, ids=str)
def test_the_compiled_face_is_the_reference(
    n: int, options: dict[str, Any], through_lanes: ThroughLanes
) -> None:
    """Wherever the best assignment leads by more than float32 can blur: by 1e-5.

    Without the gain, which multiplies the rounding errors of float32 too.
    """
    policy = team(n, output_gain=1.0, **options)
    weights, observations = teams(policy, 4 * LANE_COUNT, seed=n)
    expected = policy.act(weights, observations[:, None])[:, 0]
    found = through_lanes(policy, weights, observations, 2)
    clear = lead_of_the_best(policy, weights, observations) > 1e-5
    assert clear.mean() > 0.75
    np.testing.assert_allclose(found[clear], expected[clear], rtol=0, atol=1e-4)


@pytest.mark.parametrize(("n", "do", "da"), [(3, 16, 2), (12, 8, 4), (4, 2, 1)])
def test_the_compiled_face_takes_any_sizes(
    n: int, do: int, da: int, through_lanes: ThroughLanes
) -> None:
    policy = team(n, do, da, output_gain=1.0)
    weights, observations = teams(policy, 2 * LANE_COUNT)
    expected = policy.act(weights, observations[:, None])[:, 0]
    found = through_lanes(policy, weights, observations, da)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-4)


@settings(deadline=None)  # first calls compile, or load a library
@given(n=st.integers(2, 7), seed=st.integers(0, 2**32 - 1), data=st.data())
def test_renaming_agents_permutes_actions(n: int, seed: int, data: st.DataObject) -> None:
    """Holds with role assignment: ties apart, roles go by what agents observe, not by name."""
    policy = team(n, role_assignment=True)
    weights, observations = teams(policy, 4, seed)
    order = data.draw(st.permutations(range(n)))
    actions = policy.act(weights, observations[:, None])
    renamed = policy.act(weights, observations[:, None, order])
    np.testing.assert_allclose(renamed, actions[:, :, order], atol=1e-9)


@settings(deadline=None)  # first calls compile, or load a library
@given(n=st.integers(2, 7), seed=st.integers(0, 2**32 - 1), data=st.data())
def test_without_roles_renaming_permutes_actions_where_no_net_reads_a_code(
    n: int, seed: int, data: st.DataObject
) -> None:
    """Without role assignment role i is agent i, so only the role codes tell agents apart."""
    policy = team(n, role_assignment=False)
    weights, observations = teams(policy, 4, seed)
    for block in policy.space.blocks:
        reads_code = np.array(["role code" in column for column in block.columns], dtype=bool)
        part = weights[:, policy.space.slices[block.name]].reshape(4, *block.shape)
        if block.kind == "weight":
            part[..., reads_code] = 0.0
        weights[:, policy.space.slices[block.name]] = part.reshape(4, -1)
    order = data.draw(st.permutations(range(n)))
    actions = policy.act(weights, observations[:, None])
    renamed = policy.act(weights, observations[:, None, order])
    np.testing.assert_allclose(renamed, actions[:, :, order], atol=1e-9)


def test_agents_that_observe_the_same_still_act_apart_by_their_roles() -> None:
    policy = team(3, role_assignment=True)
    weights, observations = teams(policy, 8)
    observations[:] = observations[:, :1]
    actions = policy.act(weights, observations[:, None])[:, 0]
    assert np.abs(actions[:, 0] - actions[:, 1]).max() > 1e-3


def test_a_role_without_neighbours_acts_on_its_own_observation_alone() -> None:
    policy = team(3, role_assignment=False, output_gain=1.0)  # far from saturation
    weights, observations = teams(policy, 1)
    weights[:, policy.space.slices["edge.2.weight"]] = 0.0
    weights[:, policy.space.slices["edge.2.bias"]] = -1.0
    other = observations.copy()
    other[:, 1:] += 1.0
    actions, changed = (policy.act(weights, rows[:, None])[0, 0] for rows in (observations, other))
    np.testing.assert_array_equal(actions[0], changed[0])
    weights[:, policy.space.slices["edge.2.bias"]] = 1.0
    actions, changed = (policy.act(weights, rows[:, None])[0, 0] for rows in (observations, other))
    assert np.abs(actions[0] - changed[0]).max() > 1e-6
