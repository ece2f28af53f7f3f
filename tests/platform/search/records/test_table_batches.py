"""Tables and journals in several parts, and that a search holds few of their batches."""

import gc
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from rolecast.core.disk import LOCAL_DISK
from rolecast.core.errors import RequestError
from rolecast.platform.search.progress import Silent
from rolecast.platform.search.records import journal
from rolecast.platform.search.records.history import Batch
from rolecast.platform.search.records.journal import Journal, part_files
from rolecast.platform.search.records.run_folder import RunFolder
from rolecast.platform.search.records.table_batches import tabled_batches
from rolecast.platform.search.records.table_file import table_groups
from rolecast.platform.search.run import resume, search
from tests.platform.search.records import conftest

RUN: dict[str, Any] = {
    "search": {"task": "t"},
    "task": {"id": "t"},
    "policy": {"name": "linear", "options": {}},
}
COUNT = 12
batch_of = partial(conftest.batch_of, dimension=5, episodes=2)


def folder_of(path: Path) -> RunFolder:
    return RunFolder(path, piece_bytes=300)


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    """A run whose batches are partly in tables, partly in files of the journal."""
    made = folder_of(tmp_path / "run")
    made.make(RUN)
    for index in range(COUNT):
        made.append(batch_of(index))
        if index % 3 == 2:
            made.write_checkpoint(index + 1, {})
        if index == 7:
            made.write_tables()
    made.release()
    return made


def test_a_batch_whose_number_is_another_hides_none_that_follow(folder: RunFolder) -> None:
    """In tables without seals, as releases before them wrote."""
    folder.write_tables()
    files = (folder.history_file, folder.incumbents_file)
    history, incumbents = (
        pa.concat_tables(table_groups(file)).replace_schema_metadata(None) for file in files
    )
    numbers = list(range(COUNT))
    numbers[COUNT // 2] = 99
    place = incumbents.column_names.index("batch")
    damaged = incumbents.set_column(place, "batch", pa.array(numbers))
    for file, table in zip(files, (history, damaged), strict=True):
        pq.write_table(table, file)
    with pytest.raises(RequestError, match=f"batch {COUNT // 2} is missing"):
        folder.read_batches()


def assert_all(batches: list[Batch]) -> None:
    assert [batch.index for batch in batches] == list(range(COUNT))
    for batch in batches:
        for name, value in vars(batch_of(batch.index)).items():
            np.testing.assert_array_equal(getattr(batch, name), value)


def test_batches_of_tables_and_of_all_files_of_the_journal_are_read(folder: RunFolder) -> None:
    assert len(part_files(folder.journal_file)) == 2
    assert len(list(table_groups(folder.history_file))) == 3
    assert_all(folder.read_batches())
    assert_all(list(folder.batches()))
    last, _ = folder.read_end()
    assert last is not None
    assert last.index == COUNT - 1


def test_tables_written_group_by_group_are_parquet_and_empty_the_journal(folder: RunFolder) -> None:
    folder.write_tables()
    assert part_files(folder.journal_file) == []
    assert journal.read(folder.journal_file) == []
    assert pq.read_table(folder.history_file).num_rows == 3 * COUNT
    assert pq.read_table(folder.incumbents_file).num_rows == COUNT
    assert_all(folder.read_batches())


def test_incumbents_may_be_grouped_otherwise_and_know_more(folder: RunFolder) -> None:
    shorter = folder_of(folder.path.with_name("shorter"))
    shorter.make(RUN)
    for index in range(4):
        shorter.append(batch_of(index))
    shorter.write_tables()
    shorter.release()
    folder.write_tables()
    read = tabled_batches(shorter.history_file, folder.incumbents_file, disk=LOCAL_DISK)
    assert [batch.index for batch in read] == [0, 1, 2, 3]


@pytest.mark.parametrize("name", ["history_file", "incumbents_file"])
def test_no_flipped_bit_of_a_table_is_read_as_data(folder: RunFolder, name: str) -> None:
    folder.write_tables()
    path: Path = getattr(folder, name)
    content = path.read_bytes()
    rng = np.random.default_rng(0)
    for bit in rng.choice(8 * len(content), size=60, replace=False).tolist():
        flipped = bytearray(content)
        flipped[bit // 8] ^= 1 << (bit % 8)
        path.write_bytes(flipped)
        with pytest.raises(RequestError, match="is damaged"):
            list(folder.batches())


def test_a_table_that_is_missing_is_told_of(folder: RunFolder) -> None:
    folder.incumbents_file.unlink()
    with pytest.raises(RequestError, match="parquet does not exist; expected the folder of a run"):
        folder.read_batches()


def test_a_run_without_batches_has_empty_tables(tmp_path: Path) -> None:
    made = folder_of(tmp_path / "run")
    made.make(RUN)
    made.write_tables()
    made.release()
    assert made.read_batches() == []
    assert made.read_end()[0] is None
    assert pq.read_table(made.history_file).num_rows == 0


def test_a_journal_goes_on_in_new_files(tmp_path: Path) -> None:
    path = tmp_path / "journal.bin"
    written = Journal(path, part_bytes=1)
    for index in range(3):
        written.append(batch_of(index))
        written.settle()
    assert [part.name for part in part_files(path)] == [
        "journal.000000.bin",
        "journal.000001.bin",
        "journal.000002.bin",
    ]
    assert [batch.index for part in part_files(path) for batch in journal.read(part)] == [0, 1, 2]
    written.clear()
    assert part_files(path) == []


def test_a_cleared_journal_leaves_no_file_after_a_gap(tmp_path: Path) -> None:
    """A power cut may keep the removal of one file, and not that of the next."""
    path = tmp_path / "journal.bin"
    written = Journal(path, part_bytes=1)
    for index in range(3):
        written.append(batch_of(index))
        written.settle()
    part_files(path)[1].unlink()
    written.clear()
    assert [file.name for file in tmp_path.iterdir()] == ["journal.bin"]


class Counting(Silent):
    """Counts the batches in memory."""

    most = 0

    def update(self, figures: Any, /) -> None:
        if figures.batch % 10 == 0:
            held = sum(type(each) is Batch for each in gc.get_objects())
            self.most = max(self.most, held)


@pytest.mark.parametrize("optimizer", ["random", "snes"])
def test_a_search_holds_few_of_its_batches(
    optimizer: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal, "CHECKPOINT_INTERVAL_S", 0.0)
    monkeypatch.setattr(journal, "CHECKPOINT_SHARE", 1e9)
    gc.collect()
    before = sum(type(each) is Batch for each in gc.get_objects())
    counting = Counting()
    search(
        "pred_prey_3",
        optimizer=optimizer,
        policy="linear",
        evaluations=240,
        episodes=2,
        batch_size=4,
        test_episodes=2,
        workers=0,
        out=tmp_path / "run",
        progress=counting,
    )
    resume(tmp_path / "run", evaluations=300, progress=counting)
    assert before < counting.most < before + 8
