"""Pictures of return against environment steps."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter
from numpy.typing import NDArray

from rolecast.core.types import Float
from rolecast.platform.reports.comparison.method_styles import method_styles
from rolecast.platform.reports.style import BLUE, GREY, INK, VERMILION, figure
from rolecast.platform.search.records.measurements import Yardstick

Trained = tuple[Sequence[float], Sequence[float]]
"""Env steps and held-out returns at points along a training."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Curve:
    """What a search saw, one entry an evaluation, in order."""

    env_steps: NDArray[np.int64]
    """[N], spent once this evaluation was over."""

    returns: Float
    """[N], mean return of the evaluation."""

    stderrs: Float
    """[N], its standard error."""

    batches: NDArray[np.int64]
    """[N], batch that the evaluation belongs to."""


def thousands(value: float, _position: int | None = None) -> str:
    """Write a number of environment steps shortly: 400k, 1.6M."""
    if abs(value) >= 1e6:
        return f"{value / 1e6:g}M"
    return f"{value / 1e3:g}k" if abs(value) >= 1e3 else f"{value:g}"


def learning_curve(
    curve: Curve,
    *,
    incumbents: Curve | None = None,
    incumbents_name: str = "incumbent",
    yardsticks: Sequence[Yardstick] = (),
) -> Figure:
    """Draw every evaluation, the mean of each batch, and the incumbents.

    Args:
        curve: all evaluations.
        incumbents: drawn with twice their standard error.
        incumbents_name: what their returns are.
        yardsticks: drawn as horizontal lines, named at the right.
    """
    drawing, axes = figure()
    axes.scatter(
        curve.env_steps, curve.returns, s=5, color=GREY, alpha=0.35, lw=0, label="evaluation"
    )
    starts = np.flatnonzero(np.diff(curve.batches, prepend=curve.batches[:1] - 1))
    counts = np.diff(np.append(starts, len(curve.batches)))
    means = np.add.reduceat(curve.returns, starts) / counts
    ends = curve.env_steps[starts + counts - 1]
    axes.plot(ends, means, color=BLUE, lw=1.8, label="mean of the batch")
    if incumbents is not None and len(incumbents.returns):
        axes.errorbar(
            incumbents.env_steps,
            incumbents.returns,
            yerr=2 * incumbents.stderrs,
            fmt="o",
            ms=4,
            color=VERMILION,
            lw=1,
            label=f"{incumbents_name} (2 standard errors)",
        )
    _draw_yardsticks(axes, yardsticks)
    _finish(axes)
    return drawing


def _draw_yardsticks(
    axes: Axes, yardsticks: Sequence[Yardstick], colour: str = INK, width: float = 0.9
) -> None:
    for yardstick in yardsticks:
        axes.axhline(yardstick.mean, color=colour, lw=width, ls=(0, (4, 3)))
        axes.annotate(
            f"{yardstick.name} {yardstick.mean:.4g}",
            (1.0, yardstick.mean),
            xycoords=("axes fraction", "data"),
            xytext=(-2, 3),
            textcoords="offset points",
            ha="right",
            fontsize=8,
            color=INK,
        )


def _finish(
    axes: Axes,
    *,
    over: str = "environment steps",
    returns: str = "episode return",
    legend: bool = True,
) -> None:
    axes.xaxis.set_major_formatter(FuncFormatter(thousands))
    axes.set_xlabel(over)
    axes.set_ylabel(returns)
    axes.grid(visible=True, axis="y", color="#E5E5E5", lw=0.6)
    axes.set_axisbelow(True)
    axes.margins(x=0.02)
    if legend:
        axes.legend(frameon=False, fontsize=8, loc="best")


def comparison(
    results: Mapping[str, Mapping[int, Sequence[float]]],
    *,
    yardsticks: Sequence[Yardstick] = (),
    title: str = "",
) -> Figure:
    """Draw held-out return against budget: each seed a point, the median of seeds a line.

    Args:
        results: name of a method to environment steps to the returns of its seeds.
        yardsticks: horizontal lines.
        title: above the picture.
    """
    drawing, axes = figure()
    for name, style in method_styles(list(results)).items():
        by_budget, colour = results[name], style.colour
        budgets = sorted(by_budget)
        medians = [float(np.median(by_budget[budget])) for budget in budgets]
        axes.plot(budgets, medians, lw=1.8, label=name, **style.marked())
        for budget in budgets:
            seeds = by_budget[budget]
            axes.scatter([budget] * len(seeds), seeds, s=12, color=colour, alpha=0.4, lw=0)
    _draw_yardsticks(axes, yardsticks)
    axes.set_xscale("log")
    budgets = sorted({budget for by_budget in results.values() for budget in by_budget})
    axes.set_xticks(budgets, minor=False)
    axes.set_xticks([], minor=True)
    axes.set_title(title, loc="left", fontsize=11, color=INK)
    _finish(axes, legend=False)
    drawing.legend(loc="outside lower center", ncols=3, frameon=False, fontsize=8)
    return drawing


def training_curves(
    trainings: Mapping[str, Sequence[Trained]], *, yardsticks: Sequence[Yardstick], title: str
) -> Figure:
    """Draw held-out return along trainings: each seed thin, the mean of whole ones thick.

    Args:
        trainings: name of a method to its seeds.
        yardsticks: horizontal lines.
        title: above the picture.
    """
    drawing, axes = figure(8.0, 4.4)
    for name, style in method_styles(list(trainings)).items():
        seeds = trainings[name]
        for steps, returns in seeds:
            axes.plot(steps, returns, color=style.colour, lw=0.7, alpha=0.4)
        whole = [each for each in seeds if len(each[0]) == max(len(steps) for steps, _ in seeds)]
        steps, returns = np.mean(whole, axis=0)
        count = f"{len(seeds)} seed{'s' if len(seeds) > 1 else ''}"
        axes.plot(steps, returns, lw=2, label=f"{name}, {count}", **style.line(len(steps)))
    _draw_yardsticks(axes, yardsticks, GREY, 0.8)
    axes.set_title(title, loc="left", fontsize=11)
    _finish(axes, over="environment steps of training", returns="held-out return, as earned")
    return drawing
