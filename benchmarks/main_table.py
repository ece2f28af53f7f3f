"""The main result table: every optimiser on every task at every budget, and its pages."""

import statistics
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Final

import pandas as pd

from rolecast.benchmarks.experiment_table import ExperimentTable
from rolecast.benchmarks.kept_rows import commits_text
from rolecast.benchmarks.result_table import (
    Row,
    fill_regions,
    grouped,
    markdown_table,
    place,
    sets_text,
)
from rolecast.benchmarks.rivals import best_rival, difference_text
from rolecast.benchmarks.table_trials import (
    TableTrial,
    TrialEnd,
    method_settings,
    other_terms_text,
    trials_of,
)
from rolecast.envs.registry import make_task
from rolecast.envs.rewards.task import unwrapped
from rolecast.envs.scripted import SCRIPTED
from rolecast.platform.reports.comparison.statistics import LEAST_SEEDS_OF_INTERVAL
from rolecast.platform.reports.curves import comparison, thousands
from rolecast.platform.reports.style import png
from rolecast.platform.rollout.held_out import DEVELOPMENT_SET, SEALED_SET, HeldOut, held_out_seeds
from rolecast.platform.search.records.measurements import Yardstick, scripted_yardsticks
from rolecast.platform.tuning.methods import SearchMethod
from rolecast.tune_configs.main_table import (
    ARS_SETTINGS,
    TABLE,
    TABLE_ORDER,
    TEAM_TEST_EPISODES,
    robot_optimizers,
)

YARDSTICK_EPISODES: Final = TEAM_TEST_EPISODES
"""Sealed episodes of each scripted policy."""

QUICK_STEPS: Final = 20_000
QUICK_OPTIMIZERS: Final = ("dss_gp_ucb", "random")
QUICK_TEST_EPISODES: Final = 50
TRIAL_KEY: Final = "{heading} / {method} / {env_steps} / {seed}"
FIRST_HEADING: Final = next(iter(TABLE))
"""The one that the page of results in short quotes."""

REGION_BEGIN: Final = "<!-- results: begin (written by `rolecast bench main`) -->"
REGION_END: Final = "<!-- results: end -->"

ROBOTS_BEGIN: Final = "<!-- robots: begin (written by `rolecast bench main`) -->"
ROBOTS_END: Final = "<!-- robots: end -->"
ROBOT_POLICY: Final = "linear"
ROBOT_SEARCH: Final = "dss_gp_ucb"
"""Optimiser that is compared with its best rival, by seed."""

SeedReturns = Mapping[str, Mapping[int, Sequence[float]]]
"""Optimiser to budget to the held-out returns of its seeds, in the order of seeds."""


def main_trials(seeds: int) -> list[TableTrial]:
    """Return the trials of the whole table: the main task first."""
    return trials_of(TABLE, seeds, TRIAL_KEY)


def quick_main_trials() -> list[TableTrial]:
    """Return a table of seconds that says nothing, to see that the command works."""
    quick = replace(
        TABLE[FIRST_HEADING][0],
        name="main_quick",
        env_steps=QUICK_STEPS,
        final_test_episodes=QUICK_TEST_EPISODES,
        held_out_set=DEVELOPMENT_SET,
        held_out_seed=HeldOut.seed,
    )
    trials = trials_of({FIRST_HEADING: [quick]}, 1, TRIAL_KEY)
    return [trial for trial in trials if trial.plan.method in QUICK_OPTIMIZERS]


def _row(trial: TableTrial, end: TrialEnd) -> Row:
    from rolecast import __version__

    method, last = trial.method, end.points[-1]
    assert isinstance(method, SearchMethod)
    return {
        "arena": trial.heading,
        "task": trial.plan.task,
        "contestant": method.label,
        "optimizer": method.optimizer,
        **method_settings(method),
        "env_steps": trial.experiment.env_steps,
        "seed": trial.plan.seed,
        "episode_return_mean": last["test_return"],
        "episode_return_stderr": last["test_return_stderr"],
        "test_episodes": trial.experiment.final_test_episodes,
        "search_seconds": round(last["wall_time_s"], 2),
        "rolecast": __version__,
    }


def _line(row: Row) -> str:
    found = f"{row['episode_return_mean']:.1f} +- {row['episode_return_stderr']:.1f}"
    return f"{found} in {row['search_seconds']:.0f} s"


def _order(row: Row) -> tuple[int, int, int, int]:
    """Sort rows as the table does, whatever the order in which they ended."""
    return (
        place(row["arena"], [*TABLE]),
        place(row["contestant"], TABLE_ORDER),
        row["env_steps"],
        row["seed"],
    )


def seeds_of(rows: Sequence[Row], heading: str) -> dict[str, dict[int, list[float]]]:
    """Return the returns under one heading, optimisers in the order of the table."""
    groups = grouped(rows, "arena", "contestant")
    return {
        label: {
            budget: [row["episode_return_mean"] for row in mine]
            for (budget,), mine in grouped(groups[heading, label], "env_steps").items()
        }
        for label in TABLE_ORDER
        if (heading, label) in groups
    }


def markdown(seeds: SeedReturns, *, each_seed: bool) -> str:
    """Return a table: a line for each optimiser, a column for each budget.

    Args:
        seeds: under one heading.
        each_seed: print every seed beside the median, rounded to whole numbers.
    """
    budgets = sorted({budget for by_budget in seeds.values() for budget in by_budget})
    lines = [
        (name, *(_entry(by_budget.get(budget, ()), each_seed=each_seed) for budget in budgets))
        for name, by_budget in seeds.items()
    ]
    return markdown_table(("optimiser", *map(thousands, budgets)), lines) + "\n"


def _entry(returns: Sequence[float], *, each_seed: bool) -> str:
    if not returns:
        return "-"
    median = f"**{statistics.median(returns):.1f}**"
    return f"{median} [{' '.join(f'{value:.0f}' for value in returns)}]" if each_seed else median


def _pages(rows: Sequence[Row], folder: Path, page: Path | None) -> dict[Path, bytes]:
    """Return main.csv, main.md and the picture of the first heading, and a page with its regions.

    The page has the first heading in short, and robots.
    """
    frame = pd.DataFrame(
        [{k: v for k, v in row.items() if not isinstance(v, dict)} for row in rows]
    )
    pictures = {}
    parts, region = [_preamble(rows)], f"`{FIRST_HEADING}` was not run.\n"
    for heading, experiments in TABLE.items():
        seeds = seeds_of(rows, heading)
        if not seeds:
            continue
        method = experiments[0].methods[0]
        yardsticks = team_yardsticks(experiments[0].tasks[0])
        parts.append(f"## {heading}, {method.policy}\n\n{markdown(seeds, each_seed=True)}")
        parts += [f"{each.name}: {each.text}\n" for each in yardsticks]
        if heading != FIRST_HEADING:
            continue
        title = f"{heading}, {method.policy}: held-out return of the policy found"
        drawing = comparison(seeds, yardsticks=yardsticks, title=title)
        pictures[folder / "main.png"] = png(drawing)
        region = _page_region(seeds, yardsticks, method.policy)
    files = {
        folder / "main.csv": frame.to_csv(index=False).encode(),
        folder / "main.md": "\n".join(parts).encode(),
        **pictures,
    }
    if page is not None:
        robots = f"{robots_markdown(rows)}\n"
        files[page] = fill_regions(
            page, (REGION_BEGIN, REGION_END, region), (ROBOTS_BEGIN, ROBOTS_END, robots)
        )
    return files


def team_yardsticks(task: str) -> list[Yardstick]:
    """Return what scripted policies earn on the sealed set, where there is one for the task."""
    with closing(make_task(task)) as made:
        if not SCRIPTED["chase"].plays(unwrapped(made)):
            return []
        seeds = held_out_seeds(SEALED_SET, 0, YARDSTICK_EPISODES)
        return [*scripted_yardsticks(made, seeds)]


def robots_markdown(rows: Sequence[Row]) -> str:
    """Return a table of robots: a line for each section and budget, a column for each optimiser.

    Each entry has the median over seeds, the least, and the number of seeds. The last column is the
    mean difference by seed of the search and its best rival on these seeds, with the 95 % t
    interval of five seeds or more.
    """
    lines = []
    for heading, experiments in TABLE.items():
        if experiments[0].methods[0].policy == ROBOT_POLICY:
            seeds = seeds_of(rows, heading)
            budgets = sorted({budget for by_budget in seeds.values() for budget in by_budget})
            lines += [(heading, budget, seeds) for budget in budgets]
    there = {name for _, _, seeds in lines for name in seeds}
    labels = (each.label for name in ARS_SETTINGS for each in robot_optimizers(name))
    columns = [name for name in dict.fromkeys(labels) if name in there]
    return markdown_table(
        ("robot", "env steps", *columns, f"{ROBOT_SEARCH} less its best rival"),
        (
            (
                heading,
                thousands(budget),
                *(_spread(seeds.get(name, {}).get(budget, ())) for name in columns),
                _difference(rows, heading, budget),
            )
            for heading, budget, seeds in lines
        ),
    )


def _spread(returns: Sequence[float]) -> str:
    if not returns:
        return "-"
    return f"**{statistics.median(returns):,.0f}**, {min(returns):,.0f} ({len(returns)})"


def _difference(rows: Sequence[Row], heading: str, budget: int) -> str:
    """Return the mean difference of the search and its best rival by seed, and its interval."""
    returns = {
        label: {row["seed"]: row["episode_return_mean"] for row in mine}
        for (arena, steps, label), mine in grouped(rows, "arena", "env_steps", "contestant").items()
        if (arena, steps) == (heading, budget)
    }
    ours = returns.pop(ROBOT_SEARCH, {})
    rival = best_rival(ours, returns)
    if rival is None:
        return "-"
    paired = rival.differences
    if len(paired) < LEAST_SEEDS_OF_INTERVAL:
        return f"{rival.name}: {len(paired)} seeds"
    return f"{rival.name}: {difference_text(paired, ',.0f')}"


def _preamble(rows: Sequence[Row]) -> str:
    seeds = sorted({row["seed"] for row in rows})
    episodes = sorted({row["test_episodes"] for row in rows})
    terms = other_terms_text(main_trials(1 + seeds[-1]), rows)
    said = " ".join(filter(None, (terms, commits_text(rows))))
    return (
        "# Results\n\nHeld-out return of the policy that a search returns: median over seeds, and "
        f"each seed in brackets (seeds {', '.join(map(str, seeds))}), over "
        f"{' or '.join(map(str, episodes))} held-out episodes of {sets_text(rows)}. Scripted "
        f"policies play {YARDSTICK_EPISODES:,} of the sealed set. Columns are budgets in env "
        "steps; each is a search of its own. Written by `rolecast bench main`; numbers with errors "
        f"and times are in main.csv. {said}\n"
    )


def _page_region(seeds: SeedReturns, yardsticks: Sequence[Yardstick], policy: str) -> str:
    scripted = ", ".join(f"{each.name} {each.mean:.1f}" for each in yardsticks)
    return (
        f"`{FIRST_HEADING}`, `{policy}`, by budget in env steps ({scripted}):\n\n"
        f"{markdown(seeds, each_seed=False)}\n"
        "![Held-out return by budget](results/main.png)\n"
    )


MAIN_TABLE: Final = ExperimentTable(
    file="main.json",
    kinds=("task", "optimizer", "seed", "env_steps"),
    row=_row,
    order=_order,
    line=_line,
    pages=_pages,
)
"""Kinds "task" and "optimizer" are as the table names them."""
