"""The optimisers' table on policies: what the graph is worth where nobody knows the true one.

Each trial is a whole search of predator-prey; its row has the held-out return of the incumbent
along the budget, on the same fresh episodes for all.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from rolecast.benchmarks.experiment_table import ExperimentTable
from rolecast.benchmarks.functions.known_page import (
    BUDGET_SHARES,
    KNOWN_TABLE,
    LINE_WIDTH,
    at_shares,
    bounds_text,
    compared_graphs,
    compared_section,
    draw,
    middle,
)
from rolecast.benchmarks.kept_rows import (
    BUDGET_KEY,
    commits_text,
    of_one_budget,
    other_budgets_text,
)
from rolecast.benchmarks.result_table import Row, by_table, grouped, markdown_table, sets_text
from rolecast.benchmarks.table_trials import (
    TableTrial,
    TrialEnd,
    method_settings,
    other_terms_text,
    trials_of,
)
from rolecast.platform.reports.style import legend_lines, line_style, panel_grid, panel_style, png
from rolecast.platform.rollout.held_out import DEVELOPMENT_SET, HeldOut
from rolecast.platform.tuning.methods import SearchMethod
from rolecast.tune_configs.policy_table import EXPERIMENT, GRAPH_SEARCHES, TABLE

TRIAL_KEY: Final = "{task} / {method} / {env_steps} / {seed}"

CLIQUE_LABELS: Final = ("local, found", "local, random")
"""Searches that differ in their cliques alone."""

QUICK_STEPS: Final = 24_000
QUICK_LABELS: Final = ("random", "local, none", "local, found")
QUICK_TEST_EPISODES: Final = 50

AXIS_LABELS: Final = {
    "evaluations": "evaluations",
    "env_steps": "env steps",
    "seconds": "wall time, s",
}
"""What returns are drawn over: a row of panels each."""


def policy_trials(seeds: int) -> list[TableTrial]:
    """Return the searches of the whole table."""
    return trials_of(TABLE, seeds, TRIAL_KEY)


def quick_policy_trials() -> list[TableTrial]:
    """Return a table of seconds that says nothing, to see that the command works."""
    quick = replace(
        EXPERIMENT,
        name=f"{EXPERIMENT.name}_quick",
        tasks=EXPERIMENT.tasks[:1],
        env_steps=QUICK_STEPS,
        held_out_set=DEVELOPMENT_SET,
        held_out_seed=HeldOut.seed,
        test_episodes=QUICK_TEST_EPISODES,
        final_test_episodes=QUICK_TEST_EPISODES,
    )
    trials = trials_of({"policies": [quick]}, 2, TRIAL_KEY)
    return [trial for trial in trials if trial.plan.method in QUICK_LABELS]


def policy_row(trial: TableTrial, end: TrialEnd) -> Row:
    """Return the row of a finished search, JSON values.

    `returns` and their `stderrs` are of the incumbent after each of `evaluations` and `env_steps`;
    the last is what the search hands over. `seconds` is wall time of the search up to there.
    """
    method = trial.method
    assert isinstance(method, SearchMethod)
    marked = [_report_at(end.points, point) for point in range(1, trial.experiment.points + 1)]
    return {
        "problem": trial.plan.task,
        "contestant": method.label,
        "optimizer": method.optimizer,
        **method_settings(method),
        "seed": trial.plan.seed,
        BUDGET_KEY: trial.experiment.env_steps,
        "test_episodes": trial.experiment.final_test_episodes,
        "evaluations": [report["policy_evaluations"] for report in marked],
        "env_steps": [report["env_steps"] for report in marked],
        "returns": [round(report["test_return"], 3) for report in marked],
        "stderrs": [round(report["test_return_stderr"], 3) for report in marked],
        "seconds": [round(report["wall_time_s"], 2) for report in marked],
    }


def _report_at(reports: Sequence[Mapping[str, Any]], point: int) -> Mapping[str, Any]:
    """Return the first report at a point or behind it: a batch may reach over several points."""
    return next(report for report in reports if report["point"] >= point)


def summary(rows: Sequence[Row]) -> pd.DataFrame:
    """Return a line for each task, contestant and share of the greatest budget, in order of rows.

    Columns: median over seeds of the held-out return of the incumbent with its interval, the least
    and the greatest, number of seeds, and the median wall time of the whole search.
    """
    lines = []
    for cells, share, place in at_shares(of_one_budget(rows), "returns"):
        returns = [cell["returns"][place] for cell in cells]
        lines.append(
            {
                "problem": cells[0]["problem"],
                "contestant": cells[0]["contestant"],
                "share": share,
                **middle("earned", returns),
                "least": min(returns),
                "greatest": max(returns),
                "seeds": len(cells),
                "seconds": float(np.median([cell["seconds"][-1] for cell in cells])),
            }
        )
    return pd.DataFrame(lines)


def gains(rows: Sequence[Row]) -> pd.DataFrame:
    """Return how much more the search with one graph earns than that with another, by seed.

    Columns: problem, the two graphs, the median over seeds of the difference of their returns at
    the end, its interval, and in how many seeds the first is better; of the greatest budget.
    """
    lines = []
    for (problem,), cells in grouped(of_one_budget(rows), "problem").items():
        ends = {
            contestant.removeprefix("local, "): {run["seed"]: run["returns"][-1] for run in runs}
            for (contestant,), runs in grouped(cells, "contestant").items()
            if contestant.startswith("local, ")
        }
        for first, second, more in compared_graphs(ends, lambda one, other: one - other):
            lines.append(
                {
                    "problem": problem,
                    "graphs": f"{first} - {second}",
                    **middle("more", more),
                    "better": sum(one > 0.0 for one in more),
                    "seeds": len(more),
                }
            )
    return pd.DataFrame(lines)


def markdown(rows: Sequence[Row]) -> str:
    """Return the page: what structure is worth on policies, then every task's table."""
    others, rows = other_budgets_text(rows), of_one_budget(rows)
    episodes = " or ".join(str(count) for count in sorted({row["test_episodes"] for row in rows}))
    budget = max(row["env_steps"][-1] for row in rows)
    lines = [
        "# Optimisers on policies",
        "",
        f"Held-out return ({episodes} episodes of {sets_text(rows)}) of the incumbent along "
        f"searches of `hom` over {budget:,} env steps, at a quarter, at half and at the end: "
        "median over seeds, from 0 on, its interval, two of the seeds that hold it in at least "
        "90 % of cases (-: below five seeds), and at the end each seed. Nobody knows a true graph "
        "here. Wall time is of one core with other work beside it. Written by "
        "`rolecast bench optimizers --only kind=policy`.",
    ]
    terms = other_terms_text(policy_trials(1 + max(row["seed"] for row in rows)), rows)
    for said in filter(None, (terms, others, commits_text(rows), same_text(rows))):
        lines += ["", said]
    lines += compared_section(
        "Return at the end with one graph less that with another, seed by seed.",
        ("task", "graphs", "more", "first better"),
        gains(rows),
        "+.1f",
    )
    ends = {
        key: " ".join(f"{run['returns'][-1]:.0f}" for run in runs)
        for key, runs in grouped(rows, "problem", "contestant").items()
    }
    for problem, part in summary(rows).groupby("problem", sort=False):
        shares = [f"{share:.0%} of the budget" for share in BUDGET_SHARES]
        searches = []
        for contestant, cells in part.groupby("contestant", sort=False):
            entries = [
                f"**{cell.earned:.1f}** {bounds_text(cell, '.0f')}" for cell in cells.itertuples()
            ]
            entries += [ends[str(problem), str(contestant)], f"{cells['seconds'].iloc[0]:.0f}"]
            searches.append((str(contestant), *entries))
        head = ("optimiser", *shares, "each seed", "s a search")
        lines += ["", f"## {problem}", "", markdown_table(head, searches)]
    return "\n".join(lines) + "\n"


def same_text(rows: Sequence[Row]) -> str:
    """Say which searches with cliques are one and the same on every task and seed."""
    ends: dict[str, dict[Any, Any]] = {}
    for row in rows:
        along = (row["evaluations"], row["returns"])
        ends.setdefault(row["contestant"], {})[row["problem"], row["seed"]] = along
    found, random = (ends.get(label) for label in CLIQUE_LABELS)
    if found is None or found != random:
        return ""
    lines = " and ".join(f"`{label}`" for label in CLIQUE_LABELS)
    return (
        f"Lines {lines} are one and the same search, to the last digit: evidence gave cliques no "
        "share, whichever they were."
    )


def picture(rows: Sequence[Row]) -> Figure:
    """Draw held-out return, a column of panels a task, over evaluations, env steps and time."""
    rows = of_one_budget(rows)
    problems = grouped(rows, "problem")
    contestants = list(dict.fromkeys(row["contestant"] for row in rows))
    columns = len(problems)
    drawing, panels = panel_grid(
        columns * len(AXIS_LABELS), columns, width=max(9.0, 5.0 * columns), height=2.8
    )
    for row, (over, label) in enumerate(AXIS_LABELS.items()):
        for column, ((problem,), cells) in enumerate(problems.items()):
            axes = panels[row * columns + column]
            for (contestant,), runs in grouped(cells, "contestant").items():
                style = line_style(contestants.index(contestant), LINE_WIDTH)
                draw(axes, runs, over, "returns", style)
            panel_style(axes, problem, scale="linear")
            axes.set_xlabel(label, fontsize=9)
    handles = legend_lines(panels[0], contestants, LINE_WIDTH)
    drawing.legend(handles=handles, loc="outside lower center", frameon=False, fontsize=8, ncols=4)
    drawing.supylabel("held-out return of the incumbent", fontsize=10)
    return drawing


def _pages(rows: Sequence[Row], folder: Path, _: Path | None) -> dict[Path, bytes]:
    """Return optimizers_policies.csv, .md and .png."""
    return {
        folder / "optimizers_policies.csv": summary(rows).to_csv(index=False).encode(),
        folder / "optimizers_policies.md": markdown(rows).encode(),
        folder / "optimizers_policies.png": png(picture(rows)),
    }


POLICY_TABLE: Final = ExperimentTable(
    file="optimizers_policies.json",
    kinds=KNOWN_TABLE.kinds,
    row=policy_row,
    order=by_table([*EXPERIMENT.tasks], [method.label for method in GRAPH_SEARCHES]),
    line=lambda row: f"return {row['returns'][-1]:.1f} in {row['seconds'][-1]:.0f} s",
    pages=_pages,
)
