"""Makes returns of uneven noise comparable before a Gaussian process sees them.

In sparse tasks the noise of a return grows as its square root, and a few large ones would rule the
fit; a square root evens out both. Ranks do so where returns have no natural zero.
"""

from typing import Final

import numpy as np
from scipy.stats import norm, rankdata

from rolecast.core.types import Float
from rolecast.core.validation import one_of, or_none

OUTCOME_TRANSFORMS: Final = ("signed_sqrt", "rank", "none")

OUTCOME_TRANSFORM_RULE: Final = or_none(one_of(*OUTCOME_TRANSFORMS))
"""What a setting may be; None is "none"."""


def transform_returns(returns: Float, transform: str | None) -> tuple[Float, Float]:
    """Transform returns [N] and standardise them to mean 0 and deviation 1.

    Args:
        returns: in the unit of the task.
        transform: "signed_sqrt": sign(y) sqrt|y|; "rank": normal scores of the ranks; "none" or
            None.
    Returns:
        The transformed returns [N], and the slope [N] by which a small error of each is multiplied;
        for "rank" the average slope.
    """
    if transform == "signed_sqrt":
        floor = max(0.05 * float(np.abs(returns).mean()), 1e-12)
        values = np.sign(returns) * np.sqrt(np.abs(returns))
        slopes = 0.5 / np.sqrt(np.maximum(np.abs(returns), floor))
    elif transform == "rank":
        values = norm.ppf((rankdata(returns) - 0.5) / len(returns))
        slopes = np.full(len(returns), values.std() / max(float(returns.std()), 1e-12))
    else:
        values, slopes = returns.copy(), np.ones(len(returns))
    deviation = max(float(values.std()), 1e-12)
    return (values - values.mean()) / deviation, slopes / deviation


def untransform_returns(transformed: Float, returns: Float, transform: str | None) -> Float:
    """Map transformed values [M] back to the unit of the returns [N] that were transformed."""
    if transform == "rank":
        scores = norm.ppf((rankdata(returns) - 0.5) / len(returns))
        # Normal scores of N ranks have a deviation below 1, by which they were divided.
        places = norm.cdf(scores.mean() + max(float(scores.std()), 1e-12) * transformed)
        ranks = (np.arange(len(returns)) + 0.5) / len(returns)
        return np.asarray(np.interp(places, ranks, np.sort(returns)))
    values = np.sign(returns) * np.sqrt(np.abs(returns)) if transform == "signed_sqrt" else returns
    mapped = values.mean() + max(float(values.std()), 1e-12) * transformed
    return np.asarray(mapped * np.abs(mapped) if transform == "signed_sqrt" else mapped)
