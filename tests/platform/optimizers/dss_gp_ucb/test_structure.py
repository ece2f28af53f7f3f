"""Edges are pairs of parameters that interact in the actions; cliques are those of their graph."""

from dataclasses import dataclass
from itertools import product

import networkx as nx
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from rolecast.envs.errors import ConfigError
from rolecast.envs.spec import Float
from rolecast.platform.optimizers.dss_gp_ucb.structure import (
    balanced,
    find_structure,
    hessian_scores,
    random_scores,
)

NO_CAP = {"edge_cap": 10_000, "clique_cap": 10_000, "clique_size": 10_000}


@dataclass(frozen=True)
class Space:
    """The part of a parameter space that scores need."""

    half_range: Float


class Ring:
    """Actions in which parameter i meets i + 1 alone: sums of products, times an observation.

    D = 5 parameters; two agents with two actions each see one number.
    """

    def __init__(self, half_range: float = 0.5) -> None:
        self.space = Space(np.full(5, half_range))

    def relaxed_act(self, weights: torch.Tensor, observations: torch.Tensor) -> torch.Tensor:
        seen = observations[..., 0]
        one = torch.tanh(weights[0] * weights[1] * seen) + weights[3] * weights[4]
        other = torch.sin(weights[1] + weights[2] * seen) + weights[0] ** 2 + 3.0 * weights[3]
        return torch.stack([one, other], dim=-1)


EDGES = {(0, 1), (1, 2), (3, 4)}
OFF_GRAPH = [(a, b) for a in range(5) for b in range(a + 1, 5) if (a, b) not in EDGES]


def sample(policies: int, states: int) -> tuple[Float, Float]:
    """Return weights [T, 5] and observations [S, 2, 1]."""
    rng = np.random.default_rng(0)
    return rng.normal(size=(policies, 5)), rng.normal(size=(states, 2, 1))


def component_hessians(policy: Ring, weights: Float, observations: Float) -> Float:
    """Return the Hessian of each component of the actions, [S n da, D, D], one by one."""
    states = torch.as_tensor(observations)
    shape = policy.relaxed_act(torch.as_tensor(weights), states).shape
    ranges = torch.as_tensor(2.0 * policy.space.half_range)
    found = []
    for index in np.ndindex(*shape):

        def component(values: torch.Tensor, index: tuple[int, ...] = index) -> torch.Tensor:
            return policy.relaxed_act(values, states)[index]

        hessian = torch.autograd.functional.hessian(component, torch.as_tensor(weights))  # type: ignore[no-untyped-call]  # torch's own
        found.append((hessian * torch.outer(ranges, ranges)).numpy())
    return np.stack(found)


@pytest.mark.parametrize("score", ["rms", "signed"])
def test_pairs_that_do_not_interact_score_exactly_zero(score: str) -> None:
    """Proposition 1 of the paper, the other way round, for an object that is no policy of ours."""
    weights, observations = sample(6, 12)
    scores = hessian_scores(Ring(), weights, observations, score=score, seed=0)  # type: ignore[arg-type]  # what a score needs
    for pair in OFF_GRAPH:
        assert scores[pair] == 0.0
    for pair in EDGES:
        assert scores[pair] > 0.0
    np.testing.assert_array_equal(scores, scores.T)


def test_signed_scores_average_the_entries() -> None:
    """Over policies and, for each, its share of the states and all components of the actions."""
    weights, observations = sample(3, 6)
    expected = np.mean(
        [
            component_hessians(Ring(), point, share).mean(0)
            for point, share in zip(weights, np.split(observations, 3), strict=True)
        ],
        axis=0,
    )
    scores = hessian_scores(Ring(), weights, observations, score="signed", seed=0)  # type: ignore[arg-type]  # as above
    np.testing.assert_allclose(scores, np.abs(expected), atol=1e-12)


def test_rms_scores_estimate_the_root_mean_square_of_all_entries() -> None:
    """False alarm: 1e-6 for all 15 entries, by Bernstein's inequality, so at most; of 200 draws.

    Of 4 components there are 16 patterns of signs, so mean, variance and range of one estimate
    are known exactly. A score that is wrong by a factor of 2 is always seen.
    """
    weights, observations = sample(1, 1)
    parts = component_hessians(Ring(), weights[0], observations)
    signs = np.array(list(product((-1.0, 1.0), repeat=len(parts))))
    estimates = np.square(np.einsum("pc,cij->pij", signs, parts)) / len(parts)
    exact = np.square(parts).mean(0)
    np.testing.assert_allclose(estimates.mean(0), exact, atol=1e-12)

    share = np.log(2.0 * 15 / 1e-6) / 200
    range_part = np.abs(estimates - exact).max(0) * share / 3.0
    bound = range_part + np.sqrt(range_part**2 + 2.0 * estimates.var(0) * share)
    repeated, states = np.repeat(weights, 200, axis=0), np.tile(observations, (200, 1, 1))
    found = np.square(hessian_scores(Ring(), repeated, states, score="rms", seed=7))  # type: ignore[arg-type]  # as above
    assert (np.abs(found - exact) <= bound + 1e-12).all()
    assert (bound <= exact + 1e-12).all()


def test_a_single_component_needs_no_luck() -> None:
    class One(Ring):
        def relaxed_act(self, weights: torch.Tensor, observations: torch.Tensor) -> torch.Tensor:
            return super().relaxed_act(weights, observations)[:1, :1, :1]

    weights, observations = sample(4, 4)
    hessians = [
        component_hessians(One(), point, state[None])[0]
        for point, state in zip(weights, observations, strict=True)
    ]
    for seed in (0, 1):
        scores = hessian_scores(One(), weights, observations, score="rms", seed=seed)  # type: ignore[arg-type]  # as above
        np.testing.assert_allclose(scores, np.sqrt(np.mean(np.square(hessians), 0)), atol=1e-12)


def test_signed_scores_lose_a_pair_whose_sign_changes() -> None:
    """Why "rms" exists: mirrored weights cancel in the paper's average."""
    weights = np.array([[1.0, 0.7, 0.2, 0.1, 0.4], [-1.0, 0.7, 0.2, 0.1, 0.4]])
    weights = np.concatenate([weights, weights * [1.0, -1.0, 1.0, 1.0, 1.0]])
    observations = np.tile([[[0.8], [0.8]]], (4, 1, 1))

    class Product(Ring):
        def relaxed_act(self, weights: torch.Tensor, observations: torch.Tensor) -> torch.Tensor:
            return (weights[0] * weights[1] ** 2 * observations)[..., :1]

    signed, rms = (
        hessian_scores(Product(), weights, observations, score=score, seed=0)[0, 1]  # type: ignore[arg-type]  # as above
        for score in ("signed", "rms")
    )
    assert signed == pytest.approx(0.0, abs=1e-15)
    assert rms > 0.1


def test_fewer_states_than_policies_are_refused() -> None:
    weights, observations = sample(3, 2)
    with pytest.raises(ConfigError, match="Hessians is 2; expected at least 3, one for each"):
        hessian_scores(Ring(), weights, observations, score="rms", seed=0)  # type: ignore[arg-type]  # as above


def test_scores_are_in_units_of_the_cube() -> None:
    weights, observations = sample(3, 6)
    small, large = (
        hessian_scores(Ring(half_range), weights, observations, score="rms", seed=0)  # type: ignore[arg-type]  # as above
        for half_range in (0.5, 1.5)
    )
    np.testing.assert_allclose(large, 9.0 * small, rtol=1e-12)


def score_matrix(graph: "nx.Graph[int]", dimension: int) -> Float:
    """Return scores that are 1 on the edges of a graph."""
    return nx.to_numpy_array(graph, nodelist=range(dimension))


@pytest.mark.parametrize(
    ("graph", "cliques"),
    [
        (nx.path_graph(4), {(0, 1), (1, 2), (2, 3)}),
        (nx.complete_graph(5), {(0, 1, 2, 3, 4)}),
        (nx.empty_graph(3), {(0,), (1,), (2,)}),
        (nx.star_graph(3), {(0, 1), (0, 2), (0, 3)}),
        (nx.cycle_graph(3), {(0, 1, 2)}),
        (nx.disjoint_union(nx.complete_graph(3), nx.path_graph(2)), {(0, 1, 2), (3, 4)}),
    ],
    ids=["path", "complete", "empty", "star", "triangle", "two parts"],
)
def test_the_cliques_of_known_graphs_are_found(
    graph: "nx.Graph[int]", cliques: set[tuple[int, ...]]
) -> None:
    found = find_structure(score_matrix(graph, len(graph)), **NO_CAP)
    assert set(found.cliques) == cliques
    assert found.left_out == 0
    assert {tuple(edge) for edge in found.edges.tolist()} == set(graph.edges)


@settings(deadline=None, max_examples=30)
@given(seed=st.integers(0, 10**6), dimension=st.integers(2, 20), density=st.floats(0.0, 1.0))
def test_without_caps_they_are_all_maximal_cliques(
    seed: int, dimension: int, density: float
) -> None:
    graph = nx.gnp_random_graph(dimension, density, seed=seed)
    found = find_structure(score_matrix(graph, dimension), **NO_CAP)
    assert sorted(found.cliques) == sorted(tuple(sorted(c)) for c in nx.find_cliques(graph))


@settings(deadline=None, max_examples=30)
@given(
    seed=st.integers(0, 10**6),
    edge_cap=st.integers(1, 40),
    clique_cap=st.integers(1, 6),
    clique_size=st.integers(2, 5),
)
def test_caps_are_kept_and_every_dimension_is_in_a_clique(
    seed: int, edge_cap: int, clique_cap: int, clique_size: int
) -> None:
    scores = random_scores(12, seed)
    found = find_structure(
        scores, edge_cap=edge_cap, clique_cap=clique_cap, clique_size=clique_size
    )
    assert len(found.edges) == edge_cap
    assert max(map(len, found.cliques)) <= clique_size
    covered = [member for clique in found.cliques for member in clique]
    assert set(covered) == set(range(12))
    assert all(len(set(clique)) == len(clique) for clique in found.cliques)
    # No clique joins a pair that is no edge, cut or not.
    edges = {tuple(edge) for edge in found.edges.tolist()}
    for clique in found.cliques:
        assert all((a, b) in edges for a in clique for b in clique if a < b)
    # Each maximal clique gives at least one part; the rest are dimensions alone.
    graph: nx.Graph[int] = nx.Graph(list(edges))
    graph.add_nodes_from(range(12))
    beyond = len(list(nx.find_cliques(graph))) - clique_cap
    assert found.left_out == max(0, min(beyond, 9 * clique_cap))


def test_the_strongest_edges_are_kept_first_and_zero_is_never_one() -> None:
    scores = np.zeros((4, 4))
    for (a, b), value in {(0, 1): 1.0, (1, 2): 3.0, (0, 3): 2.0}.items():
        scores[a, b] = scores[b, a] = value
    np.fill_diagonal(scores, 99.0)
    found = find_structure(scores, edge_cap=10, clique_cap=9, clique_size=9)
    assert found.edges.tolist() == [[1, 2], [0, 3], [0, 1]]
    assert found.strengths.tolist() == [3.0, 2.0, 1.0]
    capped = find_structure(scores, edge_cap=2, clique_cap=9, clique_size=9)
    assert sorted(capped.cliques) == [(0, 3), (1, 2)]


def test_the_largest_cliques_are_taken_first_and_those_left_are_counted() -> None:
    graph = nx.disjoint_union(nx.path_graph(4), nx.complete_graph(4))
    found = find_structure(score_matrix(graph, 8), edge_cap=99, clique_cap=2, clique_size=99)
    assert found.cliques[:2] == ((4, 5, 6, 7), (0, 1))
    assert found.left_out == 2
    assert found.cliques[2:] == ((2,), (3,))


def test_a_large_clique_is_cut_evenly() -> None:
    found = find_structure(
        score_matrix(nx.complete_graph(10), 10), edge_cap=99, clique_cap=9, clique_size=4
    )
    assert found.cliques == ((0, 1, 2, 3), (4, 5, 6), (7, 8, 9))


def test_counts_are_summed_up() -> None:
    found = find_structure(score_matrix(nx.star_graph(2), 3), **NO_CAP)
    assert found.summary(3) == {
        "edge_count": 2,
        "edge_share": pytest.approx(2 / 3),
        "clique_count": 2,
        "largest_clique": 2,
        "isolated": 0,
        "cliques_left_out": 0,
    }


def test_balanced_scores_forget_the_scale_of_each_dimension() -> None:
    scores = random_scores(8, 0)
    scale = np.geomspace(0.01, 100.0, 8)
    even = balanced(np.ones((8, 8)) - np.eye(8))
    np.testing.assert_allclose(even[0, 1:], even[0, 1])
    once = balanced(scores * np.outer(scale, scale))
    reach = np.sqrt(np.square(once).mean(0))
    assert reach.max() / reach.min() < 100.0  # of 10^8 before
    np.testing.assert_allclose(once, once.T)


def test_balancing_leaves_a_dimension_that_meets_no_other_alone() -> None:
    scores = np.zeros((4, 4))
    scores[0, 1] = scores[1, 0] = 2.0
    even = balanced(scores)
    assert even[0, 1] > 0.0
    assert np.count_nonzero(even) == 2


def test_a_random_graph_is_symmetric_and_by_its_seed() -> None:
    scores = random_scores(30, 1)
    np.testing.assert_array_equal(scores, scores.T)
    np.testing.assert_array_equal(scores, random_scores(30, 1))
    assert (scores != random_scores(30, 2)).any()
    assert (np.diag(scores) == 0.0).all()
