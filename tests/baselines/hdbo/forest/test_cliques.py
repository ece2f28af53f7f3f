"""Forests: no cycles, and the same greatest sum as trying every point of the grid."""

from itertools import product

import networkx as nx
import numpy as np
import pytest

from rolecast.baselines.hdbo.forest.cliques import Edge, alone, maximise, path, random_forest

FORESTS: list[tuple[Edge, ...]] = [
    (),
    ((0, 1),),
    ((1, 3),),
    ((0, 1), (1, 2), (2, 3), (3, 4)),
    ((0, 4), (1, 4), (2, 4), (3, 4)),
    ((0, 3), (2, 4), (1, 4)),
]


@pytest.mark.parametrize("edges", FORESTS)
@pytest.mark.parametrize("seed", range(3))
def test_messages_find_the_greatest_sum_on_the_grid(edges: tuple[Edge, ...], seed: int) -> None:
    """Against all 3^5 points; single terms of dimensions in edges count too."""
    rng = np.random.default_rng((seed, len(edges)))
    single, pairs = rng.normal(size=(5, 3)), rng.normal(size=(len(edges), 3, 3))

    def value(point: tuple[int, ...]) -> float:
        total = sum(single[one, place] for one, place in enumerate(point))
        return float(
            total
            + sum(table[point[a], point[b]] for (a, b), table in zip(edges, pairs, strict=True))
        )

    best = max(product(range(3), repeat=5), key=value)
    chosen, found = maximise(single, edges, pairs)
    assert tuple(chosen) == best
    assert found == pytest.approx(value(best))


@pytest.mark.parametrize("count", [0, 1, 4, 11, 99])
def test_a_random_forest_has_no_cycle_and_the_edges_asked_for(count: int) -> None:
    edges = random_forest(12, count, np.random.default_rng(count))
    assert len(edges) == min(count, 11)
    assert all(0 <= a < b < 12 for a, b in edges)
    if edges:
        assert nx.is_forest(nx.Graph(edges))


def test_random_trees_of_three_dimensions_are_equally_likely() -> None:
    """Chi-square of 3,000 draws over 3 trees; false alarm: 1e-6 a seed (27.6 at 2 degrees)."""
    rng = np.random.default_rng(0)
    drawn = [random_forest(3, 2, rng) for _ in range(3000)]
    counts = np.array([drawn.count(tree) for tree in set(drawn)])
    assert len(counts) == 3
    assert (np.square(counts - 1000) / 1000).sum() < 27.6


def test_dimensions_in_no_edge_stand_alone() -> None:
    assert alone(((1, 3),), 5) == [0, 2, 4]


@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [
        (0, 3, {(0, 2), (1, 2), (1, 3)}),
        (3, 0, {(0, 2), (1, 2), (1, 3)}),
        (2, 1, {(1, 2)}),
        (0, 5, set()),
        (4, 4, set()),
    ],
)
def test_a_path_has_the_edges_between_two_dimensions(
    start: int, end: int, expected: set[Edge]
) -> None:
    assert set(path(((0, 2), (1, 2), (1, 3), (4, 5)), 6, start, end)) == expected
