"""Percentile bootstrap intervals of a mean over seeds, stratified by setting; none of a few seeds.

Seeds of one setting (task and reward) are one stratum: a resample draws each stratum anew from its
own seeds, so that a setting keeps its weight, as Agarwal et al. (2021), "Deep reinforcement
learning at the edge of the statistical precipice", recommend. The resampling is SciPy's. Below
five seeds a percentile interval is little more than the range of the seeds: with three it holds
the median of the distribution in three cases of four, not in 95 %. So there is none.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

import numpy as np
from scipy import stats

from rolecast.core.types import Float

CONFIDENCE_LEVEL: Final = 0.95
"""Confidence level of every interval."""

LEAST_SEEDS_OF_INTERVAL: Final = 5
"""Seeds of each stratum from which there is an interval."""

BOOTSTRAP_RESAMPLES: Final = 2000
"""Of one interval; the ends then move by about a hundredth of the deviation of the seeds."""

_BOOTSTRAP_SEED: Final = 0x5EED
"""Of the resampling, so that the same results make the same report."""

Statistic = Callable[..., Any]
"""Of samples [..., N], over their last axis."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Estimate:
    """A statistic of seeds, and how sure it is."""

    value: Float
    """[T], or of no axis for a single figure."""

    low: Float | None
    """[T], lower end of the interval; None where a stratum has fewer than five seeds."""

    high: Float | None
    """[T], upper end."""


def iqm(values: Float, axis: int = -1) -> Float:
    """Return the interquartile mean: the mean of what is left without a quarter at either end.

    The quarter is rounded down to whole seeds: of fewer than four seeds it is the mean, of five
    it is the mean of the middle three.
    """
    return np.asarray(stats.trim_mean(values, 0.25, axis=axis))


def _mean(values: Float, axis: int = -1) -> Float:
    return np.asarray(np.mean(values, axis=axis))


SUMMARY_STATISTICS: Final[Mapping[str, Callable[..., Float]]] = MappingProxyType(
    {"mean": _mean, "IQM": iqm}
)
"""Name, as reports print it, to the statistic."""


def estimate(strata: Sequence[Float], statistic: str = "mean") -> Estimate:
    """Estimate a statistic of all seeds of all strata, with its interval.

    Args:
        strata: each [N] or [T, N]: the returns of the N seeds of a stratum, at T points; N may
            differ. A seed is drawn with all its points.
        statistic: a name in `SUMMARY_STATISTICS`.
    Raises:
        ValueError: there is no stratum, or one has no seed.
    """
    function = SUMMARY_STATISTICS[statistic]

    def pooled(*samples: Float, axis: int = -1) -> Float:
        return function(np.concatenate(samples, axis=axis), axis=axis)

    return _estimate(strata, pooled)


def probability_of_improvement(strata: Sequence[tuple[Float, Float]]) -> Estimate:
    """Estimate how probable it is that a seed of X earns more than a seed of Y.

    Args:
        strata: returns (x [N], y [M]) of the two methods in each setting; settings weigh alike.
    Returns:
        A share: 1 where every x is above every y; a tie counts half.
    Raises:
        ValueError: there is no stratum, or one has no seed.
    Source: Agarwal et al. (2021), section 4.3; within a stratum it is Mann and Whitney's U / N M.
    """

    def statistic(*samples: Float, axis: int = -1) -> Float:
        shares = []
        for ours, theirs in zip(samples[::2], samples[1::2], strict=True):
            difference = ours[..., :, None] - theirs[..., None, :]
            wins = (difference > 0) + 0.5 * (difference == 0)
            shares.append(wins.mean(axis=(-2, -1)))
        return np.asarray(np.mean(shares, axis=0))

    return _estimate([sample for pair in strata for sample in pair], statistic)


def _estimate(strata: Sequence[Float], statistic: Statistic) -> Estimate:
    """Return a statistic of samples, and its percentile interval where seeds suffice."""
    samples = [np.asarray(each, dtype=np.float64) for each in strata]
    if not samples or any(each.shape[-1] == 0 for each in samples):
        raise ValueError("a stratum has no seed; expected at least one in each")
    value = np.asarray(statistic(*samples, axis=-1))
    if any(each.shape[-1] < LEAST_SEEDS_OF_INTERVAL for each in samples):
        return Estimate(value=value, low=None, high=None)
    interval = stats.bootstrap(
        samples,
        statistic,
        n_resamples=BOOTSTRAP_RESAMPLES,
        vectorized=True,
        paired=False,
        axis=-1,
        confidence_level=CONFIDENCE_LEVEL,
        method="percentile",
        rng=np.random.default_rng(_BOOTSTRAP_SEED),
    ).confidence_interval
    return Estimate(value=value, low=np.asarray(interval.low), high=np.asarray(interval.high))
