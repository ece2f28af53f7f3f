"""The end of a search: its last incumbents meet fresh episodes, and a clearly better one is kept.

A search that picks among noisy values flatters what it picks. So a part of the budget is kept for
re-evaluating the incumbent of now, and those of 90 % and 75 % of the search where they differ.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np

from rolecast.core.types import Float

CLEAR_MARGIN: Final = 2.0
"""Standard errors by which an earlier incumbent must lead to replace that of now."""


def confirmation_batch(rivals: Sequence[Float], evaluations: int) -> Float:
    """Return the candidates [evaluations, D] to evaluate: the rivals, k of [D], in turn."""
    return np.array(rivals)[np.arange(evaluations) % len(rivals)]


def winner(candidates: Float, observed_returns: Float) -> Float:
    """Return the candidate [D] that is kept: the first, unless another is clearly better.

    Clearly: by more than twice the standard error of the difference. The best of several noisy
    means would often be an earlier, worse incumbent that was lucky.

    Args:
        candidates: [q, D], from `confirmation_batch`; the incumbent of now is the first row.
        observed_returns: [q, E], fresh returns, as paid: no learner sees others.
    """
    _, firsts, member = np.unique(candidates, axis=0, return_index=True, return_inverse=True)
    member = member.ravel()
    best, best_lead = candidates[0], 0.0
    own = observed_returns[member == member[0]].ravel()
    for rival, first in enumerate(firsts):
        if rival == member[0]:
            continue
        other = observed_returns[member == rival].ravel()
        if min(len(own), len(other)) < 2:
            continue
        error = np.sqrt(own.var(ddof=1) / len(own) + other.var(ddof=1) / len(other))
        lead = float(other.mean() - own.mean())
        if lead > max(CLEAR_MARGIN * error, best_lead):
            best, best_lead = candidates[first], lead
    return np.asarray(best)
