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

    A rival of fewer shared seeds than an interval needs may be the best by luck alone, so that it
    counts only where none has as many; then those of the most shared seeds count.

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
    most = max((len(each.ours) for each in paired), default=0)
    enough = [each for each in paired if len(each.ours) >= min(most, LEAST_SEEDS_OF_INTERVAL)]
    return min(enough, key=lambda each: statistics.fmean(each.differences), default=None)


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
