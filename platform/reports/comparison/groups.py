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
from rolecast.platform.reports.comparison.statistics import SUMMARY_STATISTICS, estimate
from rolecast.platform.tuning.comparison_folder import Comparison
from rolecast.platform.tuning.methods import Method, method_from_json

WAITING_STATUS: Final = "not begun"
"""Status of a planned trial that has no report yet."""


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

    reports: pd.DataFrame
    """Its rows, one a report with a score, by point; empty before the first."""

    parameters: int | None
    """D, of the policy that acts; None where it is not known yet."""

    @property
    def finished(self) -> bool:
        """Whether its last report is the score that counts."""
        return self.status == "ok" and len(self.reports) > 0

    @property
    def last(self) -> pd.Series | None:
        """Its last report."""
        return self.reports.iloc[-1] if len(self.reports) else None

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
    """[T], mean over the seeds that reported there."""

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
class Cell:
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
        search with large batches has them, it counts with what was scored before.
        """
        reporting = [trial.reports for trial in self.trials if len(trial.reports)]
        if not reporting:
            return {}
        tables = [reports.set_index("point") for reports in reporting]
        points = sorted({int(point) for table in tables for point in table.index})
        along = [table.reindex(range(1, points[-1] + 1)) for table in tables]
        at = np.array(points) - 1
        places = ["env_steps", "policy_evaluations", "wall_time_s"]
        reported = [table[places].to_numpy(dtype=float) for table in along]
        along_budget = np.ma.masked_invalid(np.stack(reported, axis=-1)[at])
        where = np.asarray(along_budget.mean(axis=-1).filled(np.nan))
        scores = np.stack([_carried(table) for table in along], axis=-1)[at]
        found = {}
        for statistic in SUMMARY_STATISTICS:
            value, low, high = _along(scores, statistic)
            found[statistic] = Trace(
                env_steps=where[:, 0],
                policy_evaluations=where[:, 1],
                wall_time_s=where[:, 2],
                seeds=np.isfinite(scores).sum(axis=-1),
                value=value,
                low=low,
                high=high,
            )
        return found


def _carried(table: pd.DataFrame) -> Float:
    """Return a trial's score at every point from its first report to its last, NaN elsewhere."""
    scores = table["test_return"].astype(float)
    last = scores.last_valid_index()
    return np.asarray(scores.ffill().where(table.index <= last), dtype=np.float64)


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
        return list(dict.fromkeys(each.reward for each in self.trials if each.task == task))

    @cached_property
    def settings(self) -> list[tuple[str, str]]:
        """All pairs of task and reward."""
        return [(task, reward) for task in self.tasks for reward in self.rewards(task)]

    @cached_property
    def cells(self) -> Mapping[tuple[str, str, str], Cell]:
        """Task, reward and method to the cell."""
        found: dict[tuple[str, str, str], list[Trial]] = {}
        for trial in self.trials:
            found.setdefault((trial.task, trial.reward, trial.method), []).append(trial)
        return {
            key: Cell(task=key[0], reward=key[1], method=key[2], trials=trials)
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


def groups(comparison: Comparison) -> Groups:
    """Return the trials of a comparison: those planned, with what they have reported."""
    rows = comparison.rows
    reports = {str(name): table for name, table in rows.groupby("trial", sort=False)}
    planned = comparison.experiment["trials"]
    methods = [method_from_json(each) for each in comparison.experiment["experiment"]["methods"]]
    return Groups(
        trials=[_trial(each, reports.get(each["trial"], rows.iloc[:0])) for each in planned],
        kinds={method.label: method for method in methods},
    )


def _trial(planned: Mapping[str, Any], rows: pd.DataFrame) -> Trial:
    told = rows.iloc[-1] if len(rows) else None
    scored = rows[rows["test_return"].notna() & rows["point"].notna()]
    known = rows["parameters"].dropna()
    return Trial(
        name=planned["trial"],
        task=planned["task"],
        reward=planned["reward"],
        method=planned["method"],
        policy=planned["policy"],
        seed=int(planned["seed"]),
        status=WAITING_STATUS if told is None else str(told["status"]),
        error="" if told is None else str(told["error"]),
        reports=scored.sort_values("point").drop_duplicates("point", keep="last"),
        parameters=int(known.iloc[-1]) if len(known) else None,
    )
