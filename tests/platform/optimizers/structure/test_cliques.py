"""From scores to edges and cliques: those of known graphs, within their caps."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rolecast.core.types import Float
from rolecast.platform.optimizers.structure.cliques import (
    balanced,
    find_structure,
    random_scores,
)

NO_CAP = {"edge_cap": 10_000, "clique_cap": 10_000, "clique_size": 10_000}


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
    assert found.pairs_left_out == 0
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
    joined = {(a, b) for a, b in edges if any({a, b} <= set(each) for each in found.cliques)}
    assert found.pairs_left_out == edge_cap - len(joined)


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


def test_the_largest_cliques_are_taken_first_and_pairs_left_are_counted() -> None:
    graph = nx.disjoint_union(nx.path_graph(4), nx.complete_graph(4))
    found = find_structure(score_matrix(graph, 8), edge_cap=99, clique_cap=2, clique_size=99)
    assert found.cliques[:2] == ((4, 5, 6, 7), (0, 1))
    assert found.pairs_left_out == 2
    assert found.cliques[2:] == ((2,), (3,))


def test_a_large_clique_is_cut_evenly() -> None:
    found = find_structure(
        score_matrix(nx.complete_graph(10), 10), edge_cap=99, clique_cap=9, clique_size=4
    )
    assert found.cliques == ((0, 1, 2, 3), (4, 5, 6), (7, 8, 9))
    assert found.pairs_left_out == 4 * 3 + 4 * 3 + 3 * 3


def test_pairs_between_the_halves_of_a_cut_clique_are_counted() -> None:
    graph = nx.complete_graph(32)
    found = find_structure(score_matrix(graph, 32), edge_cap=999, clique_cap=128, clique_size=16)
    assert list(map(len, found.cliques)) == [16, 16]
    assert found.pairs_left_out == 16 * 16


def test_pairs_in_cliques_that_were_never_listed_are_counted() -> None:
    """A star of 40 edges has 40 cliques; with a cap of 1 only 10 of them are listed."""
    found = find_structure(
        score_matrix(nx.star_graph(40), 41), edge_cap=99, clique_cap=1, clique_size=9
    )
    assert found.pairs_left_out == 39


def test_a_part_that_two_large_cliques_share_is_taken_once() -> None:
    """Two cliques of six that differ in their last dimension alone, cut in halves."""
    graph = nx.complete_graph(7)
    graph.remove_edge(5, 6)
    found = find_structure(score_matrix(graph, 7), edge_cap=100, clique_cap=100, clique_size=3)
    assert found.cliques == ((0, 1, 2), (3, 4, 5), (3, 4, 6))


def test_counts_are_summed_up() -> None:
    found = find_structure(score_matrix(nx.star_graph(2), 3), **NO_CAP)
    assert found.summary(3) == {
        "edge_count": 2,
        "edge_share": pytest.approx(2 / 3),
        "clique_count": 2,
        "largest_clique": 2,
        "isolated": 0,
        "pairs_left_out": 0,
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
