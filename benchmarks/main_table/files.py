"""Writes the result table for readers: CSV, picture, Markdown, and the region of the README."""

import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import pandas as pd

from rolecast.benchmarks.main_table.cells import ARENAS, CONTESTANTS
from rolecast.benchmarks.regions import fill_region
from rolecast.benchmarks.table_text import slug
from rolecast.core.files import write_bytes
from rolecast.platform.reports.curves import comparison, thousands
from rolecast.platform.reports.style import png
from rolecast.platform.reports.yardsticks import Yardstick, scripted_yardsticks

BEGIN: Final = "<!-- results: begin (written by `rolecast bench main`) -->"
END: Final = "<!-- results: end -->"

Row = Mapping[str, Any]
Seeds = Mapping[str, Mapping[int, Sequence[float]]]
"""Contestant to budget to the held-out returns of its seeds, in the order of seeds."""


def seeds_of(rows: Sequence[Row], arena: str) -> dict[str, dict[int, list[float]]]:
    """Return the returns of one arena, contestants in the order of the table."""
    found: dict[str, dict[int, list[float]]] = {}
    for contestant in CONTESTANTS:
        for row in rows:
            if row["arena"] == arena and row["contestant"] == contestant.name:
                budgets = found.setdefault(contestant.name, {})
                budgets.setdefault(row["env_steps"], []).append(row["episode_return_mean"])
    return found


def markdown(seeds: Seeds, *, each_seed: bool) -> str:
    """Return a table: a line for each contestant, a column for each budget.

    Args:
        seeds: of one arena.
        each_seed: print every seed beside the median, rounded to whole numbers.
    """
    budgets = sorted({budget for by_budget in seeds.values() for budget in by_budget})
    lines = [
        f"| optimiser | {' | '.join(thousands(budget) for budget in budgets)} |",
        f"|---|{'---|' * len(budgets)}",
    ]
    for name, by_budget in seeds.items():
        cells = [_cell(by_budget.get(budget, ()), each_seed=each_seed) for budget in budgets]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _cell(returns: Sequence[float], *, each_seed: bool) -> str:
    if not returns:
        return "-"
    median = f"**{statistics.median(returns):.1f}**"
    return f"{median} [{' '.join(f'{value:.0f}' for value in returns)}]" if each_seed else median


def write_table(rows: Sequence[Row], folder: Path, *, readme: Path | None) -> list[Path]:
    """Write main.csv, main.md and one picture an arena; fill the README's region.

    Args:
        rows: finished cells, any part of the table.
        folder: where main.json is.
        readme: file whose region between the marks is replaced; None leaves it alone.
    Returns:
        The files written.
    Raises:
        RequestError: the README has no such region.
    """
    frame = pd.DataFrame(
        [{k: v for k, v in row.items() if not isinstance(v, dict)} for row in rows]
    )
    write_bytes(folder / "main.csv", frame.to_csv(index=False).encode())
    written = [folder / "main.csv", folder / "main.md"]
    parts = [_preamble(rows)]
    for arena in ARENAS:
        seeds = seeds_of(rows, arena.name)
        if not seeds:
            continue
        yardsticks = scripted_yardsticks(arena.task) if arena.scripted else []
        picture = folder / ("main.png" if arena is ARENAS[0] else f"main_{slug(arena.name)}.png")
        title = f"{arena.name}, {arena.policy}: held-out return of the policy found"
        write_bytes(picture, png(comparison(seeds, yardsticks=yardsticks, title=title)))
        written.append(picture)
        parts.append(f"## {arena.name}, {arena.policy}\n\n{markdown(seeds, each_seed=True)}")
        parts += [f"{each.name}: {each.text}\n" for each in yardsticks]
        if readme is not None and arena is ARENAS[0]:
            region = _readme_region(seeds, yardsticks)
            write_bytes(readme, fill_region(readme, BEGIN, END, region))
            written.append(readme)
    write_bytes(folder / "main.md", "\n".join(parts).encode())
    return written


def _preamble(rows: Sequence[Row]) -> str:
    seeds = sorted({row["seed"] for row in rows})
    episodes = sorted({row["test_episodes"] for row in rows})
    return (
        "# Results\n\nHeld-out return of the policy that a search returns: median over seeds, and "
        f"each seed in brackets (seeds {', '.join(map(str, seeds))}), over "
        f"{' or '.join(map(str, episodes))} fresh episodes. Columns are budgets in env steps; each "
        "is a search of its own. Written by `rolecast bench main`; numbers with errors and times "
        "are in main.csv.\n"
    )


def _readme_region(seeds: Seeds, yardsticks: Sequence[Yardstick]) -> str:
    scripted = ", ".join(f"{each.name} {each.mean:.1f}" for each in yardsticks)
    return (
        f"`{ARENAS[0].name}`, `{ARENAS[0].policy}`, by budget in env steps ({scripted}):\n\n"
        f"{markdown(seeds, each_seed=False)}\n"
        "![Held-out return by budget](docs/results/main.png)\n"
    )
