"""What the evidence of a Gaussian process decides: noise, share of structure, width of the cloud.

Evidence is the log marginal likelihood of levelled returns, its output scale integrated out by
maximum likelihood, as `fit` gives it.
"""

from typing import Final

import numpy as np

from rolecast.envs.spec import Float
from rolecast.platform.surrogate.gp import fit
from rolecast.platform.surrogate.kernels import Matern

NOISES: Final = (0.02, 0.05, 0.1, 0.2, 0.4, 0.8, 1.6)
"""Noise variances that evidence chooses among, as shares of the output variance."""

LARGE_NOISES: Final = (3.2, 6.4, 12.8)
"""Further ones for the choice of the share: under a bound, structure would pass for noise."""

WIDE_NOISES: Final = (*NOISES, *LARGE_NOISES)[1::2]
"""Coarser, for comparisons that allow any noise."""

SHARES: Final = (0.0, 0.25, 0.5, 0.75)
"""Shares of the structured term that evidence chooses among."""

PLAINER: Final = 10.0
"""Log evidence by which structure must beat the common term alone. Where returns are mostly noise,
evidence differs by a few between any two shares, by chance."""

PLANE: Final = 5.0
"""Log evidence by which the long of `PLANE_LENGTHS` beats the short where returns look like a plane
over the cloud: it can be wider then, and rise over the noise. At 10 a search that begins slowly
stays slow (docs/optimizers.md)."""

PLANE_LENGTHS: Final = (0.7, 3.0)
"""Lengthscales compared, as multiples of the radius."""


def like_a_plane(points: Float, targets: Float, noise: Float, radius: float) -> bool:
    """Return whether long lengthscales explain returns clearly better than short ones.

    Args:
        points: [N, D], of the cloud.
        targets: [N], levelled returns.
        noise: [N], relative noise variances.
        radius: of the cloud, root mean square.
    """
    short, long = (
        max(fit(covariance, targets, level * noise).log_evidence for level in WIDE_NOISES)
        for covariance in (
            Matern(multiple * radius).matrix(points, points) for multiple in PLANE_LENGTHS
        )
    )
    return long - short > PLANE


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
