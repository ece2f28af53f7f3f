"""Roles of many agents in the float32 reference: compiled, with the sums in the order of the C.

The algorithm of `rolecast.policies.hom.assignment_fused.solve_assignment`, which lets the compiler
reorder and fuse sums, where this rounds each as NumPy does.
"""

import numpy as np
from numpy.typing import NDArray

from rolecast.core.compiled import compiled_exactly
from rolecast.core.types import Float32


def shortest_paths(affinity: Float32) -> NDArray[np.int64]:
    """Return the agent of each role [R, n] of matrices [R, role, agent], by augmenting paths.

    Ties: columns are scanned downwards, and a free one is taken first.
    """
    agents = np.empty(affinity.shape[:2], dtype=np.int64)
    _assign_rows(affinity, agents)
    return agents


@compiled_exactly
def _assign_rows(affinity: Float32, assigned: NDArray[np.int64]) -> None:
    """Write the agent of each role [R, n] of matrices [R, n, n]; no loop ends late by a NaN."""
    rows, n, _ = affinity.shape
    u, v = np.empty(n, dtype=np.float32), np.empty(n, dtype=np.float32)
    cost = np.empty(n, dtype=np.float32)
    reached, closed = np.empty(n, dtype=np.bool_), np.empty(n, dtype=np.bool_)
    via, holder = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    for index in range(rows):
        matrix, agents = affinity[index], assigned[index]
        for column in range(n):
            v[column] = -matrix[:, column].max()
        for role in range(n):
            u[role] = -(matrix[role] + v).max()
        agents[:], holder[:] = -1, -1
        for role in range(n):
            reached[:], closed[:], via[:] = False, False, role
            row, low, nearest = role, np.float32(0.0), -1
            for _ in range(n):
                nearest = -1
                for column in range(n - 1, -1, -1):
                    if closed[column]:
                        continue
                    reduced = low - matrix[row, column] - u[row] - v[column]
                    if not reached[column] or reduced < cost[column]:
                        cost[column], via[column], reached[column] = reduced, row, True
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
            for _ in range(n):
                row = via[column]
                holder[column] = row
                following = agents[row]
                agents[row], column = column, following
                if row == role:
                    break
