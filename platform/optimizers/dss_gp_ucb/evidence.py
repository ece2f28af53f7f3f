"""What the evidence of a Gaussian process decides: its noise, and the share of structure.

Evidence is the log marginal likelihood of levelled returns, its output scale integrated out by
maximum likelihood, as `fit` gives it.
"""

from typing import Final

import numpy as np

from rolecast.envs.spec import Float
from rolecast.platform.surrogate.gp import fit

NOISES: Final = (0.02, 0.05, 0.1, 0.2, 0.4, 0.8, 1.6)
"""Noise variances that evidence chooses among, as shares of the output variance."""

LARGE_NOISES: Final = (3.2, 6.4, 12.8)
"""Further ones for the choice of the share: under a bound, structure would pass for noise."""

SHARES: Final = (0.0, 0.25, 0.5, 0.75)
"""Shares of the structured term that evidence chooses among."""

PLAINER: Final = 10.0
"""Log evidence by which structure must beat the common term alone. Where returns are mostly noise,
evidence differs by a few between any two shares, by chance."""


def best_share(covariance: Float, difference: Float, targets: Float, noise: Float) -> int:
    """Return which share of the structured term has the greatest evidence, over all noises.

    Args:
        covariance: [N, N] of the common term.
        difference: [N, N], the structured term's covariance less that.
        targets: [N], levelled returns.
        noise: [N], relative noise variances.
    """
    evidence = []
    for share in SHARES:
        mixed = covariance + share * difference
        fits = (fit(mixed, targets, level * noise) for level in (*NOISES, *LARGE_NOISES))
        best = max(found.log_evidence for found in fits)
        evidence.append(best - (PLAINER if share else 0.0))
    return int(np.argmax(evidence))


def noise_shape(deviations: Float, weight: float) -> Float:
    """Return the relative noise variance [N] of each evaluation, of geometric mean about 1.

    Where the standard error is unknown or 0, the others' median stands in.
    """
    known = np.isfinite(deviations) & (deviations > 0.0)
    if not known.any():
        return np.ones(len(deviations))
    typical = float(np.median(deviations[known]))
    ratio = np.where(known, deviations, typical) / typical
    return np.asarray(np.clip(ratio**2, 0.05, 20.0) ** weight)
