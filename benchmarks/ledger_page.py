"""Writes the ledger for readers: its region of docs/baselines.md, and a picture a heading."""

import os
import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from rolecast.benchmarks.ledger import KNOWN_RETURNS, LEDGER_SECTIONS
from rolecast.benchmarks.main_table import seeds_of, team_yardsticks
from rolecast.benchmarks.result_table import UNFINISHED_KEY, Row
from rolecast.benchmarks.table_text import fill_region, sets_text, slug
from rolecast.core.files import write_bytes
from rolecast.platform.reports.comparison.method_styles import method_styles
from rolecast.platform.reports.comparison.paper import paper_number
from rolecast.platform.reports.comparison.table import number
from rolecast.platform.reports.curves import thousands
from rolecast.platform.reports.style import GREY, INK, figure, png
from rolecast.platform.search.measurements import Yardstick
from rolecast.platform.tuning.experiment import Experiment
from rolecast.platform.tuning.methods import LearnerMethod, Method
from rolecast.platform.tuning.rewards import DENSE_REWARD

REGION_BEGIN: Final = "<!-- ledger: begin (written by `rolecast bench baselines`) -->"
REGION_END: Final = "<!-- ledger: end -->"

LEDGER_HEAD: Final = (
    "algorithm", "ours, held out", "each seed", "env steps", "parameters", "paper", "published",
    "tuning", "training, s", "commit",
)  # fmt: skip

SEARCH_LABELS: Final = ("dss_gp_ucb", "local_gp", "cmaes separable")
"""Searches that stand beside the learners where the main result table has their task."""


def write_files(
    rows: Sequence[Row], folder: Path, *, page: Path | None, searches: Sequence[Row] = ()
) -> list[Path]:
    """Write one picture a heading, and fill the region of a page.

    Args:
        rows: finished cells, any part of the ledger.
        folder: of the results; the pictures go there.
        page: whose region between the marks is replaced; None leaves all pages alone.
        searches: rows of the main result table, which may be none.
    Returns:
        The files written.
    Raises:
        RequestError: the page has no such region.
    """
    written, parts = [], []
    for heading in LEDGER_SECTIONS:
        mine = by_learner(rows, heading)
        if not mine:
            continue
        yardsticks = known_yardsticks(heading)
        picture = folder / f"baselines_{slug(heading)}.png"
        write_bytes(picture, png(curves(heading, mine, yardsticks)))
        written.append(picture)
        text = _section(heading, mine, yardsticks, searches)
        if page is not None:
            link = os.path.relpath(picture, page.parent)
            text += f"\n![Held-out return of {heading} by env steps]({link})\n"
        parts.append(text)
    if page is not None:
        region = "\n" + "\n".join(parts) + "\n"
        write_bytes(page, fill_region(page, REGION_BEGIN, REGION_END, region))
        written.append(page)
    return written


def by_learner(rows: Sequence[Row], heading: str) -> dict[str, list[Row]]:
    """Return the rows under a heading by learner, in the order of the ledger."""
    found = {
        label: [row for row in rows if row["arena"] == heading and row["contestant"] == label]
        for label in _labels(heading)
    }
    return {label: mine for label, mine in found.items() if mine}


def _labels(heading: str) -> list[str]:
    return [method.label for method in LEDGER_SECTIONS[heading].methods]


def known_yardsticks(heading: str) -> list[Yardstick]:
    """Return the returns to compare with: those that are known, and of scripted policies."""
    known = [
        Yardstick(name=name, mean=value, stderr=None)
        for name, value in KNOWN_RETURNS[heading].lines.items()
    ]
    return known + team_yardsticks(LEDGER_SECTIONS[heading].tasks[0])


def paper_text(heading: str, label: str) -> str:
    """Return what the DSS-GP-UCB paper prints for the same task, net and budget; "-" if nothing."""
    experiment = LEDGER_SECTIONS[heading]
    method = experiment.method(label)
    assert isinstance(method, LearnerMethod)
    found = paper_number(experiment.tasks[0], DENSE_REWARD, method.algorithm, method.policy)
    return "-" if found is None else f"{found.text} (table {found.table})"


def ledger_row(heading: str, label: str, rows: Sequence[Row]) -> tuple[str, ...]:
    """Return a line of the ledger: what is printed elsewhere, and ours with seeds and error.

    Trainings that are not over count only where none of the contestant is.
    """
    over = [row for row in rows if not row.get(UNFINISHED_KEY)]
    rows = over or rows
    part = "" if over else f" of {LEDGER_SECTIONS[heading].env_steps:,}"
    returns = [row["test_return"] for row in rows]
    error = (
        f" ± {number(statistics.stdev(returns) / len(returns) ** 0.5)}" if len(returns) > 1 else ""
    )
    commits = sorted({each for row in rows for each in (row["commit"] or "").split()})
    return (
        label,
        f"**{number(statistics.fmean(returns))}**{error}",
        ", ".join(number(value) for value in returns),
        f"{max(row['env_steps'] for row in rows):,}{part}",
        f"{rows[0]['parameters']:,}",
        paper_text(heading, label),
        KNOWN_RETURNS[heading].published.get(label, "-"),
        rows[0]["tuning"],
        f"{statistics.fmean(row['train_seconds'] for row in rows):,.0f}",
        " ".join(commits) or "-",
    )


def _section(
    heading: str,
    rows: Mapping[str, Sequence[Row]],
    yardsticks: Sequence[Yardstick],
    searches: Sequence[Row],
) -> str:
    experiment, known = LEDGER_SECTIONS[heading], KNOWN_RETURNS[heading]
    every = [row for mine in rows.values() for row in mine]
    seeds = sorted({row["seed"] for row in every})
    lines = [
        f"## {heading}",
        "",
        f"`{experiment.tasks[0]}`, {_nets(experiment)}, {experiment.env_steps:,} env steps, dense "
        f"reward, seeds {', '.join(map(str, seeds))}, {experiment.final_test_episodes:,} held-out "
        f"episodes of {sets_text(every)} at the end. Hoped for: {known.goal}.",
        "",
        f"| {' | '.join(LEDGER_HEAD)} |",
        "|---|---:|---|---:|---:|---:|---|---|---:|---|",
        *(f"| {' | '.join(ledger_row(heading, label, mine))} |" for label, mine in rows.items()),
        "",
    ]
    if known.source:
        lines += [f"Published: {known.source}.", ""]
    beside = [f"{each.name} {each.text}" for each in yardsticks]
    beside += _searches(experiment.tasks[0], searches)
    if beside:
        scored = f"; searches on {sets_text(searches)}" if searches else ""
        note = f"scripted policies on the sealed set{scored}"
        lines += [f"Beside them ({note}): {'; '.join(beside)}.", ""]
    missing = [label for label in _labels(heading) if label not in rows]
    if missing:
        lines += [f"Not run yet: {', '.join(missing)}.", ""]
    return "\n".join(lines)


def _nets(experiment: Experiment) -> str:
    """Say what nets and settings all have."""
    first, *others = [dict(_settings(method)) for method in experiment.methods]
    shared = {
        name: value
        for name, value in first.items()
        if name != "size" and all(other.get(name) == value for other in others)
    }
    if not shared or not others:
        return f"net `{first['size']}`"
    return "all with " + ", ".join(f"`{name}={value}`" for name, value in shared.items())


def _settings(method: Method) -> Mapping[str, Any]:
    assert isinstance(method, LearnerMethod)
    return method.settings


def _searches(task: str, rows: Sequence[Row]) -> list[str]:
    """Say what searches of the main result table reach on a task, by budget."""
    found = seeds_of(rows, task)
    return [
        f"{name} "
        + ", ".join(
            f"{statistics.median(returns):.1f} at {thousands(budget)}"
            for budget, returns in sorted(found[name].items())
        )
        + f" (median of {len(next(iter(found[name].values())))} seeds)"
        for name in SEARCH_LABELS
        if name in found
    ]


def curves(
    heading: str, rows: Mapping[str, Sequence[Row]], yardsticks: Sequence[Yardstick]
) -> Figure:
    """Draw the held-out return by env steps: each seed thin, their mean thick."""
    drawing, axes = figure(8.0, 4.4)
    for label, style in method_styles(list(rows)).items():
        seeds = [_curve(row) for row in rows[label]]
        for steps, returns in seeds:
            axes.plot(steps, returns, color=style.colour, lw=0.7, alpha=0.4)
        whole = [each for each in seeds if len(each[0]) == max(len(steps) for steps, _ in seeds)]
        steps, returns = np.mean(whole, axis=0)
        count = f"{len(seeds)} seed{'s' if len(seeds) > 1 else ''}"
        axes.plot(steps, returns, lw=2, label=f"{label}, {count}", **style.line(len(steps)))
    for yardstick in yardsticks:
        axes.axhline(yardstick.mean, color=GREY, lw=0.8, ls=(0, (4, 3)))
        axes.annotate(
            f"{yardstick.name} {yardstick.mean:.4g}", (1.0, yardstick.mean),
            xycoords=("axes fraction", "data"), xytext=(-2, 3), textcoords="offset points",
            ha="right", fontsize=8, color=INK,
        )  # fmt: skip
    axes.xaxis.set_major_formatter(FuncFormatter(thousands))
    axes.set_xlabel("environment steps of training")
    axes.set_ylabel("held-out return, as earned")
    axes.set_title(f"{heading}: mean over seeds, thin: each seed", loc="left", fontsize=11)
    axes.grid(visible=True, axis="y", color="#E5E5E5", lw=0.6)
    axes.set_axisbelow(True)
    axes.margins(x=0.02)
    axes.legend(frameon=False, fontsize=8, loc="best")
    return drawing


def _curve(row: Mapping[str, Any]) -> tuple[list[float], list[float]]:
    """Return env steps and held-out returns of a row."""
    points = row["curve"]
    return [each["env_steps"] for each in points], [each["test_return"] for each in points]
