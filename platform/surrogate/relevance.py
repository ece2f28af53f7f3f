"""Relevance of groups of parameters: sparse Bayesian regression, one prior variance per group.

A linear fit of transformed returns on scaled weights. All weights of a group, those that read one
input column of one layer, share a prior variance. MacKay's updates increase the evidence. On
predator-prey the prey's relative position gets the greatest variance.

Source: MacKay (1992), automatic relevance determination; Tipping (2001).
"""

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dtrtri

from rolecast.core.types import Float
from rolecast.platform.surrogate import dense


def group_variances(
    design: Float,
    targets: Float,
    groups: NDArray[np.int64],
    variances: Float,
    *,
    updates: int = 6,
) -> Float:
    """Return prior variances [G] after fixed-point updates that increase the evidence.

    Args:
        design: [N, D], centred inputs of unit scale.
        targets: [N], of mean 0 and deviation 1.
        groups: [D], group of each dimension, 0 to G - 1.
        variances: [G], initial values, such as those of the last batch.
        updates: number of updates.
    """
    count = len(targets)
    gram, moment, energy = design.T @ design, design.T @ targets, float(targets @ targets)
    noise = 0.7
    for _ in range(updates):
        # S = (X^T X / r + diag(1 / v))^-1, mu = S X^T z / r, gamma_i = 1 - S_ii / v_i.
        # v_g <- sum_g mu_i^2 / sum_g gamma_i,  r <- |z - X mu|^2 / (N - sum_i gamma_i).
        # By the factor L of S^-1: S_ii = sum_j (L^-1)_ji^2, at a third of an inverse.
        factor = dense.factor(gram / noise, 1.0 / variances[groups])
        root, _ = dtrtri(np.tril(factor), lower=1)
        mean = dense.solve(factor, moment) / noise
        determined = np.clip(1.0 - dense.column_squares(root) / variances[groups], 1e-6, 1.0)
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
    """Return the relevance [D] of each dimension, of mean 1: variance^power, clipped.

    Args:
        variances: [G].
        groups: [D].
        power: exponent; 0 makes all dimensions equal.
        bounds: minimum and maximum relevance before the last normalisation.
    """
    by_group = (variances / variances.mean()) ** power
    by_dimension = by_group[groups]
    clipped = np.clip(by_dimension / by_dimension.mean(), *bounds)
    return np.asarray(clipped / clipped.mean())
