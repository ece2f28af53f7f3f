"""Compiled form of Algorithm 1: `assignment.assign_roles` for W rows side by side, float32."""

import numpy as np
from numpy.typing import NDArray

from rolecast.core.compiled import compiled
from rolecast.core.simd import first_lane, lane_stop, load, load_lane, pick, store, store_lane
from rolecast.core.types import LANE_COUNT, Float32
from rolecast.policies.hom.assignment import SUBSET_LIMIT

Way = tuple[()] | tuple[bool]
"""Empty, or true for shortest paths: types of their own, so that one way alone is compiled."""


def way_of(n: int) -> Way:
    """Return how n agents are assigned: by subsets, or by shortest paths where these are many."""
    return (True,) if n > SUBSET_LIMIT else ()


@compiled
def assign_lanes(
    rows: Float32,
    n: int,
    affinity: int,
    best: int,
    choice: int,
    agent_of_role: int,
    paths: Way,
) -> None:
    """Write the agent of each role, as float32, to n rows from `agent_of_role` on.

    Args:
        rows: [.., W], the workspace; `affinity` to `agent_of_role` are first rows of parts of it.
        n: agents and roles.
        affinity: n * n rows, of role (outer) for agent (inner); larger is preferred.
        best: 2^n rows of scratch; none beyond SUBSET_LIMIT agents.
        choice: as `best`.
        agent_of_role: n rows; each lane a permutation, ties as in `assign_roles`.
        paths: as `way_of` tells.
    """
    if len(paths) == 1:
        solve_lanes(rows, n, affinity, agent_of_role)
        return
    # best[taken]: largest total affinity of the roles |taken|, ..., n - 1, when the agents in the
    # bit set `taken` are assigned; choice[taken]: the agent of role |taken| in it.
    everyone = (1 << n) - 1
    store(rows, best + everyone, 0.0)
    for taken in range(everyone - 1, -1, -1):
        role, lowest = 0, -1
        for agent in range(n):
            if (taken >> agent) & 1:
                role += 1
            elif lowest < 0:
                lowest = agent
        offers = affinity + role * n
        total = load(rows, offers + lowest) + load(rows, best + (taken | (1 << lowest)))
        store(rows, choice + taken, np.float32(lowest))
        for agent in range(lowest + 1, n):
            if (taken >> agent) & 1 == 0:
                offer = load(rows, offers + agent) + load(rows, best + (taken | (1 << agent)))
                agents = load(rows, choice + taken)
                better = offer > total
                store(rows, choice + taken, pick(better, np.float32(agent), agents))
                total = pick(better, offer, total)
        store(rows, best + taken, total)
    for lane in range(first_lane(), lane_stop()):
        taken = 0
        for role in range(n):
            agent = int(load_lane(rows, choice + taken, lane))
            store_lane(rows, agent_of_role + role, lane, agent)
            taken |= 1 << agent


@compiled
def solve_lanes(rows: Float32, n: int, affinity: int, agent_of_role: int) -> None:
    """Solve each lane by the shortest-path method; arguments as in `assign_lanes`."""
    matrix = np.empty((n, n), dtype=np.float32)
    agents = np.empty(n, dtype=np.int64)
    for lane in range(LANE_COUNT):
        for role in range(n):
            for agent in range(n):
                matrix[role, agent] = rows[affinity + role * n + agent, lane]
        solve_assignment(matrix, agents)
        for role in range(n):
            rows[agent_of_role + role, lane] = agents[role]


@compiled
def solve_assignment(affinity: Float32, agents: NDArray[np.int64]) -> None:
    """Write the agent of each role of one matrix [n, n] to agents [n].

    Source: successive shortest augmenting paths with potentials (Jonker and Volgenant 1987).
    Columns are scanned downwards and a free one wins ties, so a constant matrix gives the identity.
    """
    n = affinity.shape[0]
    u, v = np.zeros(n, dtype=np.float32), np.zeros(n, dtype=np.float32)
    cost = np.empty(n, dtype=np.float32)
    closed = np.empty(n, dtype=np.bool_)
    via = np.empty(n, dtype=np.int64)
    holder = np.full(n, -1, dtype=np.int64)
    agents[:] = -1
    # Start from the potentials of columns, then rows. Affinities of small nets are near a sum of
    # a role's part and an agent's part. They then need no long paths.
    for column in range(n):
        v[column] = -affinity[:, column].max()
    for role in range(n):
        u[role] = -(affinity[role] + v).max()
    for role in range(n):
        cost[:] = np.inf
        closed[:] = False
        via[:] = role
        row, low = role, np.float32(0.0)
        while True:
            nearest = -1
            for column in range(n - 1, -1, -1):
                if closed[column]:
                    continue
                reduced = low - affinity[row, column] - u[row] - v[column]
                if reduced < cost[column]:
                    cost[column] = reduced
                    via[column] = row
                if (
                    nearest < 0
                    or cost[column] < cost[nearest]
                    or (cost[column] == cost[nearest] and holder[column] < 0)
                ):
                    nearest = column
            low = cost[nearest]
            closed[nearest] = True
            if holder[nearest] < 0:
                break
            row = holder[nearest]
        u[role] += low
        for column in range(n):
            if closed[column] and column != nearest:
                u[holder[column]] += low - cost[column]
                v[column] -= low - cost[column]
        column = nearest
        while True:
            row = via[column]
            holder[column] = row
            following = agents[row]
            agents[row] = column
            if row == role:
                break
            column = following
