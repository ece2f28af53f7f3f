"""Matérn-5/2 kernel as a function of the squared scaled distance, and its slope.

k(s) = (1 + r + r^2 / 3) exp(-r), with r = sqrt(5 s) and s = |x - x'|^2 / l^2.

Source: Rasmussen and Williams (2006), equation 4.17; appendix A of the DSS-GP-UCB paper.
"""

from typing import Final

import numpy as np

from rolecast.core.types import Float

ROOT_5: Final = 5.0**0.5


def matern52(squared: Float) -> Float:
    """Return k(s) for squared scaled distances s of any shape; k(0) = 1."""
    root = ROOT_5 * np.sqrt(squared)
    return np.asarray((1.0 + root + root * root / 3.0) * np.exp(-root))


def matern52_slope(squared: Float) -> Float:
    """Return dk / ds = -5/6 (1 + r) exp(-r), finite at 0."""
    root = ROOT_5 * np.sqrt(squared)
    return np.asarray(-5.0 / 6.0 * (1.0 + root) * np.exp(-root))


def squared_distances(A: Float, B: Float) -> Float:
    """Return squared Euclidean distances [N, M] between rows of A [N, D] and B [M, D]."""
    squared = np.square(A).sum(1)[:, None] + np.square(B).sum(1) - 2.0 * (A @ B.T)
    return np.asarray(np.maximum(squared, 0.0))
