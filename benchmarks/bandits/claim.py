"""Whether DUETS is lowest in regret and communication, as its paper says of figure 1."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

import numpy as np

from rolecast.benchmarks.result_table import Row, markdown_table
from rolecast.benchmarks.rivals import difference_text, shown_sign
from rolecast.tune_configs.duets_fig1 import FIGURE_FUNCTIONS, FIGURE_METHODS, PAPER_METHODS

CLAIM_VALUES: Final[Mapping[str, str]] = {"regret": "regret", "reals": "real numbers sent"}

Ends = np.ndarray[tuple[int], np.dtype[np.float64]]
"""Differences, one a seed."""

BestRows = Callable[[Sequence[Row]], Sequence[Row]]


def claim_section(rows: Sequence[Row], best_rows: BestRows) -> list[str]:
    """Return lines of the page, of rows that have DUETS and a rival.

    Args:
        rows: of the figure.
        best_rows: returns the rows of a method and function at its best beta; none without one.
    """
    lines = []
    for function in FIGURE_FUNCTIONS:
        of_function = [row for row in rows if row["function"] == function]
        best = {
            method: found
            for method in FIGURE_METHODS
            if (found := best_rows([row for row in of_function if row["method"] == method]))
        }
        if "duets" in best and len(best) > 1:
            lines += [_line(function, value, best) for value in CLAIM_VALUES]
    if not lines:
        return []
    return [
        "### Is DUETS lowest on both?",
        "",
        "The paper says so of its four methods, everywhere. The nearest rival is that of the "
        "lowest mean among them; for communication among those that send anything. Difference: "
        "DUETS less that rival, with the 95 % t interval over paired runs. The last column names "
        "methods, also those that the paper lacks, that are below DUETS in the mean of the runs "
        "that both have.",
        "",
        markdown_table(
            ("function", "of", "DUETS", "nearest rival", "difference", "lowest", "below DUETS"),
            lines,
        ),
    ]


def _line(function: str, value: str, best: Mapping[str, Sequence[Row]]) -> tuple[str, ...]:
    ends = {method: _ends(rows, value) for method, rows in best.items()}
    sending = {
        method: each for method, each in ends.items() if value == "regret" or any(each.values())
    }
    ours = sending.pop("duets")
    mean = float(np.mean(list(ours.values())))
    paired = {method: _differences(ours, each) for method, each in sending.items()}
    below = [f"`{name}`" for name, each in paired.items() if len(each) and each.mean() > 0]
    rivals = [method for method in PAPER_METHODS if len(paired.get(method, ()))]
    if not rivals:
        return (function, CLAIM_VALUES[value], f"{mean:.0f}", "", "", "", "")
    nearest = max(rivals, key=lambda name: float(paired[name].mean()))
    return (
        function,
        CLAIM_VALUES[value],
        f"{mean:.0f}",
        f"`{nearest}` {np.mean(list(sending[nearest].values())):.0f}",
        difference_text(paired[nearest].tolist(), ".0f"),
        {-1: "yes", 0: "not shown", 1: "no"}[shown_sign(paired[nearest].tolist())],
        ", ".join(below) or "none",
    )


def _differences(ours: Mapping[int, float], theirs: Mapping[int, float]) -> Ends:
    """Return DUETS less another method, of the seeds that both have."""
    return np.array([ours[seed] - theirs[seed] for seed in sorted(ours) if seed in theirs])


def _ends(rows: Sequence[Row], value: str) -> dict[int, float]:
    """Return the values at the end, by seed."""
    return {int(row["seed"]): float(row[value][-1]) for row in rows}
