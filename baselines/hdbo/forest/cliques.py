"""Forests over dimensions: drawn at random, and the exact maximum of a sum over their edges.

A forest's edges are the pairs of dimensions with a common term of an additive function. A dimension
without an edge has a term of its own. Without cycles, messages from the leaves to the roots find
the best point of a grid. The time grows with the edges, not with the grid's size to the power of D.
"""

from collections.abc import Iterable, Sequence

import numpy as np

from rolecast.baselines.hdbo.record import Index
from rolecast.core.types import Float

Edge = tuple[int, int]
"""Two dimensions, the smaller first."""


def alone(edges: Sequence[Edge], dimension: int) -> list[int]:
    """Return the dimensions that are in no edge."""
    held = {end for edge in edges for end in edge}
    return [one for one in range(dimension) if one not in held]


def neighbours(edges: Iterable[Edge], dimension: int) -> list[list[int]]:
    """Return the neighbours of every dimension."""
    found: list[list[int]] = [[] for _ in range(dimension)]
    for one, other in edges:
        found[one].append(other)
        found[other].append(one)
    return found


def path(edges: Iterable[Edge], dimension: int, start: int, end: int) -> list[Edge]:
    """Return the edges between two dimensions; none where they are not connected."""
    near = neighbours(edges, dimension)
    before = {start: start}
    frontier = [start]
    while frontier and end not in before:
        fresh = [(one, other) for one in frontier for other in near[one] if other not in before]
        before.update({other: one for one, other in fresh})
        frontier = [other for _, other in fresh]
    found = []
    while end in before and end != start:
        found.append((min(end, before[end]), max(end, before[end])))
        end = before[end]
    return found


def random_forest(dimension: int, count: int, rng: np.random.Generator) -> tuple[Edge, ...]:
    """Draw edges one by one, uniform over those that close no cycle, up to a count or a tree.

    Source: Ziomek and Bou-Ammar (2023), section 4.
    """
    groups = np.arange(dimension)
    edges: list[Edge] = []
    while len(edges) < min(count, dimension - 1):
        one, other = sorted(map(int, rng.integers(dimension, size=2)))
        if groups[one] != groups[other]:
            edges.append((one, other))
            groups[groups == groups[other]] = groups[one]
    return tuple(sorted(edges))


def maximise(single: Float, edges: Sequence[Edge], pairs: Float) -> tuple[Index, float]:
    """Return the choices of greatest sum, by max-sum message passing, and the sum.

    Args:
        single: [D, R], value of each choice of each dimension by itself.
        edges: of a forest; E of them.
        pairs: [E, R, R], value of each choice of an edge's first and second dimension together.
    Returns:
        The chosen place on the grid of every dimension [D], and its value.
    """
    dimension = len(single)
    place = {edge: row for row, edge in enumerate(edges)}
    near = neighbours(edges, dimension)
    parent = np.full(dimension, -1)
    order: list[int] = []
    seen = np.zeros(dimension, dtype=bool)
    for root in range(dimension):
        if seen[root]:
            continue
        seen[root] = True
        begin = len(order)
        order.append(root)
        while begin < len(order):
            here = order[begin]
            for other in near[here]:
                if not seen[other]:
                    seen[other], parent[other] = True, here
                    order.append(other)
            begin += 1
    values = single.copy()
    choices = np.zeros((dimension, single.shape[1]), dtype=np.int64)
    for here in reversed(order):
        above = int(parent[here])
        if above < 0:
            continue
        table = pairs[place[min(here, above), max(here, above)]]
        total = (table if above < here else table.T) + values[here]
        choices[here] = total.argmax(1)
        values[above] += total.max(1)
    chosen = np.zeros(dimension, dtype=np.int64)
    best = 0.0
    for here in order:
        above = int(parent[here])
        if above < 0:
            chosen[here] = int(values[here].argmax())
            best += float(values[here].max())
        else:
            chosen[here] = choices[here, chosen[above]]
    return chosen, best
