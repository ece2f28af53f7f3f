"""The float32 reference, against float64 and against the compiled kernels of a search."""

import itertools
import tracemalloc
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from rolecast.core.errors import ConfigError, RequestError
from rolecast.core.types import Float32
from rolecast.envs.spec import TaskSpec
from rolecast.policies.export import reference
from rolecast.policies.hom.assignment import assign_roles
from rolecast.policies.registry import make_policy
from rolecast.testing.policies import through_lanes

POLICIES: list[tuple[str, dict[str, Any]]] = [
    ("hom", {}),
    ("hom", {"role_assignment": True}),
    ("hom", {"role_assignment": True, "size": "sm", "self_edges": True, "rounds": 3}),
    ("hom", {"interaction": "coupled", "edges": "soft", "message_width": 5}),
    ("hom", {"interaction": "coupled", "message_reads": "observation", "message_width": 3}),
    ("hom", {"role_interaction": False, "role_assignment": True}),
    ("mlp", {}),
    ("mlp", {"hidden": [16, 16]}),
    ("linear", {}),
]


def team(agents: int) -> TaskSpec:
    return TaskSpec(id="team", agents=agents, observation_size=5, action_size=2, horizon=25)


@pytest.mark.parametrize("agents", [1, 2, 3, 5, 11])
@pytest.mark.parametrize(("name", "options"), POLICIES, ids=str)
def test_the_reference_is_the_float64_policy_to_float32(
    name: str, options: dict[str, Any], agents: int
) -> None:
    """Weights are halved in range: an edge or role that rounding decides is then rare (1 %)."""
    policy = make_policy(name, team(agents), **options)
    rng = np.random.default_rng(5)
    cube = 0.25 + 0.5 * rng.random(policy.space.dimension)
    weights = policy.space.weights(cube).astype(np.float32)
    observations = rng.normal(size=(300, agents, 5)).astype(np.float32)
    found = reference.reference(policy, weights.astype(np.float64))(observations)
    wanted = policy.act(weights[None].astype(np.float64), observations[None].astype(np.float64))[0]
    assert found.dtype == np.float32
    assert np.quantile(np.abs(found - wanted), 0.99) < 2e-4


@pytest.mark.parametrize(("name", "options"), POLICIES, ids=str)
def test_compiled_kernels_are_near_the_reference_and_not_equal(
    name: str, options: dict[str, Any]
) -> None:
    """Their sums are fused and reordered; measured in docs/export.md on episodes."""
    policy = make_policy(name, team(3), **options)
    rng = np.random.default_rng(6)
    weights = policy.space.weights(rng.random(policy.space.dimension))
    observations = rng.normal(size=(512, 3, 5)).astype(np.float32)
    found = reference.reference(policy, weights)(observations)
    rows = np.broadcast_to(weights, (512, weights.size))
    compiled = through_lanes(policy, rows, observations.astype(np.float64), 2)
    apart = np.abs(found - compiled)
    assert np.quantile(apart, 0.99) < 2e-4


def test_tanh_is_within_a_millionth_and_odd() -> None:
    x = np.linspace(-12.0, 12.0, 100_001, dtype=np.float32)
    exact = np.tanh(x.astype(np.float64))
    assert np.abs(reference.tanh(x) - exact).max() < 1e-6
    np.testing.assert_array_equal(reference.tanh(-x), -reference.tanh(x))
    assert np.isnan(reference.tanh(np.array([np.nan], dtype=np.float32)))[0]


affinities = st.integers(1, 4).flatmap(
    lambda n: arrays(np.float32, (n, n), elements=st.integers(-3, 3).map(np.float32))
)


@given(affinities)
def test_the_assignment_is_the_lowest_of_all_optimal_permutations(affinity: Float32) -> None:
    n = len(affinity)
    permutations = list(itertools.permutations(range(n)))
    totals = [sum(affinity[role, agent] for role, agent in enumerate(p)) for p in permutations]
    best = permutations[int(np.argmax(totals))]
    assert tuple(reference.assigned_agents(affinity[None])[0]) == best


def test_teams_above_the_subset_limit_have_an_optimal_assignment() -> None:
    affinity = np.random.default_rng(2).normal(size=(20, 12, 12)).astype(np.float32)
    found = reference.assigned_agents(affinity)
    wanted = assign_roles(affinity.astype(np.float64))
    roles = np.arange(12)
    for matrix, ours, best in zip(affinity, found, wanted, strict=True):
        assert sorted(ours) == list(roles)
        assert np.isclose(matrix[roles, ours].sum(), matrix[roles, best].sum(), atol=1e-4)


def test_equal_affinities_give_the_identity() -> None:
    for agents in (3, 12):
        constant = np.full((1, agents, agents), 0.5, dtype=np.float32)
        assert reference.assigned_agents(constant)[0].tolist() == list(range(agents))


@pytest.mark.parametrize("worst", [np.nan, np.inf, 1e39])
def test_weights_that_are_no_float32_are_refused(worst: float) -> None:
    policy = make_policy("linear", team(2))
    weights = np.zeros(policy.space.size)
    weights[3] = worst
    with pytest.raises(ConfigError, match=r"export\.weights is .*expected finite numbers"):
        reference.reference(policy, weights)


def test_a_policy_without_an_exporter_is_refused_by_name() -> None:
    class Other:
        name = "other"

    with pytest.raises(RequestError, match="policy 'other' has no exporter"):
        reference.reference(Other(), np.zeros(3))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "agents", "options"),
    [
        ("mlp", 3, {}),
        ("hom", 4, {"role_assignment": True, "self_edges": True}),
        ("hom", 12, {"role_assignment": True, "edges": "soft"}),
    ],
    ids=str,
)
def test_observations_in_chunks_give_the_same_bits(
    name: str, agents: int, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    policy = make_policy(name, team(agents), **options)
    weights = policy.space.weights(np.random.default_rng(0).random(policy.space.dimension))
    observations = np.random.default_rng(1).normal(size=(50, agents, 5)).astype(np.float32)
    whole = reference.reference(policy, weights)(observations)
    monkeypatch.setattr(reference, "CHUNK_NUMBERS", 7 * 4 * agents**2)
    in_chunks = reference.reference(policy, weights)(observations)
    np.testing.assert_array_equal(in_chunks.view(np.uint32), whole.view(np.uint32))


def test_a_large_team_takes_bounded_memory() -> None:
    """At once, an array of the pairs of 60 agents has 17 MB for 300 vectors, and there are ten."""
    policy = make_policy("hom", team(60), role_assignment=True)
    act = reference.reference(policy, policy.space.centre)
    observations = np.random.default_rng(1).normal(size=(300, 60, 5)).astype(np.float32)
    act(observations[:1])  # loads the compiler
    tracemalloc.start()
    act(observations)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 50e6
