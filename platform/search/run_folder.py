"""The folder of a run: what is in it, how it is written so that no kill spoils it, how it is read.

Every file is replaced as a whole. The order at a checkpoint is history, then optimiser state, then
the journal is emptied: whatever a kill leaves, tables and journal together hold every batch.
"""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any, Final, Self

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from rolecast.core.encoding import from_bytes, to_bytes
from rolecast.core.errors import RequestError
from rolecast.core.files import read_json, write_bytes, write_json
from rolecast.core.locks import try_lock
from rolecast.platform.search import journal
from rolecast.platform.search.history import (
    Batch,
    batches_of,
    history_table,
    incumbents_table,
    table_bytes,
)

RUN_SCHEMA: Final = 2
"""Version of the folder's layout; only this one is read. 2 tells returns earned from paid."""


class RunFolder:
    """Paths and files of one run."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._lock: IO[bytes] | None = None

    @property
    def run_file(self) -> Path:
        """All settings, versions and the seed."""
        return self.path / "run.json"

    @property
    def history_file(self) -> Path:
        """One row an evaluation; complete when the run has ended."""
        return self.path / "history.parquet"

    @property
    def incumbents_file(self) -> Path:
        """One row a batch."""
        return self.path / "incumbents.parquet"

    @property
    def checkpoint_folder(self) -> Path:
        """State of the optimiser, and the batches since it was saved."""
        return self.path / "checkpoint"

    @property
    def state_file(self) -> Path:
        """State of the optimiser after some batch."""
        return self.checkpoint_folder / "optimizer.safetensors"

    @property
    def journal_file(self) -> Path:
        """The batches that the tables may lack."""
        return self.checkpoint_folder / "journal.bin"

    @property
    def structure_file(self) -> Path:
        """What was found of the policy's structure."""
        return self.path / "structure.json"

    @property
    def summary_file(self) -> Path:
        """The result; there is none while the run has not finished."""
        return self.path / "summary.json"

    @property
    def status_file(self) -> Path:
        """Where a running search stood about a second ago, for `rolecast top`."""
        return self.path / "status.json"

    @property
    def measurements_file(self) -> Path:
        """Held-out returns that reports show beside the history."""
        return self.path / "measurements.json"

    @property
    def policy_folder(self) -> Path:
        """The incumbent as an artefact."""
        return self.path / "policy"

    @property
    def events_folder(self) -> Path:
        """TensorBoard events."""
        return self.path / "tensorboard"

    @classmethod
    def create(cls, path: str | Path, run: Mapping[str, Any]) -> Self:
        """Make the folder of a new run.

        Args:
            path: must not exist.
            run: what run.json says beside its schema.
        Raises:
            RequestError: the path exists or cannot be written.
        """
        folder = cls(path)
        try:
            folder.path.mkdir(parents=True)
        except FileExistsError:
            known = (folder.path / "run.json").is_file()
            hint = f"or `rolecast resume {path}`" if known else "the folder of a new run"
            raise RequestError(
                f"--out {path} exists; expected a path that does not, {hint}"
            ) from None
        except OSError as error:
            raise RequestError(f"--out {path} cannot be made: {error.strerror}") from error
        folder.lock()
        folder.write_run(run)
        return folder

    @classmethod
    def open(cls, path: str | Path) -> Self:
        """Return the folder of a run.

        Raises:
            RequestError: there is no run, it is damaged, or of another schema.
        """
        folder = cls(path)
        folder.read_run()
        return folder

    def lock(self) -> None:
        """Keep other processes from writing, until `release` or the end of this process.

        Raises:
            RequestError: another process writes here, or the folder cannot be written.
        """
        if self._lock is not None:
            return
        try:
            self._lock = try_lock(self.path / ".lock")
        except OSError as error:
            raise RequestError(f"{self.path} cannot be written: {error.strerror}") from error
        if self._lock is None:
            raise RequestError(f"{self.path} is being written by another process")

    def release(self) -> None:
        """Let other processes write."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def write_run(self, run: Mapping[str, Any]) -> None:
        """Replace run.json."""
        write_json(self.run_file, {"schema": RUN_SCHEMA, **run})

    def read_run(self) -> dict[str, Any]:
        """Return run.json.

        Raises:
            RequestError: it is missing, damaged, or of another schema.
        """
        run = read_json(self.run_file)
        schema = run.get("schema")
        if not isinstance(schema, int):
            raise RequestError(f"{self.run_file} is damaged: it has no schema")
        if schema != RUN_SCHEMA:
            age = "a newer" if schema > RUN_SCHEMA else "an older"
            raise RequestError(
                f"{self.path} has schema {schema}; expected {RUN_SCHEMA}, "
                f"it was written by {age} rolecast"
            )
        return run

    def append(self, batch: Batch) -> None:
        """Keep one batch, from which point on no kill can lose it."""
        self.checkpoint_folder.mkdir(exist_ok=True)
        journal.append(self.journal_file, batch)

    def write_tables(self, batches: Sequence[Batch]) -> None:
        """Replace history.parquet and incumbents.parquet."""
        text = {"rolecast": str(RUN_SCHEMA)}
        table = incumbents_table(batches)
        write_bytes(self.incumbents_file, table_bytes(table, text))
        write_bytes(self.history_file, table_bytes(history_table(batches), text))

    def write_checkpoint(self, batches: Sequence[Batch], state: Mapping[str, Any]) -> None:
        """Replace tables and optimiser state, then empty the journal."""
        self.write_tables(batches)
        write_bytes(self.state_file, to_bytes({"batches": len(batches), "optimizer": state}))
        journal.clear(self.journal_file)

    def read_state(self) -> tuple[int, dict[str, Any] | None]:
        """Return the optimiser's state and how many batches it knows; 0 and None if none was saved.

        Raises:
            RequestError: the file is damaged.
        """
        if not self.state_file.is_file():
            return 0, None
        try:
            saved = from_bytes(self.state_file.read_bytes())
            return int(saved["batches"]), saved["optimizer"]
        except (ValueError, KeyError) as error:
            raise RequestError(f"{self.state_file} is damaged: {error}") from error

    def read_batches(self) -> list[Batch]:
        """Return every batch of the run, also while another process writes.

        Raises:
            RequestError: tables or journal are damaged, or a batch is missing.
        """
        recent = journal.read(self.journal_file)
        batches: list[Batch] = []
        if self.history_file.is_file():
            history, incumbents = self._table(self.history_file), self._table(self.incumbents_file)
            whole = history["batch"].to_numpy()
            last = int(whole[-1]) if len(whole) else -1
            known = incumbents["batch"].to_numpy() <= last
            batches = batches_of(history, incumbents.filter(pa.array(known)))
        batches += [batch for batch in recent if batch.index >= len(batches)]
        for index, batch in enumerate(batches):
            if batch.index != index:
                raise RequestError(f"{self.path} is damaged: batch {index} is missing")
        return batches

    def repair(self) -> None:
        """Remove what a killed process left half written. Only for the one who holds the lock."""
        journal.repair(self.journal_file)
        for left in (*self.path.glob(".*.tmp"), *self.checkpoint_folder.glob(".*.tmp")):
            left.unlink()

    def read_structure(self) -> dict[str, Any] | None:
        """Return the structure that was found, if one was."""
        return read_json(self.structure_file) if self.structure_file.is_file() else None

    def write_structure(self, structure: Mapping[str, Any]) -> None:
        """Replace structure.json."""
        write_json(self.structure_file, structure)

    def read_summary(self) -> dict[str, Any] | None:
        """Return the result, if the run has one."""
        return read_json(self.summary_file) if self.summary_file.is_file() else None

    def _table(self, path: Path) -> pa.Table:
        try:
            return pq.read_table(path)
        except (pa.ArrowException, OSError) as error:
            raise RequestError(f"{path} is damaged: {error}") from error


def read_history(path: str | os.PathLike[str]) -> pd.DataFrame:
    """Return the history of a run, one row an evaluation, also while the run goes on.

    Args:
        path: folder of the run.
    Raises:
        RequestError: no run is there, it is damaged, or of another schema.
    """
    folder = RunFolder.open(Path(path))
    return _frame(folder, history_table)


def read_incumbents(path: str | os.PathLike[str]) -> pd.DataFrame:
    """Return the incumbents of a run, one row a batch; else as `read_history`."""
    return _frame(RunFolder.open(Path(path)), incumbents_table)


def _frame(folder: RunFolder, table: Any) -> pd.DataFrame:
    frame: pd.DataFrame = table(folder.read_batches()).to_pandas()
    return frame
