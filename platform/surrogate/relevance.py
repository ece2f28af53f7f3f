"""Which groups of parameters returns depend on: sparse Bayesian regression, one variance a group.

A linear fit of transformed returns on scaled weights, where all weights of a group (those that read
one input column of one layer) share a prior variance; MacKay's updates make the evidence rise. On
predator-prey it finds, by itself, that the prey's relative position matters most.
Source: MacKay (1992), automatic relevance determination; Tipping (2001).
"""

import numpy as np
from numpy.typing import NDArray

from rolecast.core.types import Float


def group_variances(
    design: Float,
    targets: Float,
    groups: NDArray[np.int64],
    variances: Float,
    *,
    updates: int = 6,
) -> Float:
    """Return prior variances [G] after some updates towards greater evidence.

    Args:
        design: [N, D], centred inputs of unit scale.
        targets: [N], of mean 0 and deviation 1.
        groups: [D], group of each dimension, 0 to G - 1.
        variances: [G], where the updates start; those of the batch before, for a warm start.
        updates: how many.
    """
    count = len(targets)
    gram, moment, energy = design.T @ design, design.T @ targets, float(targets @ targets)
    noise = 0.7
    for _ in range(updates):
        precision = gram / noise
        precision[np.diag_indices_from(precision)] += 1.0 / variances[groups]
        covariance = np.linalg.inv(precision)
        mean = covariance @ moment / noise
        determined = np.clip(1.0 - np.diag(covariance) / variances[groups], 1e-6, 1.0)
        squares = np.bincount(groups, np.square(mean), len(variances))
        shares = np.bincount(groups, determined, len(variances))
        variances = (squares + 1e-9) / (shares + 1e-9)
        variances = np.maximum(variances, 1e-4 * variances.max())
        residual = energy - 2.0 * float(mean @ moment) + float(mean @ gram @ mean)
        noise = max(residual / max(count - float(determined.sum()), 10.0), 0.02)
    return variances


def relevance(
    variances: Float, groups: NDArray[np.int64], power: float, bounds: tuple[float, float]
) -> Float:
    """Return a relevance [D] of mean 1 for each dimension: variance^power, clipped.

    Args:
        variances: [G].
        groups: [D].
        power: 0 makes all equal.
        bounds: least and greatest relevance before the last normalisation.
    """
    by_group = (variances / variances.mean()) ** power
    by_dimension = by_group[groups]
    clipped = np.clip(by_dimension / by_dimension.mean(), *bounds)
    return np.asarray(clipped / clipped.mean())
