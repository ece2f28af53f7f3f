"""The fused sum over cliques: one pass over pairs of points, no matrix for each clique.

For a block of columns the squared differences of all dimensions are made once and stay in cache;
each clique gathers its own (compressed rows: `members[starts[c]:starts[c + 1]]`). Time grows as
pairs times total clique size, memory as pairs. Differs: multiplying by a membership matrix does
the same with some hundred times the arithmetic.
"""

import math
from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rolecast.envs.compiled import compiled
from rolecast.envs.spec import Float

Index = NDArray[np.int64]

COLUMNS: Final = 32
"""Columns of one block; a constant, so that inner loops vectorise."""

ROOT_5: Final = 5.0**0.5


def flatten_cliques(cliques: Sequence[Sequence[int]]) -> tuple[Index, Index]:
    """Return `starts` [M + 1] and `members`, all cliques one after the other."""
    starts = np.zeros(len(cliques) + 1, dtype=np.int64)
    starts[1:] = np.cumsum([len(clique) for clique in cliques])
    members = [np.asarray(clique, dtype=np.int64) for clique in cliques]
    return starts, np.concatenate(members) if members else np.zeros(0, dtype=np.int64)


@compiled
def clique_sum(
    A: Float, B: Float, starts: Index, members: Index, inverse: Float, weights: Float
) -> Float:
    """Return [N, M], the sum over c of w_c matern52(|a_c - b_c|^2 inverse_c); B is [D, M]."""
    rows, dimensions = A.shape
    columns = B.shape[1]
    result = np.empty((rows, columns))
    squares = np.zeros((dimensions, COLUMNS))
    total = np.empty(COLUMNS)
    distance = np.empty(COLUMNS)
    for first in range(0, columns, COLUMNS):
        width = min(COLUMNS, columns - first)
        for row in range(rows):
            for d in range(dimensions):
                own = squares[d]
                value = A[row, d]
                for column in range(width):
                    own[column] = (value - B[d, first + column]) ** 2
            total[:] = 0.0
            for c in range(len(weights)):
                distance[:] = 0.0
                for place in range(starts[c], starts[c + 1]):
                    own = squares[members[place]]
                    for column in range(COLUMNS):
                        distance[column] += own[column]
                scale, weight = inverse[c], weights[c]
                for column in range(COLUMNS):
                    root = ROOT_5 * math.sqrt(distance[column] * scale)
                    decay = math.exp(-root)
                    total[column] += weight * (1.0 + root + root * root / 3.0) * decay
            for column in range(width):
                result[row, first + column] = total[column]
    return result


@compiled
def clique_sum_gradient(
    point: Float,
    others: Float,
    coefficients: Float,
    starts: Index,
    members: Index,
    inverse: Float,
    weights: Float,
) -> Float:
    """Return the gradient [D] in `point` of sum_j c_j k(point, others_j); others [M, D]."""
    gradient = np.zeros(len(point))
    difference = np.empty(len(point))
    for other in range(len(others)):
        for d in range(len(point)):
            difference[d] = point[d] - others[other, d]
        for c in range(len(weights)):
            squared = 0.0
            for place in range(starts[c], starts[c + 1]):
                squared += difference[members[place]] ** 2
            root = ROOT_5 * math.sqrt(squared * inverse[c])
            slope = -5.0 / 3.0 * inverse[c] * (1.0 + root) * math.exp(-root)
            factor = coefficients[other] * weights[c] * slope
            for place in range(starts[c], starts[c + 1]):
                gradient[members[place]] += factor * difference[members[place]]
    return gradient
