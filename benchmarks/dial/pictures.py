"""The dial's pictures: held-out return by reward, and against env steps."""

import math
import statistics
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter, MaxNLocator

from rolecast.benchmarks.dial.dials import Dial
from rolecast.benchmarks.dial.findings import (
    GROUP_HEADINGS,
    returns_of,
    rewards_of,
    rows_of,
)
from rolecast.benchmarks.kept_rows import of_one_budget
from rolecast.benchmarks.result_table import Row
from rolecast.core.types import Float
from rolecast.platform.reports.comparison.method_styles import method_styles
from rolecast.platform.reports.comparison.statistics import estimate
from rolecast.platform.reports.style import panel_grid, panel_style

POINT_SPREAD: Final = 0.03
"""Distance between methods in a picture, of that between rewards."""

PANEL_COLUMNS: Final = 3


def rewards_picture(dial: Dial, rows: Sequence[Row]) -> Figure:
    """Return the picture of return against reward, one panel for each state of knowledge."""
    rows = of_one_budget(rows)
    returns = returns_of(dial, rows)
    rewards = rewards_of(dial, rows)
    styles = method_styles(list(returns))
    drawing, panels = panel_grid(2, 2, width=11.0, height=4.6, sharey=True)
    for axes, (known, heading) in zip(panels, GROUP_HEADINGS.items(), strict=True):
        panel_style(axes, heading, scale="linear")
        mine = [label for label in returns if (label in dial.told_methods) == known]
        for place, label in enumerate(mine):
            shift = POINT_SPREAD * (place - (len(mine) - 1) / 2)
            _draw(axes, label, returns[label], rewards, shift, styles[label].marked())
        axes.set_xticks(range(len(rewards)), rewards, rotation=30)
    _legend_below(drawing, panels)
    panels[0].set_ylabel("held-out return, as earned")
    return drawing


def _draw(
    axes: Axes,
    label: str,
    returns: Mapping[str, Sequence[float]],
    rewards: Sequence[str],
    shift: float,
    style: Mapping[str, Any],
) -> None:
    """Draw a method's means as a line, its seeds as points, intervals of five seeds as bars."""
    values = [returns.get(reward, ()) for reward in rewards]
    means = [statistics.fmean(each) if each else math.nan for each in values]
    axes.plot(np.arange(len(rewards)) + shift, means, label=label, lw=1.4, **style)
    for place, each in enumerate(values):
        if not each:
            continue
        at = place + shift
        axes.scatter([at] * len(each), each, s=9, color=style["color"], alpha=0.6, lw=0)
        found = estimate([np.asarray(each)])
        if found.low is not None and found.high is not None:
            bounds = [float(found.low), float(found.high)]
            axes.plot([at, at], bounds, color=style["color"], lw=1.0)


def steps_picture(dial: Dial, rows: Sequence[Row]) -> Figure:
    """Return the picture of mean held-out return against env steps, a panel for each reward."""
    rows = of_one_budget(rows)
    rewards = rewards_of(dial, rows)
    styles = method_styles(list(dial.drawn_methods))
    columns = min(PANEL_COLUMNS, len(rewards))
    drawing, panels = panel_grid(
        len(rewards), columns, width=11.0, height=3.0, sharey=True, sharex=True
    )
    for axes, reward in zip(panels, rewards, strict=True):
        panel_style(axes, reward, scale="linear")
        for label in dial.drawn_methods:
            mine = rows_of(dial, rows, label, reward)
            if mine:
                grid, means = mean_curve(dial, mine)
                axes.plot(grid, means, label=label, lw=1.4, **styles[label].line(len(grid)))
        axes.xaxis.set_major_locator(MaxNLocator(4))
        axes.xaxis.set_major_formatter(EngFormatter(sep=""))
    for axes in panels[-columns:]:
        axes.set_xlabel("env steps")
        axes.tick_params(labelbottom=True)
    drawing.supylabel("mean held-out return, as earned", fontsize="medium")
    _legend_below(drawing, panels)
    return drawing


def _legend_below(drawing: Figure, panels: Sequence[Axes]) -> None:
    """Name the lines of all panels under them, where they hide none."""
    named = [line for axes in panels for line in axes.lines]
    lines = {name: line for line in named if not (name := str(line.get_label())).startswith("_")}
    drawing.legend(
        lines.values(), lines, loc="outside lower center", ncols=4, frameon=False, fontsize=8
    )


def mean_curve(dial: Dial, rows: Sequence[Row]) -> tuple[Float, Float]:
    """Return env steps [P] and the mean over trials [P] of what each has come to by then.

    Trials report at points that differ by less than half of their distance, P of them in a budget;
    before its first point a trial counts as its first.
    """
    distance = rows[0]["budget"] / dial.experiment.points
    grid = distance * np.arange(1, dial.experiment.points + 1)
    held = []
    for row in rows:
        steps, returns = np.array(row["curve"], dtype=np.float64).T
        last = np.searchsorted(steps, grid + distance / 2, side="right") - 1
        held.append(returns[np.maximum(last, 0)])
    return grid, np.mean(held, axis=0)
