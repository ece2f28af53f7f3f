"""Writes the ledger for readers: its region of docs/baselines.md, and a picture an arena."""

import os
import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from rolecast.benchmarks.ledger.arenas import ARENAS, QUICK
from rolecast.benchmarks.ledger.cells import CONTESTANTS, Arena, Cell
from rolecast.benchmarks.main_table.files import seeds_of
from rolecast.benchmarks.regions import fill_region
from rolecast.benchmarks.resumable import UNFINISHED, Row
from rolecast.benchmarks.table_text import slug
from rolecast.core.files import write_bytes
from rolecast.platform.reports.comparison.method_styles import method_styles
from rolecast.platform.reports.comparison.table import number
from rolecast.platform.reports.curves import thousands
from rolecast.platform.reports.style import GREY, INK, figure, png
from rolecast.platform.reports.yardsticks import Yardstick, scripted_yardsticks

BEGIN: Final = "<!-- ledger: begin (written by `rolecast bench baselines`) -->"
END: Final = "<!-- ledger: end -->"

HEAD: Final = (
    "algorithm", "ours, held out", "each seed", "env steps", "parameters", "paper", "published",
    "tuning", "training, s", "commit",
)  # fmt: skip

SEARCHES: Final = ("dss_gp_ucb", "local_gp", "cmaes separable")
"""Searches that stand beside the learners where the main result table has their task."""


def write_files(
    rows: Sequence[Row], folder: Path, *, page: Path | None, searches: Sequence[Row] = ()
) -> list[Path]:
    """Write one picture an arena, and fill the region of a page.

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
    for arena in (*ARENAS, QUICK):
        mine = by_contestant(rows, arena)
        if not mine:
            continue
        yardsticks = arena_yardsticks(arena)
        picture = folder / f"baselines_{slug(arena.name)}.png"
        write_bytes(picture, png(curves(arena, mine, yardsticks)))
        written.append(picture)
        text = _section(arena, mine, yardsticks, searches)
        if page is not None:
            link = os.path.relpath(picture, page.parent)
            text += f"\n![Held-out return of {arena.name} by env steps]({link})\n"
        parts.append(text)
    if page is not None:
        write_bytes(page, fill_region(page, BEGIN, END, "\n" + "\n".join(parts) + "\n"))
        written.append(page)
    return written


def by_contestant(rows: Sequence[Row], arena: Arena) -> dict[str, list[Row]]:
    """Return the rows of an arena by contestant, in the order of the ledger."""
    found = {
        label: [row for row in rows if row["arena"] == arena.name and row["contestant"] == label]
        for label in arena.contestants
    }
    return {label: mine for label, mine in found.items() if mine}


def arena_yardsticks(arena: Arena) -> list[Yardstick]:
    """Return the returns that an arena is compared with: its own, and of scripted policies."""
    own = [Yardstick(name=name, mean=value, stderr=None) for name, value in arena.lines.items()]
    return own + (scripted_yardsticks(arena.task) if arena.task == "pred_prey_3" else [])


def ledger_row(arena: Arena, label: str, rows: Sequence[Row]) -> tuple[str, ...]:
    """Return a line of the ledger: what is printed elsewhere, and ours with seeds and error.

    Trainings that are not over count only where none of the contestant is.
    """
    over = [row for row in rows if not row.get(UNFINISHED)]
    rows = over or rows
    part = "" if over else f" of {arena.env_steps:,}"
    returns = [row["test_return"] for row in rows]
    error = (
        f" ± {number(statistics.stdev(returns) / len(returns) ** 0.5)}" if len(returns) > 1 else ""
    )
    commits = sorted({each for row in rows for each in (row["commit"] or "").split()})
    cell = Cell(arena=arena, contestant=CONTESTANTS[label], seed=0)
    return (
        label,
        f"**{number(statistics.fmean(returns))}**{error}",
        ", ".join(number(value) for value in returns),
        f"{max(row['env_steps'] for row in rows):,}{part}",
        f"{rows[0]['parameters']:,}",
        cell.paper or "-",
        arena.published.get(label, "-"),
        rows[0]["tuning"],
        f"{statistics.fmean(row['train_seconds'] for row in rows):,.0f}",
        " ".join(commits) or "-",
    )


def _section(
    arena: Arena,
    rows: Mapping[str, Sequence[Row]],
    yardsticks: Sequence[Yardstick],
    searches: Sequence[Row],
) -> str:
    seeds = sorted({row["seed"] for mine in rows.values() for row in mine})
    lines = [
        f"## {arena.name}",
        "",
        f"`{arena.task}`, {_nets(arena)}, {arena.env_steps:,} env steps, dense reward, seeds "
        f"{', '.join(map(str, seeds))}, {arena.final_test_episodes:,} held-out episodes at the "
        f"end. Hoped for: {arena.goal}.",
        "",
        f"| {' | '.join(HEAD)} |",
        "|---|---:|---|---:|---:|---:|---|---|---:|---|",
        *(f"| {' | '.join(ledger_row(arena, label, mine))} |" for label, mine in rows.items()),
        "",
    ]
    if arena.source:
        lines += [f"Published: {arena.source}.", ""]
    beside = [f"{each.name} {each.text}" for each in yardsticks]
    beside += _searches(arena, searches)
    if beside:
        lines += [f"Beside them: {'; '.join(beside)}.", ""]
    missing = [label for label in arena.contestants if label not in rows]
    if missing:
        lines += [f"Not run yet: {', '.join(missing)}.", ""]
    return "\n".join(lines)


def _nets(arena: Arena) -> str:
    """Say what nets and settings all have."""
    if not arena.settings:
        return f"net `{arena.size}`"
    return "all with " + ", ".join(f"`{name}={value}`" for name, value in arena.settings.items())


def _searches(arena: Arena, rows: Sequence[Row]) -> list[str]:
    """Say what searches of the main result table reach on a task, by budget."""
    found = seeds_of(rows, arena.task)
    return [
        f"{name} "
        + ", ".join(
            f"{statistics.median(returns):.1f} at {thousands(budget)}"
            for budget, returns in sorted(found[name].items())
        )
        + f" (median of {len(next(iter(found[name].values())))} seeds)"
        for name in SEARCHES
        if name in found
    ]


def curves(
    arena: Arena, rows: Mapping[str, Sequence[Row]], yardsticks: Sequence[Yardstick]
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
    axes.set_title(f"{arena.name}: mean over seeds, thin: each seed", loc="left", fontsize=11)
    axes.grid(visible=True, axis="y", color="#E5E5E5", lw=0.6)
    axes.set_axisbelow(True)
    axes.margins(x=0.02)
    axes.legend(frameon=False, fontsize=8, loc="best")
    return drawing


def _curve(row: Mapping[str, Any]) -> tuple[list[float], list[float]]:
    """Return env steps and held-out returns of a row."""
    points = row["curve"]
    return [each["env_steps"] for each in points], [each["test_return"] for each in points]
