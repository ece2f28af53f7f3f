"""Rows of other terms are told from those of a table's trials now."""

from dataclasses import replace
from typing import Any

import pytest

from rolecast.benchmarks.ledger import LEDGER_TABLE, TRIAL_KEY
from rolecast.benchmarks.main_table import MAIN_TABLE
from rolecast.benchmarks.table_trials import TableTrial, TrialEnd, other_terms_text, trials_of
from rolecast.platform.tuning.experiment import Experiment
from rolecast.platform.tuning.methods import LearnerMethod, SearchMethod

POINT = {
    "env_steps": 1000,
    "policy_evaluations": 20,
    "wall_time_s": 1.0,
    "test_return": 3.0,
    "test_return_stderr": None,
    "done": True,
}
END = TrialEnd(points=[POINT], parameters=1, seconds=2.0)
SEARCH = SearchMethod(optimizer="cmaes", policy="linear")
EXPERIMENT = Experiment(
    name="terms",
    tasks=("hopper",),
    methods=(SEARCH, LearnerMethod(algorithm="sac")),
    env_steps=1000,
)


def trials(experiment: Experiment) -> list[TableTrial]:
    return trials_of({"Pendulum-v1": [experiment]}, 1, TRIAL_KEY)


def rows() -> list[dict[str, Any]]:
    search, learner = trials(EXPERIMENT)
    return [
        {"key": search.key, **MAIN_TABLE.row(search, END)},
        {"key": learner.key, **LEDGER_TABLE.row(learner, END)},
    ]


@pytest.mark.parametrize(
    "changed",
    [
        {"batch_size": 30},
        {"episodes": 5},
        {"evaluations": 100},
        {"policy": "mlp"},
    ],
    ids=str,
)
def test_a_row_of_another_search_is_named(changed: dict[str, Any]) -> None:
    learner = EXPERIMENT.methods[1]
    now = trials(replace(EXPERIMENT, methods=(replace(SEARCH, **changed), learner)))
    told = other_terms_text(now, rows())
    assert told.startswith("1 of 2 rows name other settings than the table now does")


def test_a_learner_of_another_budget_is_named() -> None:
    longer = other_terms_text(trials(replace(EXPERIMENT, env_steps=5000)), rows()[1:])
    assert longer.startswith("All 1 rows are of another budget")
    assert other_terms_text(trials(EXPERIMENT), rows()) == ""


def test_what_rows_of_before_do_not_name_agrees() -> None:
    names = ("budget", "policy", "search_terms")
    old = [{name: row[name] for name in row if name not in names} for row in rows()]
    other = replace(SEARCH, batch_size=30, policy="mlp")
    now = replace(EXPERIMENT, methods=(other, EXPERIMENT.methods[1]), env_steps=5000)
    assert other_terms_text(trials(now), old) == ""
