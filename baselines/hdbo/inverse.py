"""The inverse of a covariance that gets one more point, without inverting it anew."""

import numpy as np

from rolecast.core.types import Float


def bordered(inverse: Float, solved: Float, left: float) -> Float:
    """Return the inverse [N + 1, N + 1] of a symmetric matrix that gets a row and a column.

    Args:
        inverse: [N, N], of the matrix before.
        solved: [N], that inverse times the new column.
        left: above 0, what is left of the new diagonal entry, less the column times `solved`.
    """
    grown = np.empty((len(solved) + 1, len(solved) + 1))
    grown[:-1, :-1] = inverse + np.outer(solved, solved) / left
    grown[:-1, -1] = grown[-1, :-1] = -solved / left
    grown[-1, -1] = 1.0 / left
    return grown
