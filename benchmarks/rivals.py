"""Which of several rivals comes closest to a method, by the seeds that both were run with."""

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rolecast.benchmarks.result_table import t_interval
from rolecast.platform.reports.comparison.statistics import LEAST_SEEDS_OF_INTERVAL


@dataclass(frozen=True, kw_only=True)
class PairedRival:
    """A rival on the seeds that it shares with ours."""

    name: str

    ours: list[float]
    """What ours earns, by shared seed."""

    theirs: list[float]
    """What the rival earns, by the same seeds."""

    @property
    def differences(self) -> list[float]:
        """Ours less theirs, by seed."""
        return [one - other for one, other in zip(self.ours, self.theirs, strict=True)]


def best_rival(
    ours: Mapping[int, float], rivals: Mapping[str, Mapping[int, float]]
) -> PairedRival | None:
    """Return the rival that ours leads by least, on average over the seeds that both have.

    Of the rivals that `with_enough_seeds` names, by the seeds that they share.

    Args:
        ours: figures by seed, larger is better.
        rivals: those of others, by name and seed.
    """
    paired = []
    for name, theirs in rivals.items():
        seeds = [seed for seed in ours if seed in theirs]
        if seeds:
            mine, other = ([each[seed] for seed in seeds] for each in (ours, theirs))
            paired.append(PairedRival(name=name, ours=mine, theirs=other))
    enough = with_enough_seeds({each.name: len(each.ours) for each in paired})
    judged = [each for each in paired if each.name in enough]
    return min(judged, key=lambda each: statistics.fmean(each.differences), default=None)


def with_enough_seeds(seeds: Mapping[str, int]) -> set[str]:
    """Return the methods that may count as the best: others may be it by luck alone.

    These have as many seeds as an interval needs or, where none has as many, the most.

    Args:
        seeds: how many each has, by name.
    """
    most = max(seeds.values(), default=0)
    return {name for name, count in seeds.items() if count >= min(most, LEAST_SEEDS_OF_INTERVAL)}


def difference_text(values: Sequence[float], form: str = ".3g") -> str:
    """Return the mean of paired differences, and its 95 % interval where there are seeds enough.

    Args:
        values: differences, one a seed.
        form: number format.
    """
    text = f"{statistics.fmean(values):{form}}"
    if len(values) < LEAST_SEEDS_OF_INTERVAL:
        return text
    low, high = t_interval(values)
    return f"{text} ({low:{form}} to {high:{form}})"


def shown_sign(values: Sequence[float]) -> int:
    """Return the sign of paired differences, 1 or -1, where their interval leaves 0 out; else 0.

    Below the seeds that an interval needs, nothing is shown.
    """
    if len(values) < LEAST_SEEDS_OF_INTERVAL:
        return 0
    low, high = t_interval(values)
    return int(low > 0.0) - int(high < 0.0)
