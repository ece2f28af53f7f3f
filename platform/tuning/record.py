"""What is kept of a trial on disk, so that its process, and the driver, may die at any moment.

    OUT/work/<trial>/record.json    its reports so far, replaced as a whole after each
    OUT/work/<trial>/run            the run folder of a search
    OUT/work/<trial>/learner-<k>    a learner as it stood at its k-th report; only the last is kept
    OUT/work/<trial>/failed.json    why the trial was given up; absent otherwise

The trial writes all but the last, which is the driver's. Tune's own snapshots of an experiment
are up to ten seconds old and are not written in one step, so nothing is taken up from them.
"""

import shutil
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import IO, Any, Final, Self

from rolecast.core.errors import RunError
from rolecast.core.files import parsed, read_json, write_sealed_json
from rolecast.core.locks import is_locked, try_lock

LOCK_PATIENCE_S: Final = 60.0
"""Time in which a process of the same trial, whose driver has died, must have ended."""

FileVersion = tuple[int, int, int]
"""Inode, time of writing and size: a file that is replaced has another."""

Row = dict[str, Any]
"""One report: `VOCABULARY`, `point`, `done` and extras; None where there is no figure."""


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

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def record_file(self) -> Path:
        """The reports so far."""
        return self.path / "record.json"

    @property
    def failure_file(self) -> Path:
        """Why the trial was given up."""
        return self.path / "failed.json"

    @property
    def _lock_file(self) -> Path:
        return self.path / ".lock"

    @property
    def run(self) -> Path:
        """Run folder of a search."""
        return self.path / "run"

    @property
    def begun(self) -> bool:
        """Whether the trial has ever run."""
        return self.record_file.is_file()

    @property
    def version(self) -> FileVersion | None:
        """Which record is there; None if the trial has never run."""
        try:
            found = self.record_file.stat()
        except FileNotFoundError:
            return None
        return found.st_ino, found.st_mtime_ns, found.st_size

    @property
    def locked(self) -> bool:
        """Whether a process of the trial keeps others out now."""
        return is_locked(self._lock_file)

    @property
    def failure(self) -> str | None:
        """The last line of what went wrong; None if the trial was not given up."""
        if not self.failure_file.is_file():
            return None
        return str(read_json(self.failure_file).get("error", "unknown"))

    def lock(self) -> IO[bytes]:
        """Keep other processes of the same trial out until the file that is returned is closed.

        Raises:
            RunError: another process of the trial does not end.
        """
        self.path.mkdir(parents=True, exist_ok=True)
        end = time.monotonic() + LOCK_PATIENCE_S
        while (lock := try_lock(self._lock_file)) is None:
            if time.monotonic() > end:
                raise RunError(f"{self.path} is being written by another process")
            time.sleep(0.1)
        return lock

    def read(self) -> TrialRecord:
        """Return the record; an empty one of a trial that has not begun."""
        if not self.begun:
            return TrialRecord()
        stored = read_json(self.record_file)
        return parsed(self.record_file, lambda: TrialRecord(**stored))

    def write(self, record: TrialRecord) -> None:
        """Replace the record."""
        write_sealed_json(self.record_file, asdict(record))

    def fail(self, error: str) -> None:
        """Say that the trial was given up."""
        write_sealed_json(self.failure_file, {"error": error})

    def forget_failure(self) -> None:
        """Give the trial another chance."""
        self.failure_file.unlink(missing_ok=True)

    def forget_delivery(self) -> None:
        """Let the trial hand all its reports to Tune again."""
        if self.begun:
            self.write(replace(self.read(), delivered=0))

    def learner(self, report: int) -> Path:
        """Folder of a learner as it stood at its report of this number, from 1."""
        return self.path / f"learner-{report}"

    def new_learner(self) -> Path:
        """Return an empty folder to save a learner in, before it gets its number."""
        folder = self.path / "learner-new"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        return folder

    def keep_learner(self, report: int) -> None:
        """Give the saved learner its number; the one before stays until the record follows."""
        target = self.learner(report)
        shutil.rmtree(target, ignore_errors=True)
        (self.path / "learner-new").replace(target)

    def drop_learners(self, *, but: int) -> None:
        """Remove all saved learners but one."""
        for folder in self.path.glob("learner-*"):
            if folder != self.learner(but):
                shutil.rmtree(folder)


@dataclass(frozen=True, kw_only=True)
class Report:
    """ProgressSnapshot of the training at a point; the held-out score is added to them."""

    env_steps: int
    policy_evaluations: int
    episode_return_mean: float | None
    episode_return_stderr: float | None
    observed_return_mean: float | None
    best_return: float | None
    extras: Mapping[str, float] = field(default_factory=dict)

    def row(self, **others: Any) -> Row:
        """Return the report as a row of the record."""
        figures = {name: value for name, value in vars(self).items() if name != "extras"}
        return {**figures, "timesteps_total": self.env_steps, **others, **self.extras}

    @classmethod
    def of_row(cls, row: Mapping[str, Any]) -> Self:
        """Return the figures that a row has."""
        names = [name for name in cls.__dataclass_fields__ if name != "extras"]
        return cls(**{name: row[name] for name in names})
