"""Outcome transforms of returns, before the fit of a Gaussian process.

The noise of a return in sparse tasks grows as its square root, and large returns dominate the fit.
A square root reduces both effects. Ranks do so for returns without a natural zero.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from rolecast.core.types import Float
from rolecast.core.validation import one_of, or_none

Rows = slice | NDArray[np.int64]
"""Places of returns among all that were told."""

ALL_ROWS: Final = slice(None)

OUTCOME_TRANSFORMS: Final = ("automatic", "signed_sqrt", "rank", "none")

OUTCOME_TRANSFORM_RULE: Final = or_none(one_of(*OUTCOME_TRANSFORMS))
"""Allowed values of the setting; None is "none"."""


def transform_returns(
    told: Float, transform: str | None, *, rows: Rows = ALL_ROWS
) -> tuple[Float, Float]:
    """Transform returns [N] and standardise them to mean 0 and deviation 1.

    Args:
        told: all returns that were told [K], in the unit of the task.
        transform: "signed_sqrt": sign(y) sqrt|y|; "rank": normal scores of the ranks; "none" or
            None; "automatic": as `chosen_transform` of all that were told.
        rows: places of the N returns among those told.
    Returns:
        The transformed returns [N], and the slopes [N] of the transform, by which standard errors
        are multiplied; for "rank" the average slope.
    """
    returns, transform = told[rows], chosen_transform(told, transform)
    if transform == "signed_sqrt":
        floor = max(0.05 * float(np.abs(returns).mean()), 1e-12)
        values = np.sign(returns) * np.sqrt(np.abs(returns))
        slopes = 0.5 / np.sqrt(np.maximum(np.abs(returns), floor))
    elif transform == "rank":
        values = ndtri((_average_ranks(returns) - 0.5) / len(returns))
        slopes = np.full(
            len(returns), values.std() / max(float(returns.std()), rounding_deviation(returns))
        )
    else:
        values, slopes = returns.copy(), np.ones(len(returns))
    deviation = max(float(values.std()), rounding_deviation(values))
    return (values - values.mean()) / deviation, slopes / deviation


def untransform_returns(
    transformed: Float, told: Float, transform: str | None, *, rows: Rows = ALL_ROWS
) -> Float:
    """Return transformed values [M] in the unit of the returns [N], by the inverse transform.

    `told`, `transform` and `rows` are as in `transform_returns`.
    """
    returns, transform = told[rows], chosen_transform(told, transform)
    if transform == "rank":
        scores = ndtri((_average_ranks(returns) - 0.5) / len(returns))
        # The scores were divided by their standard deviation, which is below 1 for N ranks.
        places = ndtr(
            scores.mean() + max(float(scores.std()), rounding_deviation(scores)) * transformed
        )
        ranks = (np.arange(len(returns)) + 0.5) / len(returns)
        return np.asarray(np.interp(places, ranks, np.sort(returns)))
    values = np.sign(returns) * np.sqrt(np.abs(returns)) if transform == "signed_sqrt" else returns
    mapped = values.mean() + max(float(values.std()), rounding_deviation(values)) * transformed
    return np.asarray(mapped * np.abs(mapped) if transform == "signed_sqrt" else mapped)


def chosen_transform(returns: Float, transform: str | None) -> str | None:
    """Return the transform, with "automatic" replaced by what suits the returns [N].

    "none" where a return is negative: 0 is no natural zero there, and a square root would be
    steepest at it. Else "signed_sqrt". A search decides by all it was told, so that it changes
    over once at most.
    """
    if transform != "automatic":
        return transform
    return "none" if (returns < 0.0).any() else "signed_sqrt"


def rounding_deviation(values: Float) -> float:
    """Return a deviation [unit of the values] that equal values [N] can have by rounding alone."""
    return 1e-12 * (1.0 + abs(float(values.mean())))


def _average_ranks(values: Float) -> Float:
    """Return ranks [N] from 1, equal values sharing the mean of theirs.

    SciPy's own loads all of `scipy.stats`, which is half of what an optimiser loads.
    """
    _, places, counts = np.unique(values, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(counts) - 0.5 * (counts - 1))[places])
