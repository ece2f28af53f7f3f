"""Damaged folders are refused in one sentence with exit code 2, by whatever command reads them.

The corpus is what broke once: each row is a mutation that an attack on an earlier version found.
"""

import json
import os
import re
import shutil
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from rolecast.core.encoding import from_bytes, to_bytes
from rolecast.core.errors import RequestError
from rolecast.core.files import write_json
from rolecast.platform.cli.app import main
from rolecast.platform.search.records.run_folder import RunFolder

Mutation = Callable[[Path], None]
STATE_FILE: Final = "checkpoint/optimizer.safetensors"
JOURNAL_FILE: Final = "checkpoint/journal.bin"


@pytest.fixture
def run(small_run: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(small_run, tmp_path / "run"))


def content(name: str, data: bytes) -> Mutation:
    def mutate(run: Path) -> None:
        (run / name).write_bytes(data)

    return mutate


def other_kind(name: str, kind: str) -> Mutation:
    def mutate(run: Path) -> None:
        path = run / name
        path.unlink(missing_ok=True)
        if kind == "directory":
            path.mkdir()
        elif kind == "loop":
            path.symlink_to(path)
        else:
            os.mkfifo(path)

    return mutate


def field(name: str, *path: Any, value: Any) -> Mutation:
    """Change a value of a JSON file, whose seal is then gone."""

    def mutate(run: Path) -> None:
        stored = json.loads((run / name).read_text())
        stored.pop("seal", None)
        inner = stored
        for key in path[:-1]:
            inner = inner[key]
        inner[path[-1]] = value
        (run / name).write_text(json.dumps(stored))

    return mutate


def column(name: str, change: Callable[[pa.Table], pa.Table]) -> Mutation:
    """Write a table anew, without a seal, as an older release would."""

    def mutate(run: Path) -> None:
        table = pq.read_table(BytesIO((run / name).read_bytes()))
        pq.write_table(change(table).replace_schema_metadata(None), run / name)

    return mutate


def replaced(key: str, values: Callable[[Any], Any]) -> Callable[[pa.Table], pa.Table]:
    def change(table: pa.Table) -> pa.Table:
        at = table.column_names.index(key)
        return table.set_column(at, key, pa.array(values(table[key].to_pylist())))

    return change


def state(key: str, value: Any) -> Mutation:
    def mutate(run: Path) -> None:
        saved = from_bytes((run / STATE_FILE).read_bytes())
        saved["optimizer"][key] = value
        (run / STATE_FILE).write_bytes(to_bytes(saved))
        spent = RunFolder(run)
        spent.summary_file.unlink()

    return mutate


def below_a_file(run: Path) -> None:
    shutil.rmtree(run)
    run.touch()


HISTORY: dict[str, Mutation] = {
    "no_column": column("history.parquet", lambda t: t.drop_columns(["candidate"])),
    "text_for_numbers": column("history.parquet", replaced("candidate", lambda c: ["x"] * len(c))),
    "nulls": column("history.parquet", replaced("env_steps", lambda c: [None] * len(c))),
    "ragged": column("history.parquet", replaced("candidate", lambda c: [[0.5], *c[1:]])),
    "env_steps_of_2_to_62": column(
        "history.parquet", replaced("env_steps", lambda c: [*c[:-1], 2**62])
    ),
    "negative_env_steps": column("history.parquet", replaced("env_steps", lambda c: [-5, *c[1:]])),
    "renamed_evaluation": column("history.parquet", replaced("evaluation", lambda c: [7, *c[1:]])),
    "nan_return": column(
        "history.parquet", replaced("episode_returns", lambda c: [[np.nan] * 4, *c[1:]])
    ),
    "outside_of_the_cube": column(
        "history.parquet", replaced("candidate", lambda c: [[7.0] * len(c[0]), *c[1:]])
    ),
    "incumbents_no_column": column("incumbents.parquet", lambda t: t.drop_columns(["spent"])),
    "spent_nan": column("incumbents.parquet", replaced("spent", lambda c: [np.nan, *c[1:]])),
    "spent_negative": column("incumbents.parquet", replaced("spent", lambda c: [-5.0, *c[1:]])),
    "kind_nan": column("incumbents.parquet", replaced("kind", lambda c: ["nan", *c[1:]])),
    "incumbents_directory": other_kind("incumbents.parquet", "directory"),
    "history_fifo": other_kind("history.parquet", "fifo"),
    "history_nonsense": content("history.parquet", b"PAR1nonsensePAR1"),
}
RECORD: dict[str, Mutation] = {
    "run_directory": other_kind("run.json", "directory"),
    "run_loop": other_kind("run.json", "loop"),
    "run_fifo": other_kind("run.json", "fifo"),
    "run_brackets": content("run.json", b"[" * 200_000),
    "run_infinite_version": content("run.json", b'{"schema": 2, "versions": {"numpy": Infinity}}'),
    "run_no_task": field("run.json", "task", value={}),
    "run_search_is_text": field("run.json", "search", value="x"),
    "run_schema_is_true": field("run.json", "schema", value=True),
    "below_a_file": below_a_file,
    "journal_directory": other_kind(JOURNAL_FILE, "directory"),
    "journal_loop": other_kind(JOURNAL_FILE, "loop"),
    "journal_fifo": other_kind(JOURNAL_FILE, "fifo"),
}
RESUMED: dict[str, Mutation] = {
    "summary_directory": other_kind("summary.json", "directory"),
    "state_huge": state("cloud", 10**30),
    "state_text": state("centre", "x"),
    "state_data": state("data", "x"),
    "state_generator": state("rng", "x"),
    "state_nonsense": content(STATE_FILE, b"xx"),
    "options_are_a_list": field("run.json", "search", "task_options", value=[1]),
    "unknown_setting": field("run.json", "search", "leak", value=1),
    "episodes_are_text": field("run.json", "search", "episodes", value="4"),
}


@pytest.mark.timeout(60)
@pytest.mark.parametrize("name", [*HISTORY, *RECORD, *RESUMED])
def test_resume_refuses_a_damaged_folder(
    name: str, run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ({**HISTORY, **RECORD, **RESUMED})[name](run)
    assert main(["resume", str(run), "--evaluations", "+20"]) == 2
    _said_in_one_sentence(capsys)


@pytest.mark.timeout(60)
@pytest.mark.parametrize("name", [*HISTORY, *RECORD])
def test_report_refuses_a_damaged_folder(
    name: str, run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ({**HISTORY, **RECORD})[name](run)
    assert main(["report", str(run)]) == 2
    _said_in_one_sentence(capsys)


@pytest.mark.parametrize(
    "mutation",
    [
        field("structure.json", "cliques", value=[[1, 1e30]]),
        field("structure.json", "edges", value=[[0, 10**9]]),
        field("structure.json", "edges", value=[[0]]),
        field("structure.json", "cliques", value="x"),
        other_kind("structure.json", "fifo"),
    ],
)
def test_a_structure_of_other_parameters_is_refused(mutation: Mutation, run: Path) -> None:
    write_json(run / "structure.json", {"cliques": [[0, 1]], "edges": [[0, 1]]})
    assert RunFolder(run).read_structure() == {"cliques": [[0, 1]], "edges": [[0, 1]]}
    mutation(run)
    with pytest.raises(RequestError, match=r"structure\.json"):
        RunFolder(run).read_structure()


@pytest.mark.parametrize("name", ["history.parquet", "incumbents.parquet", STATE_FILE])
def test_a_flipped_bit_is_refused(name: str, run: Path) -> None:
    """150 bits of each file, spread evenly; the seed of no generator decides which."""
    whole = (run / name).read_bytes()
    folder = RunFolder(run)
    refused = 0
    for bit in np.linspace(0, 8 * len(whole) - 1, 150).astype(int).tolist():
        damaged = bytearray(whole)
        damaged[bit // 8] ^= 1 << bit % 8
        (run / name).write_bytes(damaged)
        try:
            folder.read_batches()
            folder.read_state()
        except RequestError:
            refused += 1
    assert refused == 150


def test_a_dangling_link_for_a_journal_makes_no_file_elsewhere(run: Path, tmp_path: Path) -> None:
    (run / JOURNAL_FILE).unlink()
    (run / JOURNAL_FILE).symlink_to(tmp_path / "elsewhere")
    assert main(["resume", str(run), "--evaluations", "+20"]) == 2
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize("name", ["checkpoint", "policy", "tensorboard"])
def test_a_folder_of_the_run_that_is_a_link_is_refused(
    name: str, run: Path, tmp_path: Path
) -> None:
    shutil.move(run / name, tmp_path / "moved")
    (run / name).symlink_to(tmp_path / "moved")
    assert main(["resume", str(run), "--evaluations", "+20"]) == 2


def _said_in_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    text = capsys.readouterr().err
    last = text.splitlines()[-1]
    assert last.startswith("rolecast: ")
    assert not re.search(r"\w(Error|Exception)\b", last.partition("(")[0])
    assert "--debug" not in text
    assert "Traceback" not in text
