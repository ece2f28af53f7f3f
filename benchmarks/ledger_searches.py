"""What stands beside the learners of the ledger: searches of the main result table."""

import statistics
from collections.abc import Sequence
from typing import Final

from rolecast.benchmarks.main_table import seeds_of
from rolecast.benchmarks.result_table import Row
from rolecast.platform.reports.curves import thousands

SEARCH_LABELS: Final = ("dss_gp_ucb", "local_gp", "cmaes separable")
"""Searches that stand beside the learners where the main result table has their task."""


def searches_text(task: str, rows: Sequence[Row]) -> list[str]:
    """Say what searches of the main result table reach on a task, by budget."""
    found = seeds_of(rows, task)
    return [
        f"{name} "
        + ", ".join(
            f"{statistics.median(returns):.1f} at {thousands(budget)}"
            for budget, returns in sorted(found[name].items())
        )
        + f" ({_seed_counts([len(each) for _, each in sorted(found[name].items())])})"
        for name in SEARCH_LABELS
        if name in found
    ]


def _seed_counts(counts: Sequence[int]) -> str:
    """Say of how many seeds medians are, one after the other where they differ."""
    if len(set(counts)) == 1:
        return f"median of {counts[0]} seeds"
    return f"medians of {', '.join(map(str, counts))} seeds"
