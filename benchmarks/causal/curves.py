"""Curves of causal searches at the beta that is chosen as in the paper, and where MCBO leads."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

import numpy as np

from rolecast.benchmarks.result_table import Row, grouped, markdown_table, t_interval
from rolecast.benchmarks.rivals import best_rival, difference_text, shown_sign
from rolecast.core.types import Float
from rolecast.platform.reports.comparison.statistics import LEAST_SEEDS_OF_INTERVAL
from rolecast.platform.reports.style import legend_lines, line_style, panel_grid, panel_style, png
from rolecast.tune_configs.mcbo_fig2 import BANDED_METHODS, BETA_GRID, EXPERIMENT

CURVE_METHODS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "mcbo": "MCBO",
        "eifn": "EIFN",
        "eicbo": "EICBO",
        "cbo": "CBO",
        "causal_gp_ucb": "GP-UCB",
        "causal_random": "random",
    }
)
"""Methods to their names in the pictures."""

BETA_LABELS: Final[Mapping[str, str]] = MappingProxyType(
    {
        f"{method}_{beta:g}": f"{CURVE_METHODS[method]}, beta {beta:g}"
        for method in BANDED_METHODS
        for beta in BETA_GRID
    }
)
"""Labels of methods with their beta, to their names in the pictures."""

PANEL_COLUMNS: Final = 3


def chosen_betas(rows: Sequence[Row], method: str, name: str) -> dict[str, float]:
    """Return task to the beta of best mean rank over all other functions; ties go to the least.

    Differs: the paper says "best on average" of rewards of unlike scale; ranks have none. A
    function with noise does not choose for the same without, nor the other way round.
    """
    groups = grouped(rows, "task", "method")
    ranks: dict[str, list[float]] = {}
    for task in EXPERIMENT.tasks:
        cells = [groups.get((task, f"{method}_{beta:g}"), []) for beta in BETA_GRID]
        means = [float(np.mean([row[name] for row in each])) if each else np.nan for each in cells]
        if np.isfinite(means).all():
            ranks[task] = [float(sum(other > mean for other in means)) for mean in means]
    chosen: dict[str, float] = {}
    for task in ranks:
        others = [each for other, each in ranks.items() if _function(other) != _function(task)]
        if others:
            chosen[task] = BETA_GRID[int(np.argmin(np.mean(others, axis=0)))]
    return chosen


def _function(task: str) -> str:
    """Return the id of a task without its noise."""
    return task.partition("?")[0]


def chosen_rows(rows: Sequence[Row], name: str) -> dict[str, dict[str, list[Row]]]:
    """Return task to method to its rows by seed, at the beta that is chosen for a figure."""
    betas = {method: chosen_betas(rows, method, name) for method in BANDED_METHODS}
    groups = grouped(sorted(rows, key=lambda row: int(row["seed"])), "task", "method")
    found: dict[str, dict[str, list[Row]]] = {}
    for task in EXPERIMENT.tasks:
        for method in CURVE_METHODS:
            label = method
            if method in BANDED_METHODS:
                label = f"{method}_{betas[method].get(task, np.nan):g}"
            if kept := groups.get((task, label)):
                found.setdefault(task, {})[method] = kept
    return found


def running(rows: Sequence[Row], name: str) -> Float:
    """Return the running average, or best, of the expected rewards of searches, [seeds, T]."""
    curves = np.array([row["curve"] for row in rows])
    if name == "best":
        return np.asarray(np.maximum.accumulate(curves, axis=1))
    return np.asarray(np.cumsum(curves, axis=1) / np.arange(1, curves.shape[1] + 1))


def beta_rows(rows: Sequence[Row]) -> dict[str, dict[str, list[Row]]]:
    """Return task to each beta of MCBO and GP-UCB, by label, to its rows by seed."""
    found: dict[str, dict[str, list[Row]]] = {}
    for row in sorted(rows, key=lambda row: int(row["seed"])):
        if row["method"] in BETA_LABELS:
            found.setdefault(row["task"], {}).setdefault(row["method"], []).append(row)
    return {task: found[task] for task in EXPERIMENT.tasks if task in found}


def picture(
    tasks: Mapping[str, Mapping[str, Sequence[Row]]], names: Mapping[str, str], name: str
) -> bytes:
    """Draw the mean over seeds against evaluations, a panel a task; intervals of five seeds.

    Args:
        tasks: task to method, or its label, to rows.
        names: of the methods in the legend, in order.
        name: the expected reward that is drawn, average or best.
    """
    drawing, panels = panel_grid(len(tasks), PANEL_COLUMNS, width=10.0, height=2.4)
    methods = [each for each in names if any(each in kept for kept in tasks.values())]
    for axes, (task, kept) in zip(panels, tasks.items(), strict=True):
        panel_style(axes, task.removeprefix("causal:"), scale="linear")
        for method, of_method in kept.items():
            curves = running(of_method, name)
            style = line_style(methods.index(method))
            evaluations = np.arange(1, curves.shape[1] + 1)
            axes.plot(evaluations, curves.mean(0), **style)
            if len(curves) >= LEAST_SEEDS_OF_INTERVAL:
                low, high = np.array([t_interval(column) for column in curves.T]).T
                axes.fill_between(evaluations, low, high, color=style["color"], alpha=0.15, lw=0)
    for axes in panels[-PANEL_COLUMNS:]:
        axes.set_xlabel("evaluations, with the initial design")
    named = [names[each] for each in methods]
    drawing.legend(
        handles=legend_lines(panels[0], named), loc="outside lower center", ncols=PANEL_COLUMNS
    )
    return png(drawing)


def lead_section(rows: Sequence[Row]) -> str:
    """Return the table of where MCBO is ahead of the best of its rivals, and where not."""
    lines = []
    for name in ("average", "best"):
        for task, kept in chosen_rows(rows, name).items():
            if "mcbo" in kept and len(kept) > 1:
                lines.append(_lead(task, name, kept))
    if not lines:
        return ""
    head = ("task", "expected reward", "MCBO", "best rival", "difference", "MCBO leads")
    return "\n".join(
        [
            "## Where MCBO leads\n",
            "Each with the beta of the rank average over all other functions: a task with noise "
            "and the same without choose for others alone. The rival is "
            "the method that MCBO leads by least, on average over the seeds that both have; it is "
            "chosen on the same seeds, and all figures are over them. Difference: MCBO less it, "
            'with the 95 % t interval over paired seeds where there are five. "Not shown": the '
            "interval has 0 in it.\n",
            markdown_table(head, lines),
            "",
        ]
    )


def _lead(task: str, name: str, kept: Mapping[str, list[Row]]) -> tuple[str, ...]:
    values: dict[str, dict[int, Any]] = {
        method: {row["seed"]: row[name] for row in of_method} for method, of_method in kept.items()
    }
    rival = best_rival(values.pop("mcbo"), values)
    if rival is None:
        return (f"`{task}`", name, *"----")
    paired = rival.differences
    verdict = f"seeds: {len(paired)}"
    if len(paired) >= LEAST_SEEDS_OF_INTERVAL:
        verdict = {1: "yes", 0: "not shown", -1: "no"}[shown_sign(paired)]
    told = difference_text(paired)
    mean, other = float(np.mean(rival.ours)), float(np.mean(rival.theirs))
    return (f"`{task}`", name, f"{mean:.4g}", f"`{rival.name}` {other:.4g}", told, verdict)
