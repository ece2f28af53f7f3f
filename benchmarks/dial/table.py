"""The dial's table: what each method earns under each reward, as far as it has been run.

A search sees an episode's sum, so that its run with dense reward stands for sparse reward too.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from rolecast.benchmarks.dial.break_even import break_even_section
from rolecast.benchmarks.dial.page import readme_region, report
from rolecast.benchmarks.dial.pictures import rewards_picture, steps_picture
from rolecast.benchmarks.experiment_table import ExperimentTable, run_missing_trials
from rolecast.benchmarks.result_table import Row, fill_region, place, read_rows
from rolecast.benchmarks.table_trials import (
    TableTrial,
    TrialEnd,
    method_settings,
    other_terms_text,
    trials_of,
)
from rolecast.core.files import write_all
from rolecast.platform.reports.style import png
from rolecast.platform.tuning.experiment import Experiment, TrialPlan
from rolecast.platform.tuning.learner import MethodFactory
from rolecast.tune_configs.dial import EXPERIMENT

DIAL_FILTERS: Final = ("method", "reward", "seed")
"""Kinds of filter."""

DIAL_FILE: Final = "dial.json"

SEARCHES_FILE: Final = "main.json"
"""Beside it, if it is there: searches with their seconds."""

LEARNERS_FILE: Final = "baselines.json"
"""Likewise of learners."""

QUICK_METHODS: Final = ("cmaes", "facmac")
QUICK_REWARDS: Final = ("dense", "sparse=25")
QUICK_SHARE: Final = 0.01

REGION_BEGIN: Final = "<!-- dial: begin (written by `rolecast bench dial`) -->"
REGION_END: Final = "<!-- dial: end -->"


def dial_trials(seeds: int) -> list[TableTrial]:
    """Return the trials of the whole table, a whole seed first."""
    return trials_of({EXPERIMENT.tasks[0]: [EXPERIMENT]}, seeds, _key, _names)


def quick_dial_trials() -> list[TableTrial]:
    """Return a table of seconds that says nothing, to see that the command works."""
    quick = replace(EXPERIMENT.scaled(budget_fraction=QUICK_SHARE), name="dial_quick", points=1)
    trials = trials_of({quick.tasks[0]: [quick]}, 1, _key, _names)
    return [
        trial
        for trial in trials
        if trial.plan.method in QUICK_METHODS and trial.plan.reward in QUICK_REWARDS
    ]


def _key(heading: str, experiment: Experiment, plan: TrialPlan) -> str:
    return f"{heading} / {plan.reward} / {plan.method} / {experiment.env_steps} / {plan.seed}"


def _names(heading: str, experiment: Experiment, plan: TrialPlan) -> Mapping[str, str]:
    return {"method": plan.method, "reward": plan.reward, "seed": str(plan.seed)}


def run_dial(
    trials: Sequence[TableTrial],
    path: Path,
    *,
    processes: int,
    note: Callable[[str], None],
    methods: Mapping[str, MethodFactory] | None = None,
    trust: bool = False,
) -> list[Row]:
    """Run the trials that dial.json lacks; return all its rows; see `run_missing_trials`."""
    table = ExperimentTable(row=_row, order=_order, line=_line)
    return run_missing_trials(
        trials, path, table, processes=processes, note=note, methods=methods or {}, trust=trust
    )


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


def _order(row: Row) -> tuple[Any, ...]:
    return (
        row["budget"],
        place(row["method"], [method.label for method in EXPERIMENT.methods]),
        place(row["reward"], EXPERIMENT.rewards),
        row["seed"],
    )


def write_dial(rows: Sequence[Row], folder: Path, *, readme: Path | None) -> list[Path]:
    """Write dial.md and its pictures; fill the README's region.

    Args:
        rows: finished trials, any part of the table, at least one.
        folder: where dial.json is.
        readme: file whose region between the marks is replaced; None leaves it alone.
    Returns:
        The files written.
    Raises:
        RequestError: the README has no such region.
    """
    searches, learners = (read_rows(folder / file) for file in (SEARCHES_FILE, LEARNERS_FILE))
    speed = break_even_section(rows, searches, learners, EXPERIMENT.tasks[0])
    terms = other_terms_text(dial_trials(1 + max(row["seed"] for row in rows)), rows)
    files = {
        folder / "dial.md": report(rows, terms=terms, speed=speed).encode(),
        folder / "dial.png": png(rewards_picture(rows)),
        folder / "dial_steps.png": png(steps_picture(rows)),
    }
    if readme is not None:
        files[readme] = fill_region(readme, REGION_BEGIN, REGION_END, readme_region(rows))
    return write_all(files)
