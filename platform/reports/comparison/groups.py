"""A comparison as its report sees it: trials, and the cells of task, reward and method they form.

No trial is left out: one that failed, still runs or has not begun stays in its cell, and says so.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from rolecast.core.types import Float
from rolecast.platform.reports.comparison.statistics import (
    SUMMARY_STATISTICS,
    complete_seeds,
    estimate,
)
from rolecast.platform.tuning.comparison_folder import Comparison
from rolecast.platform.tuning.methods import Method, method_from_json

WAITING_STATUS: Final = "not begun"
"""Status of a planned trial that has no report yet."""

REPORT_FIGURES: Final = (
    "point", "env_steps", "policy_evaluations", "wall_time_s", "test_return", "test_return_stderr",
)  # fmt: skip
"""What a trial keeps of each report."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Trial:
    """One method with one seed on one task under one reward."""

    name: str
    task: str
    reward: str
    method: str
    policy: str
    seed: int

    status: str
    """"ok", "failed", "running" or `WAITING_STATUS`."""

    error: str
    """What went wrong, or empty."""

    reports: Mapping[str, Float]
    """Each of `REPORT_FIGURES` at its reports that have a score, by point; NaN: not known."""

    parameters: int | None
    """D, of the policy that acts; None where it is not known yet."""

    @property
    def finished(self) -> bool:
        """Whether its last report is the score that counts."""
        return self.status == "ok" and self.reported

    @property
    def reported(self) -> bool:
        """Whether it has a report with a score."""
        return len(self.reports["point"]) > 0

    @cached_property
    def last(self) -> Mapping[str, float] | None:
        """Its last report."""
        if not self.reported:
            return None
        return {name: float(values[-1]) for name, values in self.reports.items()}

    @property
    def steps_per_second(self) -> float | None:
        """Env steps of a second of training or searching; None before the first report."""
        if self.last is None or not self.last["wall_time_s"] > 0:
            return None
        return float(self.last["env_steps"] / self.last["wall_time_s"])


@dataclass(frozen=True, kw_only=True, eq=False)
class Trace:
    """A statistic over the seeds of a cell, at T points of its budget."""

    env_steps: Float
    """[T], mean over the seeds behind the value, each where it was between its reports."""

    policy_evaluations: Float
    """[T], mean over the same."""

    wall_time_s: Float
    """[T], mean over the same."""

    seeds: NDArray[np.int64]
    """[T], seeds behind the value: less than in the cell where some have not come so far."""

    value: Float
    """[T], of the held-out return."""

    low: Float
    """[T], of its interval; NaN where there is none."""

    high: Float
    """[T]."""


@dataclass(frozen=True, kw_only=True, eq=False)
class MethodTrials:
    """The trials of one method on one task under one reward."""

    task: str
    reward: str
    method: str
    trials: list[Trial]

    @cached_property
    def finals(self) -> Float:
        """[N], held-out return at the end of each finished trial; never the best on the way."""
        return np.array([*self.finals_by_seed.values()], dtype=float)

    @cached_property
    def finals_by_seed(self) -> Mapping[int, float]:
        """Seed of each finished trial to its held-out return at the end."""
        return {
            trial.seed: float(trial.last["test_return"])
            for trial in self.trials
            if trial.finished and trial.last is not None
        }

    @cached_property
    def highest(self) -> Float:
        """[N], highest held-out return of any report of each finished trial: chosen by it."""
        ended = [trial.reports["test_return"] for trial in self.trials if trial.finished]
        return np.array([scores.max() for scores in ended], dtype=float)

    def count(self, status: str) -> int:
        """Return how many trials have a status."""
        return sum(trial.status == status for trial in self.trials)

    @property
    def seeds(self) -> str:
        """How many seeds the end figure is of, and what became of the others."""
        parts = [f"{len(self.finals)} seed{'s' if len(self.finals) != 1 else ''}"]
        names = {"failed": "failed", "running": "running", WAITING_STATUS: WAITING_STATUS}
        parts += [f"{self.count(each)} {name}" for each, name in names.items() if self.count(each)]
        return ", ".join(parts)

    @cached_property
    def traces(self) -> Mapping[str, Trace]:
        """Each statistic along the budget, by name; none before any report.

        A trial counts at every point from its first report to its last; between two reports, as a
        search with large batches has them, it counts with what was scored before, and stands in
        between. So a curve never runs backwards where no trial begins or ends.
        """
        reporting = [trial.reports for trial in self.trials if trial.reported]
        if not reporting:
            return {}
        points = np.unique(np.concatenate([reports["point"] for reports in reporting]))
        axes = ("env_steps", "policy_evaluations", "wall_time_s")
        places = [[_between(reports, name, points) for name in axes] for reports in reporting]
        along_budget = np.ma.masked_invalid(np.stack(places, axis=-1))
        where = np.asarray(along_budget.mean(axis=-1).filled(np.nan))
        scores = np.stack([_carried(reports, points) for reports in reporting], axis=-1)
        found = {}
        for statistic in SUMMARY_STATISTICS:
            value, low, high = _along(scores, statistic)
            found[statistic] = Trace(
                env_steps=where[0],
                policy_evaluations=where[1],
                wall_time_s=where[2],
                seeds=np.isfinite(scores).sum(axis=-1),
                value=value,
                low=low,
                high=high,
            )
        return found


def _carried(reports: Mapping[str, Float], points: Float) -> Float:
    """Return a trial's score at each point from its first report to its last, NaN elsewhere."""
    before = np.searchsorted(reports["point"], points, side="right") - 1
    there = (before >= 0) & (points <= reports["point"][-1])
    return np.where(there, reports["test_return"][before], np.nan)


def _between(reports: Mapping[str, Float], name: str, points: Float) -> Float:
    """Return a figure of a trial at each point from its first report to its last, NaN elsewhere."""
    known = np.isfinite(reports[name])
    if not known.any():
        return np.full(len(points), np.nan)
    at, figures = reports["point"][known], reports[name][known]
    return np.interp(points, at, figures, left=np.nan, right=np.nan)


def _along(scores: Float, statistic: str) -> tuple[Float, Float, Float]:
    """Return value and interval [T] of scores [T, N]; a missing score is NaN."""
    value, low, high = (np.full(len(scores), np.nan) for _ in range(3))
    there = np.isfinite(scores)
    for mask in np.unique(there, axis=0):
        rows = (there == mask).all(axis=1)
        found = estimate([scores[rows][:, mask]], statistic)
        value[rows] = found.value
        if found.low is not None and found.high is not None:
            low[rows], high[rows] = found.low, found.high
    return value, low, high


@dataclass(frozen=True, kw_only=True, eq=False)
class Groups:
    """All trials of a comparison, and their cells."""

    trials: list[Trial]
    """In planned order."""

    kinds: Mapping[str, Method]
    """Label of each method of the plan to what it is."""

    @cached_property
    def tasks(self) -> list[str]:
        """In planned order."""
        return list(dict.fromkeys(trial.task for trial in self.trials))

    @cached_property
    def methods(self) -> list[str]:
        """In planned order."""
        return list(dict.fromkeys(trial.method for trial in self.trials))

    def rewards(self, task: str) -> list[str]:
        """Return the rewards of a task, in planned order."""
        return list(self._rewards[task])

    @cached_property
    def _rewards(self) -> Mapping[str, Mapping[str, None]]:
        """Task to its rewards, in planned order."""
        found: dict[str, dict[str, None]] = {}
        for trial in self.trials:
            found.setdefault(trial.task, {})[trial.reward] = None
        return found

    @cached_property
    def settings(self) -> list[tuple[str, str]]:
        """All pairs of task and reward."""
        return [(task, reward) for task in self.tasks for reward in self.rewards(task)]

    @cached_property
    def cells(self) -> Mapping[tuple[str, str, str], MethodTrials]:
        """Task, reward and method to the cell."""
        found: dict[tuple[str, str, str], list[Trial]] = {}
        for trial in self.trials:
            found.setdefault((trial.task, trial.reward, trial.method), []).append(trial)
        return {
            key: MethodTrials(task=key[0], reward=key[1], method=key[2], trials=trials)
            for key, trials in found.items()
        }

    def finals(self, task: str, reward: str, method: str) -> Float:
        """Return the end returns [N] of a cell's finished trials; none where there is no cell."""
        cell = self.cells.get((task, reward, method))
        return np.zeros(0) if cell is None else cell.finals

    def strata(self, settings: Sequence[tuple[str, str]], method: str) -> list[Float]:
        """Return a method's end returns [N] in each of some pairs of task and reward.

        The n-th of each is of the same seed, NaN where it has no finished trial there. Each
        setting has a cell of the method.
        """
        finals = [self.cells[task, reward, method].finals_by_seed for task, reward in settings]
        seeds = sorted({seed for each in finals for seed in each})
        return [np.array([each.get(seed, np.nan) for seed in seeds]) for each in finals]

    def complete_strata(self, settings: Sequence[tuple[str, str]], method: str) -> list[Float]:
        """Return `strata` of the seeds that finished in each setting; none where there is none."""
        if not all(len(self.finals(task, reward, method)) for task, reward in settings):
            return []
        strata = complete_seeds(self.strata(settings, method))
        return strata if strata[0].size else []


def groups(comparison: Comparison) -> Groups:
    """Return the trials of a comparison: those planned, with what they have reported."""
    rows = comparison.rows
    told = rows.drop_duplicates("trial", keep="last").set_index("trial")
    ends = {name: dict(told[name].items()) for name in ("status", "error")}
    known = rows[rows["parameters"].notna()].drop_duplicates("trial", keep="last")
    ends["parameters"] = dict(known.set_index("trial")["parameters"].items())
    scored = rows[rows["test_return"].notna() & rows["point"].notna()]
    scored = scored.sort_values("point", kind="stable").drop_duplicates(
        ["trial", "point"], keep="last"
    )
    figures = {name: _numbers(scored[name]) for name in REPORT_FIGURES}
    places = scored.reset_index(drop=True).groupby("trial", sort=False).indices
    none = np.zeros(0, dtype=np.intp)
    methods = [method_from_json(each) for each in comparison.experiment["experiment"]["methods"]]
    return Groups(
        trials=[
            _trial(
                planned,
                {
                    name: values[places.get(planned["trial"], none)]
                    for name, values in figures.items()
                },
                {name: values.get(planned["trial"]) for name, values in ends.items()},
            )
            for planned in comparison.experiment["trials"]
        ],
        kinds={method.label: method for method in methods},
    )


def _numbers(column: "pd.Series[Any]") -> Float:
    """Return a column [rows] as floats; NaN where it has no value."""
    return np.asarray(column.to_numpy(dtype=np.float64, na_value=np.nan))


def _trial(
    planned: Mapping[str, Any], reports: Mapping[str, Float], end: Mapping[str, Any]
) -> Trial:
    """Return a trial of its plan, its reports, and what its last row says."""
    begun = end["status"] is not None
    return Trial(
        name=planned["trial"],
        task=planned["task"],
        reward=planned["reward"],
        method=planned["method"],
        policy=planned["policy"],
        seed=int(planned["seed"]),
        status=str(end["status"]) if begun else WAITING_STATUS,
        error=str(end["error"]) if begun else "",
        reports=reports,
        parameters=None if end["parameters"] is None else int(end["parameters"]),
    )
