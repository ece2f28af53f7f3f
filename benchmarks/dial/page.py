"""The dial's page, its picture and its sentences in the README, all from the rows of dial.json."""

import math
import statistics
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any, Final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from rolecast.benchmarks.dial.findings import (
    Duel,
    ahead_text,
    caveats,
    discounts_text,
    duels,
    net_text,
    of_one_budget,
    other_budgets_text,
    returns_of,
    rewards_of,
    unrun_text,
    worth_text,
)
from rolecast.benchmarks.kept_rows import commits_text
from rolecast.benchmarks.result_table import Row, markdown_table, sets_text
from rolecast.platform.reports.comparison.method_styles import method_styles
from rolecast.platform.reports.comparison.statistics import LEAST_SEEDS_OF_INTERVAL, estimate
from rolecast.platform.reports.comparison.table import number
from rolecast.platform.reports.style import panel_grid, panel_style
from rolecast.tune_configs.dial import EXPERIMENT, KNOW_SYMMETRIES

GROUP_HEADINGS: Final = {
    True: "Methods that are told the task's symmetries",
    False: "Methods that are told none",
}

POINT_SPREAD: Final = 0.03
"""Distance between methods in a picture, of that between rewards."""


def report(rows: Sequence[Row], *, terms: str = "", speed: str = "") -> str:
    """Return dial.md.

    Args:
        rows: finished trials.
        terms: which rows are of other episodes or settings than the plan has.
        speed: a section on wall time, from other tables.
    """
    others, rows = other_budgets_text(rows), of_one_budget(rows)
    returns, budget = returns_of(rows), f"{rows[0]['budget']:,}"
    episodes = " or ".join(f"{each:,}" for each in sorted({row["test_episodes"] for row in rows}))
    parts = [
        "# Where gradients fail: the dial\n",
        f"`{EXPERIMENT.tasks[0]}`, {budget} env steps a trial, reward ever more broken "
        "([rewards](../rewards.md)). Entries: mean held-out return, in round brackets its 95 % "
        f"interval where there are {LEAST_SEEDS_OF_INTERVAL} seeds, in square ones each seed; over "
        f"{episodes} held-out episodes of {sets_text(rows)}, reward as earned. `rolecast bench "
        "dial` makes rows that are missing, this page and the picture; `rolecast bench dial --only "
        "method=facmac --only seed=0` some of them. A search sees an episode's sum: sparse reward "
        "is dense reward to it.\n",
        "![Held-out return by reward](dial.png)\n",
        "Mean held-out return (number of seeds) of the search and of the learner that earns most, "
        "told the symmetries of the task or told none; the search then looks for some, which its "
        f"budget pays:\n\n{_best_table(rows)}\n\n"
        f"{' '.join(filter(None, (ahead_text(rows), worth_text(rows), net_text(rows))))}\n",
    ]
    for known, heading in GROUP_HEADINGS.items():
        mine = {label: returns[label] for label in returns if (label in KNOW_SYMMETRIES) == known}
        if mine:
            parts.append(f"## {heading}\n\n{_table(mine, rewards_of(rows))}\n")
    parts += [
        terms and f"{terms}\n",
        others,
        f"{commits_text(rows)}\n",
        unrun_text(rows),
        f"What this does not show:\n\n{caveats(rows)}\n",
        speed,
    ]
    return "\n".join(filter(None, parts))


def _table(returns: Mapping[str, Mapping[str, Sequence[float]]], rewards: Sequence[str]) -> str:
    lines = [
        (f"`{label}`", *(_entry(mine.get(reward, ())) for reward in rewards))
        for label, mine in returns.items()
    ]
    return markdown_table(("method", *rewards), lines)


def _entry(returns: Sequence[float]) -> str:
    if not returns:
        return "-"
    found = estimate([np.asarray(returns)])
    bounds = ""
    if found.low is not None and found.high is not None:
        bounds = f" ({number(float(found.low))} to {number(float(found.high))})"
    each = " ".join(f"{value:.0f}" for value in returns)
    return f"**{number(float(found.value))}**{bounds} [{each}]"


def picture(rows: Sequence[Row]) -> Figure:
    """Return the picture: return against reward, one panel for each state of knowledge."""
    rows = of_one_budget(rows)
    returns = returns_of(rows)
    rewards = rewards_of(rows)
    styles = method_styles(list(returns))
    drawing, panels = panel_grid(2, 2, width=11.0, height=4.6, sharey=True)
    for axes, (known, heading) in zip(panels, GROUP_HEADINGS.items(), strict=True):
        panel_style(axes, heading, scale="linear")
        mine = [label for label in returns if (label in KNOW_SYMMETRIES) == known]
        for place, label in enumerate(mine):
            shift = POINT_SPREAD * (place - (len(mine) - 1) / 2)
            _draw(axes, label, returns[label], rewards, shift, styles[label].line(len(rewards)))
        axes.set_xticks(range(len(rewards)), rewards, rotation=30)
        if mine:
            axes.legend(fontsize=7, frameon=False)
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
    shown = {**style, "marker": "o", "ms": 4, "markevery": 1}
    axes.plot(np.arange(len(rewards)) + shift, means, label=label, lw=1.4, **shown)
    for place, each in enumerate(values):
        if not each:
            continue
        at = place + shift
        axes.scatter([at] * len(each), each, s=9, color=style["color"], alpha=0.6, lw=0)
        found = estimate([np.asarray(each)])
        if found.low is not None and found.high is not None:
            bounds = [float(found.low), float(found.high)]
            axes.plot([at, at], bounds, color=style["color"], lw=1.0)


def readme_region(rows: Sequence[Row]) -> str:
    """Return the README's part: the picture, and what search and learner earn under each reward."""
    rows = of_one_budget(rows)
    budget = rows[0]["budget"]
    said = " ".join(filter(None, (worth_text(rows), net_text(rows), discounts_text(rows))))
    return (
        "![Held-out return by reward, of searches and learners](docs/results/dial.png)\n\n"
        f"`{EXPERIMENT.tasks[0]}` after {budget:,} env steps, mean held-out return (seeds) of the "
        "search and of the learner that earns most. Each method, seed and interval: "
        f"[the dial](docs/results/dial.md).\n\n{_best_table(rows)}\n\n{said}\n"
    )


def _best_table(rows: Sequence[Row]) -> str:
    """Return the search and the best learner by what both know, where a learner was run."""
    found = [
        {duel.reward: duel for duel in duels(rows, symmetries=known)} for known in (True, False)
    ]
    head = ("reward", "search, told", "learner, told", "search, not told", "learner, not told")
    lines = [
        (reward, *chain.from_iterable(_sides(each.get(reward)) for each in found))
        for reward in rewards_of(rows)
        if any(reward in each for each in found)
    ]
    return markdown_table(head, lines)


def _sides(duel: Duel | None) -> tuple[str, str]:
    """Return what the search and the learner earn; "-" where no learner was run."""
    if duel is None:
        return "-", "-"
    learner = f"{number(duel.learner_mean)} ({duel.learner_seeds}), `{duel.learner}`"
    return f"{number(duel.search)} ({duel.search_seeds})", learner
