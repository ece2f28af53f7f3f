"""The optimisers' table on policies: what the graph is worth where nobody knows the true one.

Each trial is a whole search of predator-prey; its row has the held-out return of the incumbent
along the budget, on the same fresh episodes for all.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from rolecast.benchmarks.experiment_table import (
    ExperimentTable,
    TableTrial,
    TrialEnd,
    run_missing_trials,
    trials_of,
)
from rolecast.benchmarks.result_table import Row, by_table
from rolecast.platform.tuning.experiment import Experiment, TrialPlan
from rolecast.platform.tuning.methods import SearchMethod
from rolecast.tune_configs.policy_table import EXPERIMENT, GRAPH_SEARCHES, TABLE

POLICIES_FILE: Final = "optimizers_policies.json"

POLICY_KIND: Final = "policy"
"""Kind of these problems, for filters."""

QUICK_STEPS: Final = 24_000
QUICK_LABELS: Final = ("random", "local, none", "local, found")
QUICK_TEST_EPISODES: Final = 50


def policy_trials(seeds: int) -> list[TableTrial]:
    """Return the searches of the whole table."""
    return trials_of(TABLE, seeds, _key, _names)


def quick_policy_trials() -> list[TableTrial]:
    """Return a table of seconds that says nothing, to see that the command works."""
    quick = replace(
        EXPERIMENT,
        name=f"{EXPERIMENT.name}_quick",
        tasks=EXPERIMENT.tasks[:1],
        env_steps=QUICK_STEPS,
        test_episodes=QUICK_TEST_EPISODES,
        final_test_episodes=QUICK_TEST_EPISODES,
    )
    trials = trials_of({"policies": [quick]}, 2, _key, _names)
    return [trial for trial in trials if trial.plan.method in QUICK_LABELS]


def _key(heading: str, experiment: Experiment, plan: TrialPlan) -> str:
    return f"{plan.task} / {plan.method} / {experiment.env_steps} / {plan.seed}"


def _names(heading: str, experiment: Experiment, plan: TrialPlan) -> Mapping[str, str]:
    return {
        "problem": plan.task,
        "kind": POLICY_KIND,
        "contestant": plan.method,
        "seed": str(plan.seed),
    }


def run_policy_table(
    trials: Sequence[TableTrial], path: Path, *, processes: int, note: Callable[[str], None]
) -> list[Row]:
    """Run the searches that a results file lacks; see `run_missing_trials`."""
    table = ExperimentTable(
        row=policy_row,
        order=by_table([*EXPERIMENT.tasks], [method.label for method in GRAPH_SEARCHES]),
        line=lambda row: f"return {row['returns'][-1]:.1f} in {row['seconds'][-1]:.0f} s",
    )
    return run_missing_trials(trials, path, table, processes=processes, note=note)


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
        "settings": dict(method.optimizer_settings),
        "seed": trial.plan.seed,
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
