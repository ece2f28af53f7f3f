"""The page and the picture of what a proposal costs, against D and N."""

from collections.abc import Sequence
from typing import Final

import numpy as np
from matplotlib.figure import Figure

from rolecast.benchmarks.proposals import ASK_BATCH, ProposalRun, run_proposals
from rolecast.benchmarks.result_table import ResultTable, Row, place
from rolecast.platform.optimizers.registry import BASELINES, OPTIMIZERS
from rolecast.platform.reports.style import legend_lines, line_style, panel_grid, panel_style, png


def markdown(rows: Sequence[Row]) -> str:
    """Return the page: one table, a line for each optimiser and number of dimensions."""
    told = sorted({count for row in rows for count in row["told"]})
    limits = ", ".join(str(limit) for limit in sorted({row["limit"] for row in rows}))
    text = [
        "# What a proposal costs",
        "",
        f"Processor seconds of one core to take in the last {ASK_BATCH} of N evaluations and to be "
        f"asked for {ASK_BATCH} candidates, with the fit that is due, and MiB beyond those of "
        "libraries and data. Each measurement "
        f"is a process of its own; one that takes more than {limits} s is given up (`>`), and so "
        "are those with more evaluations. Default settings, but for a first design of "
        f"{ASK_BATCH} points, so that models are used. Written by `rolecast bench proposals`.",
        "",
        f"| optimiser | D | {' | '.join(f'N = {count:,}' for count in told)} |",
        f"|---|---|{'---|' * len(told)}",
    ]
    for row in rows:
        found = dict(zip(row["told"], zip(row["seconds"], row["mib"], strict=True), strict=True))
        entries = [_entry(found.get(count), row["limit"]) for count in told]
        text.append(f"| {row['optimizer']} | {row['dimension']} | {' | '.join(entries)} |")
    return "\n".join(text) + "\n"


def _entry(found: tuple[float | None, float | None] | None, limit: int) -> str:
    if found is None:
        return ""
    seconds, mib = found
    if seconds is None or mib is None:
        return f"> {limit} s"
    time = f"{seconds:.1f}" if seconds >= 1.0 else f"{max(seconds, 0.001):.3f}"
    return f"{time} s, {mib:.0f} MiB"


def picture(rows: Sequence[Row]) -> Figure:
    """Draw seconds against N, a panel for each D; an arrow upwards where the limit was reached."""
    dimensions = sorted({row["dimension"] for row in rows})
    names = list(dict.fromkeys(row["optimizer"] for row in rows))
    count = len(dimensions)
    drawing, panels = panel_grid(count, count, width=4.0 * count + 2.4, height=4.4, sharey=True)
    for axes, dimension in zip(panels, dimensions, strict=True):
        for row in rows:
            if row["dimension"] == dimension:
                style = line_style(names.index(row["optimizer"]))
                seconds = np.array(row["seconds"], dtype=np.float64)
                shown = np.maximum(seconds, 1e-3)
                axes.plot(row["told"], shown, marker="o", ms=3, **style)
                if None in row["seconds"]:
                    reached = row["told"][row["seconds"].index(None)]
                    axes.plot(reached, row["limit"], "^", color=style["color"], ms=6)
        panel_style(axes, f"D = {dimension}")
        axes.set_xscale("log")
        axes.set_xlabel("evaluations told, N", fontsize=9)
    panels[0].set_ylabel(f"processor seconds for {ASK_BATCH} candidates", fontsize=9)
    handles = legend_lines(panels[0], names)
    drawing.legend(handles=handles, frameon=False, fontsize=8, loc="outside right center")
    return drawing


def pages(rows: Sequence[Row]) -> dict[str, bytes]:
    """Return the page and the picture."""
    return {"proposals.md": markdown(rows).encode(), "proposals.png": png(picture(rows))}


PROPOSALS_TABLE: Final[ResultTable[ProposalRun]] = ResultTable(
    file="proposals.json",
    kinds=("optimizer", "dimension"),
    run=run_proposals,
    order=lambda row: (place(row["optimizer"], [*OPTIMIZERS, *BASELINES]), row["dimension"]),
    line=lambda row: f"{row['seconds']} s",
    pages=pages,
)
