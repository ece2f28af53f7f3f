"""When the hyperparameters of a growing process are chosen anew: every batch early, rarer later.

A refit factors the covariance anew, N^3; between two of them `gp.extend` adds points in N^2 each.
Refitted when it has grown by a share, a process of N points has had a number of refits that grows
as log N.
"""

from typing import Final

ALWAYS_REFITTED_POINTS: Final = 500
"""Points up to which a process is fitted anew with every batch: a tenth of a second at most."""

REFIT_GROWTH: Final = 0.1
"""Share of the points of the last refit by which a larger process grows before the next."""


def refit_is_due(fitted: int, fresh: int) -> bool:
    """Return whether a process is to be fitted anew.

    Args:
        fitted: points of the last refit.
        fresh: points told since.
    """
    return fresh > 0 and (fitted <= ALWAYS_REFITTED_POINTS or fresh >= REFIT_GROWTH * fitted)
