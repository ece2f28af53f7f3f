"""Schedule of refits, in which hyperparameters are chosen anew, and what evaluations they take.

Every batch causes a refit at first, later ones rarely do.

A refit factors the covariance in O(N^3). Between refits `gp.extend` adds points in O(N^2) each.
A refit at each growth by a constant share makes O(log N) refits in all.
"""

from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rolecast.core.types import Float

ALWAYS_REFITTED_POINTS: Final = 500
"""Points up to which each batch causes a refit, of a tenth of a second at most."""

REFIT_GROWTH: Final = 0.1
"""Growth of a larger process before the next refit, as a share of the points of the last."""


def refit_is_due(fitted: int, fresh: int) -> bool:
    """Return whether a refit is due.

    Args:
        fitted: points of the last refit.
        fresh: points told since.
    """
    return fresh > 0 and (fitted <= ALWAYS_REFITTED_POINTS or fresh >= REFIT_GROWTH * fitted)


def rows_to_keep(count: int, most: int, means: Callable[[int], Float] | None) -> NDArray[np.int64]:
    """Return the rows [K] of the evaluations that a refit takes, at most `most` of `count`.

    Half are the latest, half those of highest posterior mean among the others. The highest returns
    would be the luckiest.

    Args:
        count: evaluations told.
        most: K at most.
        means: posterior means by the last refit of as many evaluations as it is called for, the
            earliest; None before the first refit, which takes the earliest.
    """
    half = most // 2
    if count <= most:
        return np.arange(count)
    latest = np.arange(count - half, count)
    if means is None:
        return np.concatenate([np.arange(half), latest])
    best = np.argsort(-means(count - half), kind="stable")[:half]
    return np.concatenate([np.sort(best), latest])
