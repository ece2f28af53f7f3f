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

COLUMNS: Final = 64
"""Columns of one block: its squared differences of some 400 dimensions fit the second cache."""

ROOT_5: Final = 5.0**0.5


def flatten_cliques(cliques: Sequence[Sequence[int]]) -> tuple[Index, Index]:
    """Return `starts` [M + 1] and `members`, all cliques one after the other."""
    starts = np.zeros(len(cliques) + 1, dtype=np.int64)
    starts[1:] = np.cumsum([len(clique) for clique in cliques])
    members = [np.asarray(clique, dtype=np.int64) for clique in cliques]
    return starts, np.concatenate(members) if members else np.zeros(0, dtype=np.int64)


@compiled
def clique_sum(
    A: Float,
    B: Float,
    starts: Index,
    members: Index,
    inverse: Float,
    weights: Float,
    symmetric: bool,
) -> Float:
    """Return [N, M], the sum over c of w_c matern52(|a_c - b_c|^2 inverse_c); B is [D, M].

    Where B is A transposed, `symmetric` halves the work.
    The exponential is exp(-r) = 2^-k 2^-f: k goes into the exponent's bits, 2^-f is a polynomial of
    relative error 1e-13 on [0, 1).
    """
    rows, dimensions = A.shape
    columns = B.shape[1]
    result = np.empty((rows, columns))
    squares = np.zeros((dimensions, COLUMNS))
    total = np.empty(COLUMNS)
    distance = np.empty(COLUMNS)
    bits = np.empty(COLUMNS, dtype=np.int64)
    powers = bits.view(np.float64)
    for first in range(0, columns, COLUMNS):
        width = min(COLUMNS, columns - first)
        for row in range(min(rows, first + width) if symmetric else rows):
            for d in range(dimensions):
                own, theirs = squares[d], B[d, first : first + width]
                value = A[row, d]
                for column in range(width):
                    own[column] = (value - theirs[column]) ** 2
            total[:] = 0.0
            for c in range(len(weights)):
                distance[:] = 0.0
                for place in range(starts[c], starts[c + 1]):
                    own = squares[members[place]]
                    for column in range(width):
                        distance[column] += own[column]
                scale, weight = inverse[c], weights[c]
                for column in range(width):
                    root = ROOT_5 * math.sqrt(distance[column] * scale)
                    turns = root * 1.4426950408889634
                    turns = turns if turns < 1000.0 else 1000.0
                    whole = np.int32(turns)
                    bits[column] = np.int64(1023 - whole) << 52
                    x = (whole - turns) * 0.6931471805599453
                    power = 1.0 + x * (1.0 / 11.0) * (1.0 + x * (1.0 / 12.0))
                    power = 1.0 + x * (1.0 / 9.0) * (1.0 + x * (1.0 / 10.0) * power)
                    power = 1.0 + x * (1.0 / 7.0) * (1.0 + x * (1.0 / 8.0) * power)
                    power = 1.0 + x * (1.0 / 5.0) * (1.0 + x * (1.0 / 6.0) * power)
                    power = 1.0 + x * (1.0 / 3.0) * (1.0 + x * (1.0 / 4.0) * power)
                    power = 1.0 + x * (1.0 + x * (1.0 / 2.0) * power)
                    distance[column] = weight * (1.0 + root + root * root / 3.0) * power
                for column in range(width):
                    total[column] += distance[column] * powers[column]
            for column in range(width):
                result[row, first + column] = total[column]
    if symmetric:
        for row in range(rows):
            for column in range(row):
                result[row, column] = result[column, row]
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
