"""The folder of a run: what is in it, how it is written so that no kill spoils it, how it is read.

The journal grows, every other file is replaced as a whole. At a checkpoint the journal is made
durable before the optimiser's state is saved; at the end the tables take up the journal before it
is emptied. Whatever a kill leaves, tables and journal together hold every batch.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from itertools import chain
from pathlib import Path
from typing import Any, Final, Self

from rolecast.core import files
from rolecast.core.disk import LOCAL_DISK, Disk
from rolecast.core.encoding import from_bytes, to_sealed_bytes
from rolecast.core.errors import RequestError
from rolecast.core.locks import LockedFolder
from rolecast.platform.search.planning.budget import Spent
from rolecast.platform.search.planning.request import folder_exists, make_run_folder
from rolecast.platform.search.records import journal
from rolecast.platform.search.records.batch_checks import (
    checked_summary,
    require_run_parts,
    require_structure,
    sound_batches,
)
from rolecast.platform.search.records.history import Batch, history_table, incumbents_table
from rolecast.platform.search.records.journal import JOURNAL_FILE, Journal, part_files
from rolecast.platform.search.records.table_batches import PIECE_BYTES, grouped, tabled_batches
from rolecast.platform.search.records.table_file import table_writer

RUN_SCHEMA: Final = 2
"""Version of the folder's layout; only this one is read. 2 tells returns earned from paid."""


class RunFolder(LockedFolder):
    """Paths and files of one run."""

    def __init__(
        self,
        path: str | Path,
        *,
        disk: Disk = LOCAL_DISK,
        clock: Callable[[], float] = time.monotonic,
        piece_bytes: int = PIECE_BYTES,
    ) -> None:
        """Name a folder, of whose batches about so many bytes are in memory at once."""
        super().__init__(path, disk=disk)
        self.clock, self._piece_bytes = clock, piece_bytes
        self.journal = Journal(self.journal_file, disk=disk, clock=clock, part_bytes=piece_bytes)

    @property
    def run_file(self) -> Path:
        """All settings, versions and the seed."""
        return self.path / "run.json"

    @property
    def request_file(self) -> Path:
        """The search as `rolecast search --config` reads it."""
        return self.path / "run.toml"

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
        return self.checkpoint_folder / JOURNAL_FILE

    @property
    def structure_file(self) -> Path:
        """What was found of the policy's structure."""
        return self.path / "structure.json"

    @property
    def summary_file(self) -> Path:
        """The result of the budget that the run has last finished."""
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
        """Return the folder of a new run, made and locked; arguments and errors as in `make`."""
        folder = cls(path)
        folder.make(run)
        return folder

    def make(self, run: Mapping[str, Any]) -> None:
        """Make and lock the folder, where no run may be; run.json says `run` beside its schema.

        Raises:
            RequestError: the path exists or cannot be written.
            RunError: the disk is full; the folder can be made again.
        """
        make_run_folder(self.path, self.checkpoint_folder, disk=self.disk)
        self.lock()
        with ExitStack() as failed:
            failed.callback(self.release)
            if self.disk.is_file(self.run_file):  # another process was quicker
                raise folder_exists(self.path)
            self.write_run(run)
            failed.pop_all()

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
        """Keep other processes from writing, as of `LockedFolder`; refuse folders that are links.

        Raises:
            RequestError: also for a folder of the run that is a link.
        """
        self._refuse_links()
        super().lock()

    def _refuse_links(self) -> None:
        """Refuse folders of the run that are links: a search would write where they lead."""
        for folder in (self.checkpoint_folder, self.policy_folder, self.events_folder):
            if folder.is_symlink():
                raise RequestError(f"{folder} is a link; expected a folder of the run")

    def write_run(self, run: Mapping[str, Any]) -> None:
        """Replace run.json."""
        self._write(self.run_file, {"schema": RUN_SCHEMA, **run})

    def read_run(self) -> dict[str, Any]:
        """Return run.json.

        Raises:
            RequestError: it is missing, damaged, or of another schema.
        """
        run = files.read_json(self.run_file, disk=self.disk)
        schema = run.get("schema")
        if type(schema) is not int:
            raise RequestError(f"{self.run_file} is damaged: it has no schema")
        if schema != RUN_SCHEMA:
            age = "a newer" if schema > RUN_SCHEMA else "an older"
            said = f"{self.path} has schema {schema}; expected {RUN_SCHEMA}"
            raise RequestError(f"{said}, it was written by {age} rolecast")
        require_run_parts(run, self.run_file)
        return run

    def append(self, batch: Batch) -> None:
        """Keep one batch, from which point on no kill can lose it; errors as of `Journal`."""
        self.require_held()
        self.journal.append(batch)

    def append_again(self, batch: Batch) -> None:
        """Keep the last batch though it may be kept already, in part or as a whole."""
        self.require_held()
        self.journal.repair()
        kept = journal.read(self.journal_file, disk=self.disk)
        if not kept or kept[-1].index < batch.index:
            self.journal.append(batch)

    def write_tables(self) -> None:
        """Replace history.parquet and incumbents.parquet by all batches, and empty the journal."""
        self.require_held()
        schema = {"rolecast": str(RUN_SCHEMA)}
        with (  # the incumbents are in their place first, as readers expect
            table_writer(self.history_file, schema, disk=self.disk) as add_history,
            table_writer(self.incumbents_file, schema, disk=self.disk) as add_incumbents,
        ):
            for group in grouped(self.batches(), self._piece_bytes):
                add_history(history_table(group))
                add_incumbents(incumbents_table(group))
        self.journal.clear()

    def write_checkpoint(self, count: int, state: Mapping[str, Any]) -> None:
        """Make the first `count` batches durable, then the optimiser's state after them."""
        self.require_held()
        self.journal.settle()
        saved = to_sealed_bytes({"batches": count, "optimizer": state})
        files.write_bytes(self.state_file, saved, disk=self.disk)

    def read_state(self) -> tuple[int, dict[str, Any] | None]:
        """Return the optimiser's state and of how many batches it is; 0 and None if none was saved.

        Raises:
            RequestError: the file is damaged.
        """
        if not files.is_file(self.state_file, disk=self.disk):
            return 0, None
        try:
            saved = from_bytes(files.read_bytes(self.state_file, disk=self.disk))
            known, state = saved["batches"], saved["optimizer"]
            if type(known) is not int or known < 0 or not isinstance(state, dict):
                raise ValueError("its fields are of another kind")  # noqa: TRY301
        except (ValueError, KeyError) as error:
            hint = "without that file, the optimiser is told the history again"
            raise RequestError(f"{self.state_file} is damaged: {error}; {hint}") from error
        return known, state

    def read_batches(self, *, candidates: bool = True) -> list[Batch]:
        """Return every batch of the run, also while another process writes.

        Args:
            candidates: whether batches keep them, 3 GB of a million evaluations of 353 weights.
        Raises:
            RequestError: tables or journal are damaged, or a batch is missing.
        """
        # The newest first, so that a batch that moves on meanwhile is met twice, and never missed.
        recent = list(self._journalled([self.journal_file]))
        before = list(self._journalled(part_files(self.journal_file, disk=self.disk)))
        whole = sound_batches(chain(self._tabled(), before, recent), self.path)
        return [batch if candidates else batch.without_candidates() for batch in whole]

    def batches(self) -> Iterator[Batch]:
        """Return every batch in turn, with few in memory. Only for the one who holds the lock.

        Raises:
            RequestError: as in `read_batches`, once it is met.
        """
        parts = [*part_files(self.journal_file, disk=self.disk), self.journal_file]
        return sound_batches(chain(self._tabled(), self._journalled(parts)), self.path)

    def read_end(self) -> tuple[Batch | None, Spent]:
        """Return the last batch, None if there is none, and what the search has used.

        All batches are read, as by `batches`.
        """
        last, spent = None, Spent()
        for last in self.batches():
            spent = last.spent_with(spent)
        return last, spent

    def _journalled(self, parts: Iterable[Path]) -> Iterator[Batch]:
        """Yield the batches of some files of the journal."""
        for part in parts:
            yield from journal.read(part, disk=self.disk)

    def _tabled(self) -> Iterator[Batch]:
        """Yield the batches of the tables."""
        if files.is_file(self.history_file, disk=self.disk):
            yield from tabled_batches(self.history_file, self.incumbents_file, disk=self.disk)

    def repair(self) -> None:
        """Remove what a killed process left half written. Only for the one who holds the lock."""
        self.disk.make_folder(self.checkpoint_folder)
        self.journal.repair()
        for folder in (self.path, self.checkpoint_folder):
            files.remove_half_written(folder, disk=self.disk)

    def read_structure(self) -> dict[str, Any] | None:
        """Return the structure that was found, if one was.

        Raises:
            RequestError: the file is damaged, or names parameters that the policy has not.
        """
        if not files.is_file(self.structure_file, disk=self.disk):
            return None
        structure = files.read_json(self.structure_file, disk=self.disk)
        size = self.read_run()["policy"].get("parameters")
        require_structure(structure, size if type(size) is int else None, self.structure_file)
        return structure

    def write_status(self, status: Mapping[str, Any]) -> None:
        """Replace status.json, which a power cut may take."""
        self._write(self.status_file, status, durable=False)

    def write_structure(self, structure: Mapping[str, Any]) -> None:
        """Replace structure.json."""
        self._write(self.structure_file, structure)

    def read_summary(self) -> dict[str, Any] | None:
        """Return the result of the budget that run.json has; None while the run goes on.

        Raises:
            RequestError: the file is damaged.
        """
        if not files.is_file(self.summary_file, disk=self.disk):
            return None
        found = checked_summary(self.summary_file, self.disk)
        search = self.read_run()["search"]
        unit = "evaluations" if search.get("env_steps") is None else "env_steps"
        return found if found.get("budget") == {"unit": unit, "total": search.get(unit)} else None

    def write_summary(self, summary: Mapping[str, Any]) -> None:
        """Replace summary.json."""
        self._write(self.summary_file, summary)

    def _write(self, path: Path, value: Mapping[str, Any], *, durable: bool = True) -> None:
        """Replace a file of the run."""
        self.require_held()
        files.write_sealed_json(path, value, disk=self.disk, durable=durable)
