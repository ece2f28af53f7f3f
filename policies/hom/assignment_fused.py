"""The compiled face of Algorithm 1: `assignment.assign_roles` for W rows side by side, float32."""

import numpy as np
from numpy.typing import NDArray

from rolecast.envs.compiled import compiled
from rolecast.envs.lane_vectors import load, pick_greater, store
from rolecast.envs.spec import LANES, Float32
from rolecast.policies.hom.assignment import SUBSET_LIMIT


@compiled
def assign_lanes(affinity: Float32, best: Float32, choice: Float32, agent_of_role: Float32) -> None:
    """Write the agent of each role, as float32, to agent_of_role [n, W].

    Args:
        affinity: [n, n, W], of role (first axis) for agent; larger is preferred.
        best: [2^n, W] scratch, or any size beyond SUBSET_LIMIT agents.
        choice: as `best`.
        agent_of_role: [n, W]; each lane a permutation, ties as in `assign_roles`.
    """
    n = affinity.shape[0]
    if n > SUBSET_LIMIT:
        solve_lanes(affinity, agent_of_role)
        return
    # best[taken]: largest affinity that the roles |taken|, ..., n - 1 can still earn when the
    # agents in the bit set `taken` are gone; choice[taken]: the agent that role |taken| then has.
    everyone = (1 << n) - 1
    store(best, everyone, 0.0)
    for taken in range(everyone - 1, -1, -1):
        role = 0
        for agent in range(n):
            role += (taken >> agent) & 1
        found = False
        total = load(best, everyone)
        agents = total
        for agent in range(n):
            if (taken >> agent) & 1 == 0:
                offer = load(affinity[role], agent) + load(best, taken | (1 << agent))
                if found:
                    agents = pick_greater(offer, total, np.float32(agent), agents)
                    total = pick_greater(offer, total, offer, total)
                else:
                    agents = total * np.float32(0.0) + np.float32(agent)
                    total = offer
                    found = True
        store(best, taken, total)
        store(choice, taken, agents)
    for lane in range(LANES):
        taken = 0
        for role in range(n):
            agent_of_role[role, lane] = choice[taken, lane]
            taken |= 1 << int(choice[taken, lane])


@compiled
def solve_lanes(affinity: Float32, agent_of_role: Float32) -> None:
    """Solve lane by lane with the shortest-path method; shapes as in `assign_lanes`."""
    n = affinity.shape[0]
    matrix = np.empty((n, n), dtype=np.float32)
    agents = np.empty(n, dtype=np.int64)
    for lane in range(LANES):
        for role in range(n):
            for agent in range(n):
                matrix[role, agent] = affinity[role, agent, lane]
        solve_assignment(matrix, agents)
        for role in range(n):
            agent_of_role[role, lane] = agents[role]


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
