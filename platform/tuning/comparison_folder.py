"""The folder of a comparison: what is in it, and the one way it is read.

    OUT/experiment.json     all settings, the trials, versions; written before anything runs, and
                            again when it goes on under other versions or with more seeds
    OUT/trials.parquet      one row a report of every trial
    OUT/yardsticks.json     returns of scripted policies, once a report was made
    OUT/trials/<trial>/     what Tune keeps of a trial: result.json, progress.csv, events
    OUT/work/<trial>/       state of a trial, and its policy: a run folder, or a learner

Reports are made from `read_comparison` alone, so that they do not depend on Tune.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import numpy as np
import pandas as pd
import pyarrow as pa

from rolecast.core.disk import LOCAL_DISK, Disk
from rolecast.core.errors import RequestError
from rolecast.core.files import is_file, parsed, read_json, unwritable, write_sealed_json
from rolecast.platform.search.records.metrics import METRIC_VOCABULARY
from rolecast.platform.search.records.table_file import table_groups, table_writer
from rolecast.platform.tuning.experiment import EXPERIMENT_FILE, TrialPlan
from rolecast.platform.tuning.methods import method_from_json
from rolecast.platform.tuning.record import TrialFolder

COMPARISON_SCHEMA: Final = 1
"""Version of the folder's layout; only this one is read."""

TRIAL_COLUMNS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "trial": "readable name, also that of its folder",
        "task": "id without reward settings",
        "reward": "'dense', 'sparse=5', 'delay=5', or several joined by '&' in alphabetical order",
        "method": "as the experiment calls it",
        "policy": "name of the policy class of a search; of a learner, its size, as in 'small'",
        "seed": "of the trial",
        "parameters": "D, of the policy that acts; missing where the trial failed before it",
        "status": "'ok' (finished), 'failed' (gave up after its retries) or 'running' (begun)",
        "error": "the last line of what went wrong, or ''",
        "point": "evaluation point that this report reached, from 1; point / points of the budget "
        "is spent. A batch that reaches over several points has one report, at the last of them",
        "done": "whether this is the last report of a finished trial, scored on more episodes",
    }
)
"""What the rows of `trials.parquet` have before the vocabulary: name to meaning."""

TRIAL_STATUSES: Final = ("ok", "failed", "running")
_TEXT_COLUMNS: Final = ("trial", "task", "reward", "method", "policy", "status", "error")
_INTEGER_COLUMNS: Final = ("seed", "parameters", "point", "env_steps", "policy_evaluations")


@dataclass(frozen=True, kw_only=True, eq=False)
class Comparison:
    """A comparison as it stands on disk, finished or not."""

    experiment: Mapping[str, Any]
    """experiment.json. Its `experiment` has the fields of `Experiment`. Its `trials` are those
    planned, each a mapping of "trial", "task", "reward", "method", "policy" and "seed". Its
    `versions` are those of packages, and `command` is how it was begun. A comparison may go on
    under other versions or with more seeds. Then `resumed` has a mapping for each such part, with
    its `versions` and `command`. `ended` in it names the trials that ended before that part."""

    rows: pd.DataFrame
    """One row a report, by trial in planned order and then by `point`: `TRIAL_COLUMNS`, then
    `METRIC_VOCABULARY`, then extras ("optimizer/...", "learner/..."). A trial that failed before
    its first report has one row whose figures are missing. One that has not begun has none. Whole
    numbers are nullable integers (Int64), other figures float64 with NaN."""


class ComparisonFolder:
    """Paths and files of one comparison."""

    def __init__(
        self,
        path: str | Path,
        *,
        disk: Disk = LOCAL_DISK,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.path = Path(path)
        self.disk, self.clock = disk, clock

    @property
    def experiment_file(self) -> Path:
        """Settings, planned trials and versions."""
        return self.path / EXPERIMENT_FILE

    @property
    def rows_file(self) -> Path:
        """One row a report."""
        return self.path / "trials.parquet"

    @property
    def yardsticks_file(self) -> Path:
        """Returns of scripted policies, by task."""
        return self.path / "yardsticks.json"

    @property
    def trials(self) -> Path:
        """Tune's folder of the experiment; a trial's lies in it under the trial's name."""
        return self.path / "trials"

    def work(self, trial: str) -> TrialFolder:
        """Folder in which a trial keeps its state, and its policy in the end."""
        return TrialFolder(self.path / "work" / trial, disk=self.disk, clock=self.clock)

    @property
    def known(self) -> bool:
        """Whether this is the folder of a comparison."""
        return is_file(self.experiment_file, disk=self.disk)

    def write_experiment(self, experiment: Mapping[str, Any]) -> None:
        """Write experiment.json: `Comparison.experiment`, its schema added."""
        whole = {"schema": COMPARISON_SCHEMA, **experiment}
        write_sealed_json(self.experiment_file, whole, disk=self.disk)

    def read_experiment(self) -> dict[str, Any]:
        """Return `Comparison.experiment`.

        Raises:
            RequestError: this is no folder of a comparison, or of another schema.
        """
        if not self.known:
            raise RequestError(
                f"{self.path} has no experiment.json; expected a comparison's folder"
            )
        stored = read_json(self.experiment_file, disk=self.disk)
        experiment: dict[str, Any] = {"trials": [], "versions": {}, **stored}
        if experiment.get("schema") != COMPARISON_SCHEMA:
            raise RequestError(
                f"{self.path} has schema {experiment.get('schema')}; expected {COMPARISON_SCHEMA}, "
                "it was written by another version of rolecast"
            )
        planned = experiment.get("experiment")
        names = planned.get("tasks", []) if isinstance(planned, dict) else None
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise RequestError(f"{self.experiment_file} is damaged: it names no tasks")
        parsed(self.experiment_file, lambda: _require_readable(experiment))
        return experiment

    def begin_again(self, plans: Sequence[TrialPlan]) -> None:
        """Give each of these trials another chance, and let it hand over its reports anew.

        Raises:
            RunError: nothing can be written, or a process of an earlier driver does not end.
        """
        for plan in plans:
            self.disk.remove_folder(self.trials / plan.trial)
            work = self.work(plan.trial)
            with work.lock() if work.begun else nullcontext():
                try:
                    work.forget_failure()
                except OSError as error:
                    raise unwritable(work.path, error) from error
                work.forget_delivery()

    def write_rows(self, rows: pd.DataFrame) -> None:
        """Replace trials.parquet; columns that are missing are filled with missing values."""
        table = pa.Table.from_pandas(shaped(rows), preserve_index=False)
        with table_writer(self.rows_file, {}, disk=self.disk) as add:
            add(table)

    def read(self) -> Comparison:
        """Return the comparison as it stands; errors as of `read_comparison`."""
        experiment = self.read_experiment()
        if not is_file(self.rows_file, disk=self.disk):
            return Comparison(experiment=experiment, rows=shaped(pd.DataFrame()))
        rows = pa.concat_tables(table_groups(self.rows_file, disk=self.disk)).to_pandas()
        for name in TRIAL_COLUMNS:
            if name not in rows.columns:
                raise RequestError(f"{self.rows_file} is damaged: it has no column {name!r}")
        return Comparison(experiment=experiment, rows=shaped(rows))


def _require_readable(experiment: Mapping[str, Any]) -> None:
    """Raise a TypeError where fields are those of another release."""
    for plan in experiment["trials"]:
        TrialPlan(**plan)
    for method in experiment["experiment"].get("methods", ()):
        method_from_json(method)
    dict(experiment["versions"])


def shaped(rows: pd.DataFrame) -> pd.DataFrame:
    """Return rows with all columns in their order and of their types.

    Raises:
        ValueError: a status is none of `TRIAL_STATUSES`.
    """
    named = [*TRIAL_COLUMNS, *METRIC_VOCABULARY]
    extras = sorted(name for name in rows.columns if name not in named)
    table = rows.reindex(columns=[*named, *extras]).reset_index(drop=True)
    for name in table.columns:
        if name in _TEXT_COLUMNS:
            table[name] = table[name].astype(object).where(table[name].notna(), "").astype(str)
        elif name in _INTEGER_COLUMNS or name == "timesteps_total":
            table[name] = table[name].astype("Float64").astype("Int64")
        elif name == "done":
            table[name] = table[name].astype("boolean").fillna(value=False).astype(bool)
        else:
            table[name] = table[name].astype(np.float64)
    if wrong := set(table["status"]) - set(TRIAL_STATUSES):
        raise ValueError(f"status is {wrong}; expected one of {TRIAL_STATUSES}")
    return table


def read_comparison(out: str | Path) -> Comparison:
    """Return a comparison as it stands on disk, also while it runs.

    Raises:
        RequestError: this is no folder of a comparison, it is damaged, or of another schema.
    """
    return ComparisonFolder(out).read()
