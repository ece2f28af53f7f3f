"""The end of a search: its incumbent and some rivals meet fresh episodes, and the best is kept.

A search that picks among noisy values flatters what it picks, so a part of the budget is kept for
evaluating again. Where candidates differ by more than their errors, the rivals are the three with
the highest means; otherwise they are the incumbents of 90 % and 75 % of the search. Where
evaluations are one episode each, the new episodes show their errors. What an earlier confirmation
kept is a rival too.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from rolecast.core.types import Float
from rolecast.platform.search.records.batch_summary import BatchSummary, distinct

CLEAR_MARGIN: Final = 2.0
"""Standard errors by which an earlier incumbent must lead to replace that of now."""

EVALUATED_MARGIN: Final = 1.0
"""The same for an evaluated candidate, whose mean in the search was high as well."""

LEAST_FREEDOM: Final = 8
"""Degrees of freedom that a variance of episodes has at least, to judge evaluations of one."""


def confirmation_batch(seen: BatchSummary, evaluations: int) -> Float:
    """Return the candidates [evaluations, D] to evaluate: the incumbent and its rivals, in turn."""
    known = [] if seen.confirmed is None else [seen.confirmed]
    rivals = seen.best_evaluated() or seen.earlier_incumbents()
    compared = distinct([seen.incumbent, *known, *rivals])
    return np.array(compared)[np.arange(evaluations) % len(compared)]


def winner(candidates: Float, observed_returns: Float, seen: BatchSummary) -> Float:
    """Return the candidate [D] that is kept: the first, unless another is better.

    An earlier incumbent has to lead by more than twice the standard error of the difference: the
    best of several noisy means would often be an earlier, worse incumbent that was lucky. For an
    evaluated candidate, whose mean in the search was high as well, once is enough where candidates
    are told apart.

    Args:
        candidates: [q, D], from `confirmation_batch`; the incumbent of now is the first row.
        observed_returns: [q, E], fresh returns, as paid: no learner sees others.
        seen: the batches before.
    """
    _, firsts, member = np.unique(candidates, axis=0, return_index=True, return_inverse=True)
    member, margin = member.ravel(), CLEAR_MARGIN
    variance = _episode_variance(observed_returns, member)
    if seen.late_candidates.told_apart(variance):
        margin = EVALUATED_MARGIN
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
        if lead > max(margin * error, best_lead):
            best, best_lead = candidates[first], lead
    return np.asarray(best)


def _episode_variance(returns: Float, member: NDArray[np.intp]) -> float:
    """Return the variance of returns [q, E] about the mean of each rival, given by number [q].

    Infinite where there are too few to tell.
    """
    rivals = np.unique(member)
    freedom = returns.size - len(rivals)
    if freedom < LEAST_FREEDOM:
        return np.inf
    squares = sum(returns[member == rival].var() * (member == rival).sum() for rival in rivals)
    return float(squares * returns.shape[1] / freedom)
