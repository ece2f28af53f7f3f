"""Trials of experiments as cells of a table, and whether rows that are kept are of them still."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from rolecast.benchmarks.kept_rows import BUDGET_KEY, SET_KEY, differing_text
from rolecast.benchmarks.result_table import UNFINISHED_KEY, Row
from rolecast.platform.tuning.experiment import Experiment, TrialPlan
from rolecast.platform.tuning.methods import Method, SearchMethod

POLICY_KIND: Final = "policy"
"""Kind of the problems of trials that search policies, for filters."""


@dataclass(frozen=True, kw_only=True)
class TableTrial:
    """A trial with its place in a table."""

    heading: str
    """Part of the table that it belongs to."""

    experiment: Experiment
    plan: TrialPlan
    key: str
    """Name of its row in the results file."""

    @property
    def names(self) -> Mapping[str, str]:
        """What filters call it, by kind; each table has some of these."""
        plan = self.plan
        return {
            **dict.fromkeys(("arena", "task"), self.heading),
            **dict.fromkeys(("method", "optimizer", "contestant"), plan.method),
            "problem": plan.task,
            "kind": POLICY_KIND,
            "reward": plan.reward,
            "seed": str(plan.seed),
            "env_steps": str(self.experiment.env_steps),
        }

    @property
    def method(self) -> Method:
        """The search or learner of the trial."""
        return self.experiment.method(self.plan.method)


@dataclass(frozen=True, kw_only=True)
class TrialEnd:
    """What a trial has come to."""

    points: Sequence[Mapping[str, Any]]
    """Its reports in order; see `rolecast.platform.tuning.comparison_folder`."""

    parameters: int | None
    """D of the policy that acts."""

    seconds: float
    """Time that it took, held-out scoring included."""


def trials_of(
    sections: Mapping[str, Sequence[Experiment]], seeds: int, key: str
) -> list[TableTrial]:
    """Return all trials of a table, by heading, experiment, seed and method.

    Args:
        sections: heading to its experiments.
        seeds: of each.
        key: of a trial, with {heading}, {env_steps}, and fields of `TrialPlan` to be filled in.
    """
    scaled = [
        (heading, experiment.scaled(seeds=seeds))
        for heading, experiments in sections.items()
        for experiment in experiments
    ]
    return [
        TableTrial(
            heading=heading,
            experiment=experiment,
            plan=plan,
            key=key.format(heading=heading, env_steps=experiment.env_steps, **vars(plan)),
        )
        for heading, experiment in scaled
        for plan in experiment.trials()
    ]


def method_settings(method: Method) -> dict[str, Any]:
    """Return the settings of a trial's method as its row has them, JSON values.

    `search_terms` are of a search: q, E and its budget in evaluations, None where left open.
    """
    if isinstance(method, SearchMethod):
        named = {
            "policy": method.policy,
            "policy_options": dict(method.policy_options),
            "settings": dict(method.optimizer_settings),
            "search_terms": {
                name: getattr(method, name) for name in ("batch_size", "episodes", "evaluations")
            },
        }
    else:
        named = {"settings": dict(method.settings)}
    plain: dict[str, Any] = json.loads(json.dumps(named))
    return plain


def other_terms_text(trials: Sequence[TableTrial], rows: Sequence[Row]) -> str:
    """Say which rows name other episodes, budget or settings than their trials now have.

    What a row does not name agrees.

    Args:
        trials: what the table should have.
        rows: those that are there, of these trials and others.
    Returns:
        Sentences that name the rows without their seeds; empty where all agree.
    """
    stopped = {row["key"] for row in rows if row.get(UNFINISHED_KEY)}
    planned = {}
    for trial in trials:
        plan = trial.experiment
        episodes = plan.test_episodes if trial.key in stopped else plan.final_test_episodes
        terms = {
            SET_KEY: plan.held_out_set,
            "test_episodes": episodes,
            BUDGET_KEY: plan.env_steps,
        }
        planned[trial.key] = terms | method_settings(trial.method)
    return differing_text(planned, rows)
