"""The sentence on top of a comparison: which method leads where, and by how much."""

from typing import Final

import numpy as np

from rolecast.platform.reports.comparison.groups import Groups
from rolecast.platform.reports.comparison.table import number

MOST_SETTINGS: Final = 3
"""Pairs of task and reward that the sentence tells of; a table has the rest."""


def leaders(whole: Groups) -> str:
    """Name, for the first pairs of task and reward, the methods of highest mean held-out return."""
    clauses = []
    for task, reward in whole.settings[:MOST_SETTINGS]:
        ends = {method: whole.finals(task, reward, method) for method in whole.methods}
        means = {method: float(np.mean(found)) for method, found in ends.items() if len(found)}
        if means:
            ranked = sorted(means, key=lambda method: -means[method])
            told = ", then ".join(
                f"{method} ({number(means[method])}{_left_out(whole, task, reward, method)})"
                for method in ranked[:2]
            )
            clauses.append(f"{task}, {reward}: {told}")
    left = len(whole.settings) - MOST_SETTINGS
    if left > 0 and clauses:
        clauses.append(f"{left} more below")
    return f"Highest mean at the end: {'; '.join(clauses)}." if clauses else ""


def _left_out(whole: Groups, task: str, reward: str, method: str) -> str:
    """Say of how many seeds a mean is, where some have not ended."""
    ended = len(whole.finals(task, reward, method))
    planned = len(whole.cells[task, reward, method].trials)
    return "" if ended == planned else f", {ended} of {planned} seeds"
