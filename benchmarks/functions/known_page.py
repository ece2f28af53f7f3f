"""Writes the optimisers' table for readers: CSV, Markdown and pictures."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy.stats import binom

from rolecast.benchmarks.functions.known_suite import (
    KNOWN_METHODS,
    KNOWN_PROBLEMS,
    REGRET_PLACES,
    known_runs,
    run_known,
)
from rolecast.benchmarks.functions.runs import (
    FunctionProblem,
    FunctionRun,
    planned_fields,
    unrun_text,
)
from rolecast.benchmarks.result_table import ResultTable, by_table, grouped, markdown_table
from rolecast.platform.reports.comparison.statistics import LEAST_SEEDS_OF_INTERVAL
from rolecast.platform.reports.style import legend_lines, line_style, panel_grid, panel_style, png

BUDGET_SHARES: Final = (0.25, 0.5, 1.0)
"""Shares of the budget at which the table tells the regret."""

COMPARED_GRAPHS: Final = (
    ("true", "none"),
    ("found", "none"),
    ("true", "found"),
    ("true", "random"),
    ("random", "none"),
)
"""Graphs compared within a family, on the same functions."""

LEAST_REGRET: Final = 1e-4
"""Regrets below count as this in ratios: the optimum itself is known no better."""

MEDIAN_TAILS: Final = 0.1
"""Probability that the interval of a median misses it, at most."""

PANEL_COLUMNS: Final = 3
LINE_WIDTH: Final = 1.6
"""Of a line."""

Row = Mapping[str, Any]


def interval(values: Sequence[float]) -> tuple[float, float]:
    """Return the interval of the median between two of the values; NaN below five seeds.

    The narrowest of order statistics that holds the median in at least 90 % of cases, whatever the
    distribution: each value is below it with probability 1/2. Of five: least and greatest, 94 %.
    """
    if len(values) < LEAST_SEEDS_OF_INTERVAL:
        return math.nan, math.nan
    ordered = sorted(float(value) for value in values)
    below = np.arange(len(ordered) // 2)
    (held,) = np.nonzero(2.0 * binom.cdf(below, len(ordered), 0.5) <= MEDIAN_TAILS)
    return ordered[held[-1]], ordered[-1 - held[-1]]


def summary(rows: Sequence[Row]) -> pd.DataFrame:
    """Return a line for each problem, contestant and share of the budget, in the order of rows.

    Columns: median regret over seeds with its interval, number of seeds, and the median time that
    the optimiser took for a batch, in milliseconds of processor time.
    """
    lines = []
    for cells, _, place in at_shares(rows, "regrets"):
        batches = cells[0]["evaluations"][-1] / FunctionProblem.batch
        pace = float(np.median([cell["seconds"][-1] for cell in cells])) / batches
        lines.append(
            {
                "problem": cells[0]["problem"],
                "contestant": cells[0]["contestant"],
                "evaluations": cells[0]["evaluations"][place],
                **middle("regret", [cell["regrets"][place] for cell in cells]),
                "seeds": len(cells),
                "batch_ms": round(1e3 * pace, 1),
            }
        )
    return pd.DataFrame(lines)


def at_shares(rows: Sequence[Row], measure: str) -> Iterator[tuple[list[Row], float, int]]:
    """Yield the rows of each problem and contestant, a share of the budget, and its place.

    Args:
        rows: of the table.
        measure: name of the values along the budget.
    """
    for cells in grouped(rows, "problem", "contestant").values():
        for share in BUDGET_SHARES:
            yield cells, share, round(share * len(cells[0][measure])) - 1


def ratios(rows: Sequence[Row]) -> pd.DataFrame:
    """Return how regret at the end differs by graph, seed by seed of the same functions.

    Columns: problem, family, the two graphs, the median over seeds of the ratio of their regrets
    (below 1: the first is better), its interval, and in how many seeds the first is better.
    """
    lines = []
    finals: dict[tuple[str, str], dict[str, dict[int, float]]] = {}
    for row in rows:
        family, comma, graph = row["contestant"].partition(", ")
        if comma:
            graphs = finals.setdefault((row["problem"], family), {})
            graphs.setdefault(graph, {})[row["seed"]] = max(row["regrets"][-1], LEAST_REGRET)
    for (problem, family), graphs in finals.items():
        for first, second, ratio in compared_graphs(graphs, lambda one, other: one / other):
            lines.append(
                {
                    "problem": problem,
                    "search": family,
                    "graphs": f"{first} / {second}",
                    **middle("ratio", ratio),
                    "better": sum(one < 1.0 for one in ratio),
                    "seeds": len(ratio),
                }
            )
    return pd.DataFrame(lines)


def compared_graphs(
    graphs: Mapping[str, Mapping[int, float]], compare: Callable[[float, float], float]
) -> Iterator[tuple[str, str, list[float]]]:
    """Yield each two graphs of COMPARED_GRAPHS that share seeds, and how they compare by seed.

    Args:
        graphs: what a search ended with, by graph and seed.
        compare: of what the first and the second ended with.
    """
    for first, second in COMPARED_GRAPHS:
        shared = sorted(set(graphs.get(first, {})) & set(graphs.get(second, {})))
        if shared:
            found = [compare(graphs[first][seed], graphs[second][seed]) for seed in shared]
            yield first, second, found


def bounds_text(line: Any, form: str) -> str:
    """Write the interval of a frame's row in a number format; [-] where there is none."""
    return "[-]" if math.isnan(line.low) else f"[{line.low:{form}}, {line.high:{form}}]"


def middle(name: str, values: Sequence[float]) -> dict[str, float]:
    """Return the median of some values under a name, and its interval as "low" and "high"."""
    low, high = interval(values)
    return {name: float(np.median(values)), "low": low, "high": high}


def compared_section(
    text: str, head: Sequence[str], compared: pd.DataFrame, form: str
) -> list[str]:
    """Return the lines of a page on what the graph is worth; none where no graphs are compared.

    Args:
        text: below the heading.
        head: names of the columns.
        compared: names, a value, its interval, and in how many seeds the first graph is better.
        form: number format of the value.
    """
    if compared.empty:
        return []
    lines = []
    for line in compared.itertuples(index=False):
        *names, value = line[: list(compared.columns).index("low")]
        worth = f"**{value:{form}}** {bounds_text(line, form)}"
        lines.append((*names, worth, f"{line.better} of {line.seeds}"))
    return ["", "## What the graph is worth", "", text, "", markdown_table(head, lines)]


def markdown(rows: Sequence[Row]) -> str:
    """Return the page: what structure is worth, then every problem's table."""
    lines = [
        "# Optimisers on functions of known optimum and structure",
        "",
        "Simple regret of the incumbent (`best()`, its true value), as a share of the regret of "
        "the cube's mean: 1 is a uniform point, 0 the optimum. Median over seeds, from 0 on, and "
        "its interval, two of the seeds that hold it in at least 90 % of cases (-: below five "
        "seeds). Batches of "
        f"{FunctionProblem.batch}. Written by `rolecast bench optimizers`.",
    ]
    lines += compared_section(
        "Regret at the end with one graph over that with another, seed by seed on the same "
        "functions; below 1 the first is better.",
        ("problem", "search", "graphs", "ratio", "first better"),
        ratios(rows),
        ".2f",
    )
    for problem, part in summary(rows).groupby("problem", sort=False):
        marks = sorted(set(part["evaluations"]))
        searches = []
        for contestant, cells in part.groupby("contestant", sort=False):
            entries = [
                f"{cell.regret:.3f} {bounds_text(cell, '.3f')}" for cell in cells.itertuples()
            ]
            entries += [str(cells["seeds"].iloc[0]), f"{cells['batch_ms'].iloc[0]:.0f}"]
            searches.append((str(contestant), *entries))
        head = ("optimiser", *(f"{mark} evaluations" for mark in marks), "seeds", "ms a batch")
        lines += ["", f"## {problem}", "", markdown_table(head, searches)]
    if unrun := unrun_text(rows, known_runs(1)):
        lines += ["", unrun]
    return "\n".join(lines) + "\n"


def picture(rows: Sequence[Row], *, over: str, label: str) -> Figure:
    """Draw regret over "evaluations" or "seconds", a panel a problem; medians, and intervals."""
    problems = grouped(rows, "problem")
    contestants = list(dict.fromkeys(row["contestant"] for row in rows))
    drawing, panels = panel_grid(
        len(problems) + 1, PANEL_COLUMNS, width=4.2 * PANEL_COLUMNS, height=2.8
    )
    for axes, ((problem,), cells) in zip(panels, problems.items(), strict=False):
        for (contestant,), runs in grouped(cells, "contestant").items():
            style = line_style(contestants.index(contestant), LINE_WIDTH)
            draw(axes, runs, over, "regrets", style, least=LEAST_REGRET)
        panel_style(axes, problem)
        if over == "seconds":
            axes.set_xscale("log")
    panels[-1].set_axis_off()
    handles = legend_lines(panels[-1], contestants, LINE_WIDTH)
    panels[-1].legend(handles=handles, frameon=False, fontsize=8, loc="center", ncols=2)
    drawing.supxlabel(label, fontsize=10)
    drawing.supylabel("simple regret, share of a uniform point's", fontsize=10)
    return drawing


def draw(
    axes: Axes,
    runs: Sequence[Row],
    over: str,
    measure: str,
    style: Mapping[str, Any],
    *,
    least: float = -np.inf,
) -> None:
    """Draw the median of a measure over seeds, and its interval, over the median of another."""
    along = np.median([run[over] for run in runs], axis=0)
    values = np.maximum([run[measure] for run in runs], least)
    axes.plot(along, np.median(values, axis=0), **style)
    if len(runs) >= LEAST_SEEDS_OF_INTERVAL:
        bounds = np.array([interval(list(column)) for column in values.T])
        shade = {"color": style["color"], "alpha": 0.12, "lw": 0}
        axes.fill_between(along, bounds[:, 0], bounds[:, 1], **shade)


def pages(rows: Sequence[Row]) -> dict[str, bytes]:
    """Return the page, its figures as CSV, and two pictures."""
    time = "processor time of the optimiser, s"
    return {
        "optimizers.csv": summary(rows).to_csv(index=False).encode(),
        "optimizers.md": markdown(rows).encode(),
        "optimizers.png": png(picture(rows, over="evaluations", label="evaluations")),
        "optimizers_time.png": png(picture(rows, over="seconds", label=time)),
    }


KNOWN_TABLE: Final[ResultTable[FunctionRun]] = ResultTable(
    file="optimizers.json",
    kinds=("problem", "kind", "contestant", "seed"),
    run=run_known,
    order=by_table(
        [problem.name for problem in KNOWN_PROBLEMS], [method.name for method in KNOWN_METHODS]
    ),
    line=lambda row: f"regret {row['regrets'][-1]} in {row['seconds'][-1]:.1f} s",
    pages=pages,
    planned=lambda rows: planned_fields(
        known_runs(1 + max(row["seed"] for row in rows)), REGRET_PLACES
    ),
)
