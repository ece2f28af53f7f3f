"""The dial's table: what each method earns under each reward, as far as it has been run.

A search sees an episode's sum, so that its run with dense reward stands for sparse reward too.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final

from rolecast.benchmarks.dial.break_even import break_even_section
from rolecast.benchmarks.dial.dials import TEAM_DIAL, Dial
from rolecast.benchmarks.dial.page import readme_region, report
from rolecast.benchmarks.dial.pictures import rewards_picture, steps_picture
from rolecast.benchmarks.experiment_table import ExperimentTable
from rolecast.benchmarks.ledger import LEDGER_TABLE
from rolecast.benchmarks.main_table import MAIN_TABLE
from rolecast.benchmarks.result_table import Row, fill_regions, place, read_rows
from rolecast.benchmarks.table_trials import (
    TableTrial,
    TrialEnd,
    method_settings,
    other_terms_text,
    trials_of,
)
from rolecast.platform.reports.style import png

TRIAL_KEY: Final = "{heading} / {reward} / {method} / {env_steps} / {seed}"

QUICK_SEARCH: Final = "cmaes"
"""Of every dial; beside its first learner."""

QUICK_REWARDS: Final = 2
"""Dense reward, and the next."""

QUICK_SHARE: Final = 0.01

REGION_BEGIN: Final = "<!-- dial: begin (written by `rolecast bench dial`) -->"
REGION_END: Final = "<!-- dial: end -->"


def dial_trials(dial: Dial, seeds: int) -> list[TableTrial]:
    """Return the trials of the whole table, a whole seed first."""
    return trials_of({dial.task: [dial.experiment]}, seeds, TRIAL_KEY)


def quick_dial_trials(dial: Dial) -> list[TableTrial]:
    """Return a table of seconds that says nothing, to see that the command works."""
    whole = dial.experiment
    learner = next(each.label for each in whole.methods if not dial.is_search(each.label))
    quick = replace(whole.scaled(budget_fraction=QUICK_SHARE), name=f"{whole.name}_quick", points=1)
    return [
        trial
        for trial in trials_of({dial.task: [quick]}, 1, TRIAL_KEY)
        if trial.plan.method in (QUICK_SEARCH, learner)
        and trial.plan.reward in whole.rewards[:QUICK_REWARDS]
    ]


def _row(trial: TableTrial, end: TrialEnd) -> Row:
    from rolecast import __version__

    method, last = trial.method, end.points[-1]
    return {
        "task": trial.plan.task,
        "reward": trial.plan.reward,
        "method": method.label,
        "kind": method.kind,
        "policy": method.policy,
        **method_settings(method),
        "parameters": end.parameters,
        "seed": trial.plan.seed,
        "budget": trial.experiment.env_steps,
        "env_steps": last["env_steps"],
        "test_return": last["test_return"],
        "test_return_stderr": last["test_return_stderr"],
        "test_episodes": trial.experiment.final_test_episodes,
        "seconds": round(end.seconds, 1),
        "curve": [[point["env_steps"], point["test_return"]] for point in end.points],
        "rolecast": __version__,
    }


def _line(row: Row) -> str:
    return f"{row['test_return']:.1f}"


def _order(dial: Dial, row: Row) -> tuple[Any, ...]:
    return (
        row["budget"],
        place(row["method"], [method.label for method in dial.experiment.methods]),
        place(row["reward"], dial.experiment.rewards),
        row["seed"],
    )


def _pages(dial: Dial, rows: Sequence[Row], folder: Path, readme: Path | None) -> dict[Path, bytes]:
    """Return a dial's page and its pictures, and a README with its region filled."""
    terms = other_terms_text(dial_trials(dial, 1 + max(row["seed"] for row in rows)), rows)
    files = {
        folder / f"{dial.stem}.md": report(
            dial, rows, terms=terms, speed=speed_section(dial, rows, folder)
        ).encode(),
        folder / f"{dial.stem}.png": png(rewards_picture(dial, rows)),
        folder / f"{dial.stem}_steps.png": png(steps_picture(dial, rows)),
    }
    if readme is not None:
        region = REGION_BEGIN, REGION_END, readme_region(dial, rows)
        files[readme] = fill_regions(readme, region)
    return files


def speed_section(dial: Dial, rows: Sequence[Row], folder: Path) -> str:
    """Return the page's part on wall time; empty but for the first dial, at whose budget it is.

    Searches and learners with their seconds are of the other tables in the folder.
    """
    if dial is not TEAM_DIAL:
        return ""
    searches, learners = (read_rows(folder / each.file) for each in (MAIN_TABLE, LEDGER_TABLE))
    return break_even_section(rows, searches, learners, dial.task)


def table_of(dial: Dial) -> ExperimentTable:
    """Return how the trials of a dial become rows, and its rows pages."""
    return ExperimentTable(
        file=f"{dial.stem}.json",
        kinds=("method", "reward", "seed"),
        row=_row,
        order=partial(_order, dial),
        line=_line,
        pages=partial(_pages, dial),
    )
