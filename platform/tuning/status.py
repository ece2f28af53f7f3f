"""Where a comparison stands, read from what its trials have written."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields
from statistics import median
from typing import Any, Self

import numpy as np
import pandas as pd

from rolecast.core.disk import FileVersion
from rolecast.platform.tuning.comparison_folder import ComparisonFolder
from rolecast.platform.tuning.experiment import Experiment, TrialPlan
from rolecast.platform.tuning.record import TrialFolder, TrialRecord


@dataclass(frozen=True, kw_only=True)
class TrialStatus:
    """One trial as its files tell of it."""

    plan: TrialPlan
    begun: bool
    locked: bool
    """Whether a process of it is there."""

    record: TrialRecord
    failure: str | None

    @property
    def status(self) -> str:
        """Return "ok", "failed", "running" (begun, now or before) or "waiting"."""
        if self.record.done:
            return "ok"
        if self.failure is not None:
            return "failed"
        return "running" if self.begun else "waiting"

    @property
    def busy(self) -> bool:
        """Whether it is computed now; of what was interrupted, some waits."""
        return self.locked and self.status == "running"

    @property
    def point(self) -> int:
        """Evaluation point that the trial has reached; 0 before the first."""
        return int(self.record.rows[-1]["point"]) if self.record.rows else 0


@dataclass(frozen=True)
class Leader:
    """The method that leads those that have reported."""

    method: str
    score: float
    """Median over its trials of their latest held-out returns."""

    reported: int
    """Methods that have reported."""

    methods: int
    """Methods that have, or may yet."""

    def __str__(self) -> str:
        waited = f", {self.reported} of {self.methods} methods"
        return f"{self.method} {self.score:.1f}{waited if self.reported < self.methods else ''}"


@dataclass(frozen=True, kw_only=True)
class ComparisonStatus:
    """All trials of a comparison, in planned order."""

    experiment: Experiment
    trials: Sequence[TrialStatus]

    at_once: int = 1
    """Trials that run side by side, by which the time left is divided."""

    @classmethod
    def of(cls, folder: ComparisonFolder, experiment: Experiment) -> Self:
        """Read the files of all trials, once."""
        return cls(experiment=experiment, trials=TrialReader(folder, experiment).read())

    def restricted(self, trials: Collection[str], *, at_once: int = 1) -> Self:
        """Return where those trials stand that have one of these names."""
        chosen = [trial for trial in self.trials if trial.plan.trial in trials]
        return type(self)(experiment=self.experiment, trials=chosen, at_once=at_once)

    def count(self, status: str) -> int:
        """Return how many trials have a status."""
        return sum(trial.status == status for trial in self.trials)

    @property
    def busy(self) -> int:
        """How many trials are computed now."""
        return sum(trial.busy for trial in self.trials)

    @property
    def finished(self) -> bool:
        """Whether no trial is left to run."""
        return self.count("ok") + self.count("failed") == len(self.trials)

    @property
    def points_left(self) -> int:
        """Evaluation points that are still to come, in all trials that were not given up."""
        points = self.experiment.points
        return sum(points - t.point for t in self.trials if t.status in {"running", "waiting"})

    def seconds_left(self) -> float | None:
        """Return how long the rest will take, by what each method took so far.

        A method that has not reported yet counts as the others do on average; None if none has.
        """
        spent: dict[str, tuple[float, int]] = {}
        for trial in self.trials:
            seconds, points = spent.get(trial.plan.method, (0.0, 0))
            spent[trial.plan.method] = seconds + trial.record.seconds, points + trial.point
        known = {name: seconds / points for name, (seconds, points) in spent.items() if points}
        if not known:
            return None
        usual = sum(known.values()) / len(known)
        alone = sum(
            (self.experiment.points - trial.point) * known.get(trial.plan.method, usual)
            for trial in self.trials
            if trial.status in {"running", "waiting"}
        )
        return alone / self.at_once

    def ahead(self) -> dict[tuple[str, str], Leader]:
        """Return, for task and reward, the method that leads those that have reported.

        It is the one with the highest median, over its trials, of their latest held-out returns;
        the highest return of all would be the luckiest score instead.
        """
        latest: dict[tuple[str, str], dict[str, list[float]]] = {}
        for trial in self.trials:
            if trial.status != "failed" or trial.record.rows:
                methods = latest.setdefault((trial.plan.task, trial.plan.reward), {})
                scores = methods.setdefault(trial.plan.method, [])
                scores += [row["test_return"] for row in trial.record.rows[-1:]]
        leaders = {}
        for key, methods in latest.items():
            medians = {method: median(scores) for method, scores in methods.items() if scores}
            if medians:
                method = max(medians, key=medians.__getitem__)
                leaders[key] = Leader(method, medians[method], len(medians), len(methods))
        return leaders

    def failures(self) -> dict[str, str]:
        """Return the trials that were given up, and why."""
        return {t.plan.trial: t.failure or "" for t in self.trials if t.status == "failed"}

    def rows(self) -> pd.DataFrame:
        """Return one row a report, as `trials.parquet` has them.

        A column at a time: a mapping for each row takes three times as long.
        """
        shown = [t for t in self.trials if t.status == "failed" or t.record.rows]
        reports = [trial.record.rows or [{}] for trial in shown]
        counts = [len(rows) for rows in reports]
        common: dict[str, list[Any]] = {
            each.name: [getattr(trial.plan, each.name) for trial in shown]
            for each in fields(TrialPlan)
        }
        common["parameters"] = [trial.record.parameters for trial in shown]
        common["status"] = [trial.status for trial in shown]
        common["error"] = [(t.failure or "") if t.status == "failed" else "" for t in shown]
        names = dict.fromkeys(name for rows in reports for row in rows for name in row)
        return pd.DataFrame(
            {name: np.repeat(np.array(each, dtype=object), counts) for name, each in common.items()}
            | {name: [row.get(name) for rows in reports for row in rows] for name in names}
        )


class TrialReader:
    """Reads the trials of a comparison again and again; of a trial only what has changed since."""

    def __init__(self, folder: ComparisonFolder, experiment: Experiment) -> None:
        self._trials = [(plan, folder.work(plan.trial)) for plan in experiment.trials()]
        self._known: dict[str, tuple[FileVersion | None, TrialStatus]] = {}

    def read(self) -> list[TrialStatus]:
        """Return where all trials stand now, in planned order."""
        return [self._status(plan, work) for plan, work in self._trials]

    def _status(self, plan: TrialPlan, work: TrialFolder) -> TrialStatus:
        version = work.version
        before, known = self._known.get(plan.trial, (None, None))
        if version != before:
            known = None
        if known is not None and known.record.done:
            return known
        record = work.read() if known is None else known.record
        found = TrialStatus(
            plan=plan,
            begun=version is not None,
            locked=not record.done and work.locked,
            record=record,
            failure=None if record.done else work.failure,
        )
        self._known[plan.trial] = version, found
        return found
