"""What is kept of a trial on disk, so that its process, and the driver, may die at any moment.

    OUT/work/<trial>/record.json    its reports so far, replaced as a whole after each
    OUT/work/<trial>/run            the run folder of a search
    OUT/work/<trial>/learner-<k>    a learner as it stood at its k-th report; only the last is kept
    OUT/work/<trial>/failed.json    why the trial was given up; absent otherwise

The trial writes all but the last, which is the driver's. Tune's own snapshots of an experiment
are up to ten seconds old and are not written in one step, so nothing is taken up from them.
"""

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import IO, Any, Final, Self

from rolecast.core.disk import LOCAL_DISK, Disk, FileVersion
from rolecast.core.errors import RequestError, RunError
from rolecast.core.files import (
    is_file,
    make_folder,
    parsed,
    read_json,
    remove_half_written,
    settle_folder,
    unwritable,
    write_sealed_json,
)
from rolecast.core.locks import is_locked, try_lock

TRIAL_PATIENCE_S: Final = 60.0
"""Time in which a process of the same trial, whose driver has died, must have ended."""

LEARNER_PREFIX: Final = "learner-"
"""Before the number of a saved learner's report."""

Row = dict[str, Any]
"""One report: `METRIC_VOCABULARY`, `point`, `done` and extras; None where there is no figure."""


@dataclass(frozen=True, kw_only=True)
class TrialRecord:
    """A trial as it stands."""

    rows: list[Row] = field(default_factory=list)
    """Its reports, in order."""

    parameters: int | None = None
    """D of the policy that acts; None until the trial has made it."""

    delivered: int = 0
    """Reports that Tune has certainly got from this trial since the driver began."""

    seconds: float = 0.0
    """Time that it took so far, preparations and held-out scoring included."""

    @property
    def done(self) -> bool:
        """Whether the trial has finished."""
        return bool(self.rows) and bool(self.rows[-1]["done"])


class TrialFolder:
    """Files of one trial."""

    def __init__(
        self,
        path: Path,
        *,
        disk: Disk = LOCAL_DISK,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.path, self.disk, self.clock = path, disk, clock

    @property
    def record_file(self) -> Path:
        """The reports so far."""
        return self.path / "record.json"

    @property
    def failure_file(self) -> Path:
        """Why the trial was given up."""
        return self.path / "failed.json"

    @property
    def run(self) -> Path:
        """Run folder of a search."""
        return self.path / "run"

    @property
    def begun(self) -> bool:
        """Whether the trial has ever run."""
        return is_file(self.record_file, disk=self.disk)

    @property
    def version(self) -> FileVersion | None:
        """Which record is there; None if the trial has never run."""
        return self.disk.version(self.record_file)

    @property
    def locked(self) -> bool:
        """Whether a process of the trial keeps others out now."""
        return is_locked(self.path, disk=self.disk)

    @property
    def failure(self) -> str | None:
        """The last line of what went wrong; None if the trial was not given up."""
        if not is_file(self.failure_file, disk=self.disk):
            return None
        return str(read_json(self.failure_file, disk=self.disk).get("error", "unknown"))

    def lock(self) -> IO[bytes]:
        """Keep other processes of the same trial out until the file that is returned is closed.

        Raises:
            RunError: another process of the trial does not end, or nothing can be written.
        """
        try:
            make_folder(self.path, disk=self.disk)
            lock = try_lock(self.path, patience_s=TRIAL_PATIENCE_S, disk=self.disk)
        except OSError as error:
            raise unwritable(self.path, error) from error
        if lock is None:
            raise RunError(f"{self.path} is being written by another process")
        remove_half_written(self.path, disk=self.disk)
        return lock

    def read(self) -> TrialRecord:
        """Return the record; an empty one of a trial that has not begun."""
        if not self.begun:
            return TrialRecord()
        try:
            stored = read_json(self.record_file, disk=self.disk)
            return parsed(self.record_file, lambda: TrialRecord(**stored))
        except RequestError as error:
            raise RequestError(f"{error}; without {self.path} the trial begins anew") from error

    def write(self, record: TrialRecord) -> None:
        """Replace the record."""
        write_sealed_json(self.record_file, asdict(record), disk=self.disk)

    def fail(self, error: str) -> None:
        """Say that the trial was given up; not of one that has finished, which lost nothing."""
        if not self.read().done:
            write_sealed_json(self.failure_file, {"error": error}, disk=self.disk)

    def forget_failure(self) -> None:
        """Give the trial another chance."""
        self.disk.remove(self.failure_file)

    def forget_delivery(self) -> None:
        """Let the trial hand all its reports to Tune again."""
        if self.begun:
            self.write(replace(self.read(), delivered=0))

    def learner(self, report: int) -> Path:
        """Folder of a learner as it stood at its report of this number, from 1."""
        return self.path / f"{LEARNER_PREFIX}{report}"

    def new_learner(self, report: int) -> Path:
        """Return an empty folder to save a learner in; the one before stays until `drop_learners`.

        Raises:
            RunError: it cannot be made.
        """
        folder = self.learner(report)
        self.disk.remove_folder(folder)
        try:
            make_folder(folder, disk=self.disk)
        except OSError as error:
            raise unwritable(folder, error) from error
        return folder

    def settle_learner(self, report: int) -> None:
        """Make a saved learner durable, which has to come before the record that counts on it."""
        settle_folder(self.learner(report), disk=self.disk)

    def drop_learners(self, *, but: int) -> None:
        """Remove all saved learners but one."""
        for name in self.disk.names(self.path):
            if name.startswith(LEARNER_PREFIX) and self.path / name != self.learner(but):
                self.disk.remove_folder(self.path / name)


@dataclass(frozen=True, kw_only=True)
class Report:
    """Figures of the training at a point; the held-out score is added to them."""

    env_steps: int
    policy_evaluations: int
    episode_return_mean: float | None
    episode_return_stderr: float | None
    observed_return_mean: float | None
    best_return: float | None
    wall_time_s: float
    extras: Mapping[str, float] = field(default_factory=dict)

    def row(self, **others: Any) -> Row:
        """Return the report as a row of the record; what explains a method may have gaps.

        Raises:
            RunError: a figure is not finite.
        """
        own = {name: value for name, value in vars(self).items() if name != "extras"}
        figures = {**own, "timesteps_total": self.env_steps, **others}
        for name, value in figures.items():
            if isinstance(value, float) and not math.isfinite(value):
                raise RunError(f"{name} is {value}; the training has diverged")
        extras = {name: value for name, value in self.extras.items() if math.isfinite(value)}
        return {**figures, **extras}

    @classmethod
    def of_row(cls, row: Mapping[str, Any]) -> Self:
        """Return the figures that a row has."""
        names = [name for name in cls.__dataclass_fields__ if name != "extras"]
        return cls(**{name: row[name] for name in names})
