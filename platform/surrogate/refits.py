"""Schedule of refits, in which hyperparameters are chosen anew: every batch at first, then rarely.

A refit factors the covariance in O(N^3). Between refits `gp.extend` adds points in O(N^2) each.
A refit at each growth by a constant share makes O(log N) refits in all.
"""

from typing import Final

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
