"""Compiled loops over the covariances of a node's process: values, slopes and sums of slopes.

Points are kept column by column, padded with zeros to whole vectors: [P * M], M a multiple of 8.
All distances are in lengthscales. What stands in a padded column counts nowhere.
"""

from typing import Final

import numpy as np

from rolecast.core.compiled import compiled
from rolecast.core.types import Float
from rolecast.platform.surrogate.clique_sum.cpu_kernels import (
    LEAST_SQUARED_DISTANCE,
    LN_2,
    covariance_and_slope,
)
from rolecast.platform.surrogate.clique_sum.vectors import limit, load, store, total

VECTOR_WIDTH: Final = 8
"""Numbers of float64 in a vector."""

SQUARED_TURNS: Final = 5.0 / LN_2**2
"""Squared turns t^2 of a squared distance s, where exp(-sqrt(5 s)) = 2^-t."""

MOST_SQUARED_TURNS: Final = 1e6
"""2^-1000 is 0 beside any covariance."""


def columns_of(points: Float) -> Float:
    """Return points [N, P] as columns [P * M], padded."""
    width = max(1, -(-len(points) // VECTOR_WIDTH)) * VECTOR_WIDTH
    padded = np.zeros((points.shape[1], width))
    padded[:, : len(points)] = points.T
    return padded.ravel()


@compiled
def covariances(
    rows: Float, columns: Float, scale: float, shift: float, values: Float, slopes: Float
) -> None:
    """Write Matérn-5/2 covariances and their slopes, both [R, M], of rows [R, P] and points.

    A value is scale k + shift. A slope times x - x' is the gradient of the value in a row's x.
    """
    size, width = rows.shape[1], values.shape[1]
    for r in range(len(rows)):
        row, value, slope = rows[r], values[r], slopes[r]
        for first in range(0, width, VECTOR_WIDTH):
            apart = load(columns, first) - row[0]
            squared = apart * apart
            for p in range(1, size):
                apart = load(columns, p * width + first) - row[p]
                squared = squared + apart * apart
            squared = limit(squared * SQUARED_TURNS + LEAST_SQUARED_DISTANCE, MOST_SQUARED_TURNS)
            covariance, falling = covariance_and_slope(squared, False)
            store(slope, first, falling * (-5.0 / 3.0 * scale))
            store(value, first, covariance * scale + shift)


@compiled
def posterior_slopes(
    rows: Float,
    columns: Float,
    slopes: Float,
    weights: Float,
    solved: Float,
    mean_slopes: Float,
    variance_slopes: Float,
) -> None:
    """Write the gradients [R, P] of posterior mean and variance in rows [R, P].

    Args:
        rows: where.
        columns: points that were observed.
        slopes: [R, M], of the covariances.
        weights: [M], of the mean; 0 in padded columns.
        solved: [R, M], covariances times the inverse of the observations' covariance.
        mean_slopes: result.
        variance_slopes: result.
    """
    width = slopes.shape[1]
    for r in range(len(rows)):
        slope, back = slopes[r], solved[r]
        for p in range(rows.shape[1]):
            apart = rows[r, p] - load(columns, p * width)
            part = apart * load(slope, 0)
            mean, variance = part * load(weights, 0), part * load(back, 0)
            for first in range(VECTOR_WIDTH, width, VECTOR_WIDTH):
                apart = rows[r, p] - load(columns, p * width + first)
                part = apart * load(slope, first)
                mean = mean + part * load(weights, first)
                variance = variance + part * load(back, first)
            mean_slopes[r, p] = total(mean)
            variance_slopes[r, p] = -2.0 * total(variance)


@compiled
def hyperparameter_slopes(
    rows: Float, columns: Float, values: Float, slopes: Float, weights: Float, result: Float
) -> None:
    """Write the gradient [P + 1] of sum_ij w_ij scale k_ij in the logarithms of hyperparameters.

    Args:
        rows: [N, P], points that were observed.
        columns: the same.
        values: [N, M], scale k of all pairs.
        slopes: [N, M], of these values.
        weights: [N, M]; 0 in padded columns.
        result: of P lengthscales, then the scale.
    """
    size, width = rows.shape[1], values.shape[1]
    for p in range(size):
        result[p] = 0.0
    result[size] = 0.0
    for r in range(len(rows)):
        value, slope, weight = values[r], slopes[r], weights[r]
        for first in range(0, width, VECTOR_WIDTH):
            share = load(weight, first)
            result[size] += total(share * load(value, first))
            share = share * load(slope, first)
            for p in range(size):
                apart = load(columns, p * width + first) - rows[r, p]
                result[p] -= total(share * (apart * apart))
