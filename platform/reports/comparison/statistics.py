"""Expanded percentile bootstrap intervals over the seeds of a method; none of a few seeds.

A seed is one draw of a method: its trials under all settings (task and reward) share first weights
and noise, and a search whose reward changes no sum is the same run under several. So a resample
draws seeds once and takes each in all settings, which keep their weights (Agarwal et al. 2021,
"Deep reinforcement learning at the edge of the statistical precipice", draw each setting apart:
that counts one run several times, and its intervals are too narrow here). Percentiles are moved
out as t's quantiles are from the normal's, and as the deviation of N seeds is from that with N - 1
(Hesterberg 2015, "What teachers should know about the bootstrap", section 3.3): plain ones hold
the mean of a normal distribution in 83 % of cases with five seeds, these in 92 %. Below five seeds
an interval could be no more than the range of the seeds: with three that holds the median of the
distribution in three cases of four, not in 95 %. So there is none.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import Final

import numpy as np
from scipy.special import ndtr, stdtrit

from rolecast.core.types import Float

CONFIDENCE_LEVEL: Final = 0.95
"""Confidence level of every interval."""

LEAST_SEEDS_OF_INTERVAL: Final = 5
"""Seeds of each stratum from which there is an interval."""

UNDECIDED_SHARE: Final = 0.5
"""Probability of improvement that tells nothing apart."""

BOOTSTRAP_RESAMPLES: Final = 2000
"""Of one interval; the ends then move by some hundredths of the deviation of the seeds."""

BOOTSTRAP_SEED: Final = 0x5EED
"""Of the resampling, so that the same results make the same report."""

RESAMPLES_KEPT: Final = 16
"""Numbers of seeds whose resamples are kept: cells of a comparison have few different ones."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Estimate:
    """A statistic of seeds, and how sure it is."""

    value: Float
    """[T], or of no axis for a single figure."""

    low: Float | None
    """[T], lower end of the interval; None where a stratum has fewer than five seeds."""

    high: Float | None
    """[T], upper end."""

    @property
    def text(self) -> str:
        """A single figure and its interval, as tables print them."""
        value = f"{float(self.value):.2f}"
        if self.low is None or self.high is None:
            return f"{value} [-]"
        return f"{value} [{float(self.low):.2f}, {float(self.high):.2f}]"


def iqm(values: Float) -> Float:
    """Return the interquartile mean: the mean of what is left without a quarter at either end.

    The quarter is rounded down to whole seeds: of fewer than four seeds it is the mean, of five
    it is the mean of the middle three. NaN is no seed.

    Args:
        values: [..., N], of N seeds.
    """
    ordered = np.sort(np.asarray(values, dtype=np.float64), axis=-1)
    count = np.isfinite(ordered).sum(axis=-1, keepdims=True)
    cut = count // 4
    rank = np.arange(ordered.shape[-1])
    middle = (rank >= cut) & (rank < count - cut)
    return np.asarray(np.where(middle, ordered, 0.0).sum(axis=-1) / middle.sum(axis=-1))


def _mean(values: Float) -> Float:
    return np.asarray(np.nanmean(values, axis=-1))


SUMMARY_STATISTICS: Final[Mapping[str, Callable[[Float], Float]]] = MappingProxyType(
    {"mean": _mean, "IQM": iqm}
)
"""Name, as reports print it, to the statistic."""


def complete_seeds(strata: Sequence[Float]) -> list[Float]:
    """Return strata [N] of the seeds alone that each of them has, so that all weigh alike.

    Without it a method whose trials failed in a hard setting would gain: what is left of it there
    weighs less than what it earns elsewhere.

    Args:
        strata: each [N], the n-th of the same seed, NaN where it has none there.
    Returns:
        Each [M], M of the N seeds, which may be 0.
    """
    there = np.isfinite(strata).all(axis=0)
    return [np.asarray(each)[there] for each in strata]


def estimate(strata: Sequence[Float], statistic: str = "mean") -> Estimate:
    """Estimate a statistic of all seeds of all strata, with its interval.

    Args:
        strata: each [N] or [T, N]: the returns of N seeds of one method in a stratum, at T points.
            The n-th of each stratum is of the same seed, NaN where it has none there. A seed is
            drawn with all its strata and points.
        statistic: a name in `SUMMARY_STATISTICS`.
    Raises:
        ValueError: there is no stratum, or one has no seed.
    """
    samples = _aligned(strata)
    pooled = np.concatenate(list(samples), axis=-1)
    value = np.asarray(SUMMARY_STATISTICS[statistic](pooled))
    if _too_few(samples):
        return Estimate(value=value, low=None, high=None)
    (counts,) = _resample_counts(samples.shape[-1])
    resampled = _RESAMPLED_STATISTICS[statistic](pooled, np.tile(counts, len(samples)))
    return _interval(value, resampled, samples.shape[-1])


def probability_of_improvement(strata: Sequence[tuple[Float, Float]]) -> Estimate:
    """Estimate how probable it is that a seed of X earns more than a seed of Y.

    Args:
        strata: returns (x [N], y [M]) of the two methods in each setting; settings weigh alike.
            The n-th of each setting is of the same seed, NaN where it has none there.
    Returns:
        A share: 1 where every x is above every y; a tie counts half.
    Raises:
        ValueError: there is no stratum, or one has no seed.
    Source: Agarwal et al. (2021), section 4.3; within a stratum it is Mann and Whitney's U / N M.
    """
    ours, theirs = (_aligned([pair[side] for pair in strata]) for side in (0, 1))
    difference = ours[..., :, None] - theirs[..., None, :]
    wins = np.where(np.isfinite(difference), (difference > 0) + 0.5 * (difference == 0), 0.0)
    there = [np.isfinite(each).astype(np.float64) for each in (ours, theirs)]

    def mean_share(drawn_ours: Float, drawn_theirs: Float) -> Float:
        """Return the statistic [R] of resamples, each how often it has each seed [R, N], [R, M]."""
        # [J, R], sums of halves: exact
        won = ((drawn_ours @ wins) * drawn_theirs).sum(axis=-1)
        pairs = (there[0] @ drawn_ours.T) * (there[1] @ drawn_theirs.T)
        settings = (pairs > 0).sum(axis=0)
        mean = (won / np.maximum(pairs, 1.0)).sum(axis=0) / np.maximum(settings, 1)
        return np.asarray(np.where(settings > 0, mean, np.nan))

    sizes = ours.shape[-1], theirs.shape[-1]
    value = mean_share(*(np.ones((1, size)) for size in sizes))[0]
    if _too_few(ours) or _too_few(theirs):
        return Estimate(value=value, low=None, high=None)
    return _interval(value, mean_share(*_resample_counts(*sizes)), min(sizes))


def told_apart(strata: Sequence[tuple[Float, Float]]) -> bool:
    """Return whether X is shown to earn more than Y: the interval is above one half.

    Args:
        strata: as of `probability_of_improvement`, whose interval it is; with too few seeds there
            is none, and nothing is shown.
    """
    found = probability_of_improvement(strata)
    return found.low is not None and bool(found.low > UNDECIDED_SHARE)


def _too_few(samples: Float) -> bool:
    """Return whether a stratum of [J, ..., N] has too few seeds for an interval."""
    seeds = np.isfinite(samples).any(axis=tuple(range(1, samples.ndim - 1))).sum(axis=-1)
    return bool((seeds < LEAST_SEEDS_OF_INTERVAL).any())


@lru_cache(maxsize=RESAMPLES_KEPT)
def _resample_counts(*sizes: int) -> tuple[Float, ...]:
    """Return how often each of R resamples has each seed: [R, N] for each method of N seeds.

    Seeds of two methods are drawn apart.
    """
    rng = np.random.default_rng(BOOTSTRAP_SEED)
    found = []
    for size in sizes:
        drawn = rng.integers(0, size, (BOOTSTRAP_RESAMPLES, size))
        drawn += size * np.arange(BOOTSTRAP_RESAMPLES)[:, None]
        counts = np.bincount(drawn.ravel(), minlength=BOOTSTRAP_RESAMPLES * size)
        found.append(counts.reshape(BOOTSTRAP_RESAMPLES, size).astype(np.float64))
        found[-1].flags.writeable = False
    return tuple(found)


def _resampled_mean(values: Float, counts: Float) -> Float:
    """Return the mean [..., R] of values [..., K] of which a resample has counts [R, K]."""
    there = np.isfinite(values)
    total = np.where(there, values, 0.0) @ counts.T
    with np.errstate(invalid="ignore"):  # a resample may have no seed
        return np.asarray(total / (there.astype(np.float64) @ counts.T))


def _resampled_iqm(values: Float, counts: Float) -> Float:
    """Return `iqm` [..., R] of values [..., K] of which a resample has counts [R, K]."""
    found = np.empty((*values.shape[:-1], len(counts)))
    by_value = np.ascontiguousarray(counts.T, dtype=np.int64)
    for place in np.ndindex(values.shape[:-1]):
        order = np.argsort(values[place])[: np.isfinite(values[place]).sum()]
        ordered = values[place][order]
        ends = by_value[order]  # [K, R], made ranks up to each value
        for row in range(1, len(ends)):  # np.cumsum goes column by column, in four times the time
            ends[row] += ends[row - 1]
        size = ends[-1].copy()
        cut = size // 4
        # The sum of values times the ranks that each has between the cuts, added up by parts.
        kept = np.clip(ends, cut, size - cut, out=ends)
        total = (ordered - np.append(ordered[1:], 0.0)) @ kept - ordered[0] * cut
        with np.errstate(invalid="ignore"):  # a resample may have no seed
            found[place] = total / (size - 2 * cut)
    return found


_RESAMPLED_STATISTICS: Final[Mapping[str, Callable[[Float, Float], Float]]] = MappingProxyType(
    {"mean": _resampled_mean, "IQM": _resampled_iqm}
)
"""Name to the statistic of all resamples, which is that of their counts."""


def expanded_tail(seeds: int) -> float:
    """Return the share of resamples of some seeds beyond either end of an interval.

    Differs: the source gives it for the mean of one sample; it serves all statistics here, and two
    methods by the smaller number of seeds.
    """
    normal_tail = (1.0 - CONFIDENCE_LEVEL) / 2.0
    quantile = stdtrit(seeds - 1, normal_tail)
    return float(ndtr(np.sqrt(seeds / (seeds - 1)) * quantile))


def _interval(value: Float, resampled: Float, seeds: int) -> Estimate:
    """Return a statistic [...] with the interval of its resamples [..., R] of N seeds.

    A resample may leave out all seeds of a stratum; where it leaves nothing, it does not count.
    """
    tail = expanded_tail(seeds)
    # With a NaN, NumPy goes row by row.
    quantile = np.nanquantile if np.isnan(resampled).any() else np.quantile
    low, high = quantile(resampled, [tail, 1.0 - tail], axis=-1)
    return Estimate(value=value, low=np.asarray(low), high=np.asarray(high))


def _aligned(strata: Sequence[Float]) -> Float:
    """Return strata as one array [J, ..., N], NaN where a stratum has no such seed."""
    samples = [np.asarray(each, dtype=np.float64) for each in strata]
    if not samples or any(not np.isfinite(each).any() for each in samples):
        raise ValueError("a stratum has no seed; expected at least one in each")
    count = max(each.shape[-1] for each in samples)
    return np.stack(
        [
            np.concatenate([each, np.full((*each.shape[:-1], count - each.shape[-1]), np.nan)], -1)
            for each in samples
        ]
    )
