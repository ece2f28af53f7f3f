"""Algorithm 1, role assignment: the permutation of largest total affinity, for many rows at once.

Ties go to the lowest index: role 0 gets the lowest agent of all optimal permutations, then role 1.
A constant matrix gives the identity. The paper does not define ties, which are common
where the weights of the role net are near 0.
"""

from itertools import combinations
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rolecast.core.types import Float

Index = NDArray[np.int64]

SUBSET_LIMIT: Final = 10
"""Maximum agents for enumeration of subsets; above it a shortest-path solver is used."""


def assign_roles(affinity: Float) -> Index:
    """Return the assignment of agents to roles with the largest sum of affinities.

    Args:
        affinity: [R, n, n], of role (row) for agent (column); no unit, larger is preferred.

    Returns:
        [R, n], agent of each role; every row is a permutation. Above SUBSET_LIMIT agents, SciPy's
        solver decides exact ties; a constant matrix still gives the identity.
    Source: Held and Karp (1962) for the subsets. Differs: the paper names the Hungarian method.
    """
    rows, n, _ = affinity.shape
    if n > SUBSET_LIMIT:
        # Loaded here: it takes longer than all else that a rollout worker of a small team loads.
        from scipy.optimize import linear_sum_assignment

        agents = [linear_sum_assignment(row, maximize=True)[1] for row in affinity]
        return np.array(agents, dtype=np.int64).reshape(rows, n)
    # best[:, taken]: largest total affinity of the roles popcount(taken), ..., n - 1, with the
    # agents in the bit set `taken` assigned.
    best = np.zeros((rows, 1 << n))
    choice = np.zeros((rows, 1 << n), dtype=np.int64)
    for role in reversed(range(n)):
        taken = np.array([sum(1 << a for a in held) for held in combinations(range(n), role)])
        free = np.array([[a for a in range(n) if not (t >> a) & 1] for t in taken])
        totals = affinity[:, role, :][:, free] + best[:, taken[:, None] | (1 << free)]
        first = totals.argmax(axis=2)
        best[:, taken] = np.take_along_axis(totals, first[:, :, None], axis=2)[:, :, 0]
        choice[:, taken] = np.take_along_axis(free[None], first[:, :, None], axis=2)[:, :, 0]
    agent_of_role = np.empty((rows, n), dtype=np.int64)
    held_by_now = np.zeros(rows, dtype=np.int64)
    for role in range(n):
        agent_of_role[:, role] = choice[np.arange(rows), held_by_now]
        held_by_now |= 1 << agent_of_role[:, role]
    return agent_of_role
