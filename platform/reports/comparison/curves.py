"""Pictures of a comparison: held-out return against what was spent on it, and who beats whom."""

import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patheffects import withStroke
from matplotlib.ticker import FuncFormatter

from rolecast.platform.reports.comparison.groups import Groups, MethodTrials
from rolecast.platform.reports.comparison.improvement import Improvement
from rolecast.platform.reports.comparison.method_styles import MethodStyle, method_styles
from rolecast.platform.reports.comparison.statistics import LEAST_SEEDS_OF_INTERVAL
from rolecast.platform.reports.curves import thousands
from rolecast.platform.reports.style import BLUE, GREY, INK, PICTURE_DPI, literal
from rolecast.platform.search.records.measurements import Yardstick

Axis = Literal["env_steps", "policy_evaluations", "wall_time_s"]

AXIS_LABELS: Final[Mapping[Axis, str]] = MappingProxyType(
    {
        "env_steps": "environment steps of training",
        "policy_evaluations": "candidates evaluated",
        "wall_time_s": "wall time of training, s",
    }
)
"""Horizontal axis to its label."""

PANEL_COLUMNS: Final = 3
"""Panels beside each other."""

MANY_METHODS: Final = 10
"""Methods from which their names stand in a column beside the panels, not in rows under them."""

MOST_REMARKS: Final = 4
"""Most remarks written into a panel; more of them are counted."""

WIDE_RANGE: Final = 20.0
"""Ratio of the longest to the shortest wall time from which their axis is logarithmic."""


def sample_efficiency(
    whole: Groups,
    task: str,
    *,
    axis: Axis,
    statistic: str,
    yardsticks: Sequence[Yardstick] = (),
) -> Figure:
    """Draw the held-out return of all methods on a task, one panel a reward setting.

    Thick: the statistic over seeds with its interval, from five seeds on; dotted where some seeds
    of the cell have not come so far. Thin: each trial; a cross ends a failed one.

    Args:
        whole: the comparison.
        task: which.
        axis: horizontal axis; learners evaluate no candidates, and are not against that.
        statistic: "mean" or "IQM".
        yardsticks: horizontal lines, named in the first panel.
    """
    rewards = whole.rewards(task)
    columns = min(PANEL_COLUMNS, len(rewards))
    lines = math.ceil(len(rewards) / columns)
    drawn = methods_drawn(whole, task, axis)
    many = len(drawn) > MANY_METHODS
    width, height = max(3.6 * columns, 6.4), 3.1 * lines + 0.9
    size = (width + 2.4, max(height, 0.2 * len(drawn) + 1.2)) if many else (width, height)
    drawing = Figure(figsize=size, dpi=PICTURE_DPI, layout="constrained")
    panels = drawing.subplots(lines, columns, sharex=True, sharey=True, squeeze=False).ravel()
    styles = method_styles(whole.methods)
    for index, (panel, reward) in enumerate(zip(panels, rewards, strict=False)):
        cells = [whole.cells.get((task, reward, method)) for method in drawn]
        _panel(panel, [each for each in cells if each is not None], styles, axis, statistic)
        panel.set_title(literal(f"learned on: {reward}"), loc="left", fontsize=10, color=INK)
        for yardstick in yardsticks:
            panel.axhline(yardstick.mean, color=GREY, lw=0.8, ls=(0, (4, 3)), zorder=1)
            if index == 0:
                _name_line(panel, f"{yardstick.name} {yardstick.mean:.4g}", yardstick.mean)
        if index % columns == 0:
            panel.set_ylabel("held-out return, as earned", fontsize=9)
        if index + columns >= len(rewards):
            panel.set_xlabel(AXIS_LABELS[axis], fontsize=9)
            panel.tick_params(labelbottom=True)
    for panel in panels[len(rewards) :]:
        panel.set_visible(False)
    if axis != "wall_time_s":
        panels[0].xaxis.set_major_formatter(FuncFormatter(thousands))
    elif _wide(whole, task):
        panels[0].set_xscale("log")
    _legend(drawing, {method: styles[method] for method in drawn}, statistic)
    drawing.suptitle(literal(task), x=0.01, ha="left", fontsize=12, color=INK)
    return drawing


def _panel(
    panel: Axes,
    cells: Sequence[MethodTrials],
    styles: Mapping[str, MethodStyle],
    axis: Axis,
    statistic: str,
) -> None:
    panel.spines[["top", "right"]].set_visible(False)
    panel.tick_params(colors=INK, labelsize=8)
    panel.grid(visible=True, axis="y", color="#E5E5E5", lw=0.6)
    panel.set_axisbelow(True)
    panel.margins(x=0.02)
    for cell in cells:
        _cell(panel, cell, styles[cell.method], axis, statistic)
    remarks = list(filter(None, (_remark(cell) for cell in cells)))
    if len(remarks) > MOST_REMARKS:
        remarks = [f"{len(remarks)} methods have one seed, or some that did not end well"]
    panel.text(
        0.02,
        0.98,
        "\n".join(remarks),
        transform=panel.transAxes,
        ha="left",
        va="top",
        fontsize=7,
        color=GREY,
    )


def _remark(cell: MethodTrials) -> str:
    """Say of a cell what its line does not show: one seed, or some that did not end well."""
    alone = "no interval" if len(cell.trials) == 1 else ""
    if len(cell.finals) == len(cell.trials) and not alone:
        return ""
    return ", ".join(filter(None, [f"{cell.method}: {cell.seeds}", alone]))


def _cell(panel: Axes, cell: MethodTrials, style: MethodStyle, axis: Axis, statistic: str) -> None:
    reported = [trial for trial in cell.trials if trial.reported]
    thin = [np.stack([each.reports[axis], each.reports["test_return"]], 1) for each in reported]
    # One collection: a line of its own for each of thousands of trials takes minutes.
    panel.add_collection(
        LineCollection(thin, colors=style.colour, linewidths=0.6, alpha=0.35, zorder=2)
    )
    lost = [line[-1] for each, line in zip(reported, thin, strict=True) if each.status == "failed"]
    if lost:
        panel.plot(*np.array(lost).T, "x", color=style.colour, ms=6, mew=1.6, zorder=5)
    trace = cell.traces.get(statistic)
    if trace is None:
        return
    places = getattr(trace, axis)
    whole = trace.seeds == len(cell.trials)
    line = style.line(len(places))
    for mask, own, width in ((whole, {}, 1.9), (_with_border(~whole), {"ls": ":"}, 1.3)):
        shown = np.where(mask, trace.value, np.nan)
        # A single place is no line.
        single = {"marker": "o", "markevery": 1, "ms": 3} if mask.sum() == 1 else {}
        panel.plot(places, shown, lw=width, zorder=4, **line | own | single)
    panel.fill_between(places, trace.low, trace.high, color=style.colour, alpha=0.16, lw=0)


def _with_border(mask: Any) -> Any:
    """Add the point before each run of points, so that a line goes on from there."""
    return mask | (np.append(mask[1:], False) & mask.any())


def _name_line(panel: Axes, text: str, height: float) -> None:
    """Name a horizontal line at its left, readable over whatever it crosses."""
    panel.annotate(
        text,
        (0.0, height),
        xycoords=("axes fraction", "data"),
        xytext=(3, 2),
        textcoords="offset points",
        fontsize=7,
        color=GREY,
        zorder=6,
        path_effects=[withStroke(linewidth=2.0, foreground="white")],
    )


def methods_drawn(whole: Groups, task: str, axis: Axis) -> list[str]:
    """Return the methods of a task that have a line against an axis."""
    return [
        method
        for method in whole.methods
        if any((task, reward, method) in whole.cells for reward in whole.rewards(task))
        and (axis != "policy_evaluations" or whole.kinds[method].kind == "search")
    ]


def _wide(whole: Groups, task: str) -> bool:
    """Whether the trials of a task differ so much in wall time that a line would hide some."""
    ends = [
        float(trial.last["wall_time_s"])
        for trial in whole.trials
        if trial.task == task and trial.last is not None and trial.last["wall_time_s"] > 0
    ]
    return bool(ends) and max(ends) > WIDE_RANGE * min(ends)


def _legend(drawing: Figure, styles: Mapping[str, MethodStyle], statistic: str) -> None:
    handles = [
        Line2D([], [], lw=1.9, label=literal(method), **style.line(1))
        for method, style in styles.items()
    ]
    band = f"band: 95 % bootstrap interval, from {LEAST_SEEDS_OF_INTERVAL} seeds"
    parts = [f"{statistic} over seeds", band, "thin: each seed", "cross: failed"]
    many = len(handles) > MANY_METHODS
    letters = max(len(method) for method in styles)
    fitting = max(1, int(72.0 * drawing.get_figwidth() / (5.4 * letters + 36.0)))
    drawing.legend(
        handles=handles,
        loc="outside right upper" if many else "outside lower center",
        ncols=1 if many else min(len(handles), 6, fitting),
        frameon=False,
        fontsize=8 if many else 9,
        title=("\n" if many else "; ").join(parts),
        title_fontsize=8,
    )


def improvement_picture(improvements: Sequence[Improvement]) -> Figure:
    """Draw the probability that the first of a pair beats the second, one line a pair.

    Args:
        improvements: of one setting or of all; those without a value are left empty.
    """
    height = 0.34 * len(improvements) + 0.9
    drawing = Figure(figsize=(7.2, height), dpi=PICTURE_DPI, layout="constrained")
    panel = drawing.add_subplot()
    panel.spines[["top", "right", "left"]].set_visible(False)
    for row, each in enumerate(improvements):
        if each.estimate is None:
            panel.text(0.5, row, "too few seeds ended", ha="center", va="center", fontsize=8)
            continue
        value = float(each.estimate.value)
        if each.estimate.low is not None and each.estimate.high is not None:
            panel.plot([float(each.estimate.low), float(each.estimate.high)], [row, row],
                       color=BLUE, lw=5, alpha=0.3, solid_capstyle="butt")  # fmt: skip
        panel.plot([value], [row], "o", color=BLUE, ms=5)
        if each.estimate.low is None:
            panel.text(value, row, "  - (fewer than 5 seeds in a setting)  ", fontsize=7,
                       color=GREY, va="center", ha="left" if value < 0.5 else "right")  # fmt: skip
    panel.axvline(0.5, color=GREY, lw=0.8, ls=(0, (4, 3)))
    panel.set_xlim(-0.02, 1.02)
    panel.set_ylim(len(improvements) - 0.5, -0.5)
    panel.set_yticks(
        range(len(improvements)),
        [literal(f"{each.ours} > {each.theirs}") for each in improvements],
    )
    panel.tick_params(colors=INK, labelsize=8, left=False)
    panel.set_xlabel(
        "probability that a seed of the first earns more than one of the second", fontsize=9
    )
    return drawing
