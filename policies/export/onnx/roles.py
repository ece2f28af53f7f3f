"""The assignment of roles as operations of ONNX: Algorithm 1, by subsets up to SUBSET_LIMIT."""

from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from rolecast.policies.export.onnx.graph import Graph
from rolecast.policies.export.onnx.shortest_paths import shortest_path_agents
from rolecast.policies.hom.assignment import SUBSET_LIMIT

Index = NDArray[np.int64]


def assigned_agents(graph: Graph, agents: int, affinity: str) -> str:
    """Add the agent [N, n] of each role, of largest total affinity; `reference.assigned_agents`.

    Up to SUBSET_LIMIT agents by subsets: entry [N, T] of a level is the best total of its role and
    all later ones, for each of the T sets of agents that the earlier roles have taken. Above, by
    shortest paths.
    """
    if agents > SUBSET_LIMIT:
        return shortest_path_agents(graph, agents, affinity)
    levels = [_level(agents, role) for role in range(agents)]
    choices, best = [""] * len(levels), ""
    for role, (free, after) in reversed(list(enumerate(levels))):
        of_role = graph.add("Gather", affinity, graph.constant(np.array(role)), axis=1)
        totals = graph.add("Gather", of_role, graph.constant(free), axis=1)
        if best:
            later = graph.add("Gather", best, graph.constant(after), axis=1)
            totals = graph.add("Add", totals, later)
        best = graph.add("ReduceMax", totals, axes=[2], keepdims=0)
        choices[role] = graph.add("ArgMax", totals, axis=2, keepdims=0)
    place, found = "", []
    for choice, (free, after) in zip(choices, levels, strict=True):
        chosen = graph.add("GatherElements", choice, place, axis=1) if place else choice
        if place:  # [N, 1], of the set that is taken by now
            first = graph.add("Mul", place, graph.constant(np.array(free.shape[1])))
            chosen = graph.add("Add", first, chosen)
        found.append(graph.add("Gather", graph.constant(free.ravel()), chosen))
        place = graph.add("Gather", graph.constant(after.ravel()), chosen)
    return graph.add("Concat", *found, axis=1)


def _level(agents: int, role: int) -> tuple[Index, Index]:
    """Return agents that are free for a role, and the sets that are taken if one of them is chosen.

    Returns:
        [T, n - role] each: for every set of `role` agents, those outside it, and the place of the
        set with one of them more among the sets of the next role.
    """
    taken = _sets(agents, role)
    places = {held: place for place, held in enumerate(_sets(agents, role + 1))}
    free = [[agent for agent in range(agents) if not held >> agent & 1] for held in taken]
    after = [
        [places[held | 1 << agent] for agent in each]
        for held, each in zip(taken, free, strict=True)
    ]
    return np.array(free), np.array(after)


def _sets(agents: int, size: int) -> list[int]:
    """Return the sets of so many agents, as bits."""
    return [sum(1 << a for a in held) for held in combinations(range(agents), size)]
