"""Cells of a table: what ends is kept, whoever else writes and whatever fails beside it."""

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import pytest

from rolecast.benchmarks.result_table import (
    ResultTable,
    Row,
    forget_rows,
    read_rows,
    update_rows,
    write_rows,
)
from rolecast.core.errors import RunError


@dataclass(frozen=True, kw_only=True)
class Waiting:
    """A cell that ends when a file is there, and fails if its name says so."""

    key: str
    waits_for: str = ""

    @property
    def names(self) -> Mapping[str, str]:
        return {"key": self.key}


def wait(folder: Path, cell: Waiting) -> Row:
    (folder / f"begun {cell.key}").touch()
    while cell.waits_for and not (folder / cell.waits_for).exists():
        time.sleep(0.01)
    if cell.key.startswith("failing"):
        (folder / "failed").touch()
        raise RunError(f"{cell.key} diverged")
    if cell.key.startswith("later"):
        time.sleep(0.2)  # a busy machine sees the failure late
    return {"key": cell.key, "settings": {"size": 1}}


def table(folder: Path) -> ResultTable[Waiting]:
    return ResultTable(
        file="table.json",
        kinds=("key",),
        run=partial(wait, folder),
        order=lambda row: row["key"],
        line=lambda _: "ended",
        pages=lambda rows: {"table.md": f"{len(rows)} rows\n".encode(), "table.csv": b"rows\n"},
    )


@pytest.fixture(autouse=True)
def in_children(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the processes of a table import this file, whatever path pytest was begun with."""
    monkeypatch.syspath_prepend(Path(__file__).resolve().parents[2])


def test_cells_that_had_begun_when_another_failed_are_kept(tmp_path: Path) -> None:
    slow = Waiting(key="slow", waits_for="failed")
    others = [Waiting(key=f"later {number}") for number in range(20)]
    failing = Waiting(key="failing", waits_for="begun slow")
    with pytest.raises(RunError, match="failing diverged"):
        table(tmp_path).run_missing(
            [slow, failing, *others], tmp_path, processes=2, note=lambda _: None
        )
    kept = {row["key"] for row in read_rows(tmp_path / "table.json")}
    assert "slow" in kept
    assert "later 19" not in kept


def test_rows_that_were_there_or_that_another_process_has_added_stay_as_they_are(
    tmp_path: Path,
) -> None:
    path, told, cells = tmp_path / "table.json", list[str](), [Waiting(key="c"), Waiting(key="b")]
    write_rows(path, [{"key": "c"}])

    def note(said: str) -> None:
        told.append(said)
        if "to run" in said:  # rows were read, and no cell has ended
            write_rows(path, [*read_rows(path), {"key": "a"}])

    rows = table(tmp_path).run_missing(cells, tmp_path, processes=1, note=note)
    assert [row["key"] for row in rows] == ["a", "b", "c"]
    assert rows == read_rows(path)
    assert rows[2] == {"key": "c"}
    assert table(tmp_path).run_missing(cells, tmp_path, processes=1, note=told.append) == rows
    there = ("1 of 2 cells are there; 1 to run", "2 of 2 cells are there; 0 to run")
    assert told == [there[0], "b: ended", there[1]]


def test_rows_are_not_changed_while_another_process_changes_them(tmp_path: Path) -> None:
    """A thread keeps the lock of the folder for a while, as a process would."""
    from threading import Thread

    from rolecast.core.locks import lock_folder

    path, held = tmp_path / "table.json", lock_folder(tmp_path)
    order: list[str] = []

    def release() -> None:
        time.sleep(0.3)
        order.append("released")
        held.close()

    thread = Thread(target=release)
    thread.start()

    def add(rows: list[Row]) -> list[Row]:
        order.append("changed")
        return [*rows, {"key": "a"}]

    update_rows(path, add)
    thread.join()
    assert order == ["released", "changed"]
    forget_rows(path, [Waiting(key="a")], order.append)
    assert read_rows(path) == []


def test_a_row_names_its_commit_and_pages_tell_of_it_and_of_older_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rolecast.benchmarks.result_table.source_commit", lambda: "abc1234")
    made = table(tmp_path)
    write_rows(tmp_path / "table.json", [{"key": "a / 0", "settings": {"size": 2}}])
    cells = [Waiting(key="b")]
    rows = made.run_missing(cells, tmp_path, processes=1, note=lambda _: None)
    assert rows[1]["commit"] == "abc1234"
    made.write(rows, tmp_path)
    commits = "1 of 2 rows do not say which commit made them; the others are of commit `abc1234`."
    assert (tmp_path / "table.md").read_text() == f"2 rows\n\n{commits}\n"
    assert (tmp_path / "table.csv").read_text() == "rows\n"
    settings = {"settings": {"size": 1}}
    planned = replace(made, planned=lambda _: {"a / 0": settings, "b": settings})
    told: list[str] = []
    assert planned.run_missing(cells, tmp_path, processes=1, note=told.append) == rows
    other = "1 of 2 rows name other settings than the table now does"
    assert told[1].startswith(other)
    planned.write(rows, tmp_path)
    assert other in (tmp_path / "table.md").read_text()
    assert json.loads((tmp_path / "table.json").read_text())["schema"] == 1
