"""The result table: which cells it has, how it goes on where it stopped, what it writes."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from rolecast.benchmarks.main_table.cells import ARENAS, CONTESTANTS, MARKS, MUJOCO_MARKS
from rolecast.benchmarks.main_table.files import BEGIN, END, markdown, seeds_of, write_table
from rolecast.benchmarks.main_table.run import (
    all_cells,
    chosen,
    quick_cells,
    run_missing,
)
from rolecast.benchmarks.resumable import SCHEMA, read_rows
from rolecast.core.errors import RequestError
from rolecast.platform.optimizers.registry import optimizer_config
from rolecast.platform.search.config import SearchConfig


def row(contestant: str, env_steps: int, seed: int, value: float) -> dict[str, Any]:
    return {
        "key": f"{contestant}{env_steps}{seed}",
        "arena": "pred_prey_3",
        "contestant": contestant,
        "env_steps": env_steps,
        "seed": seed,
        "episode_return_mean": value,
        "episode_return_stderr": 1.0,
        "test_episodes": 50,
    }


ROWS = [row("local_gp", 400_000, seed, value) for seed, value in enumerate([10.0, 1.0, 20.0])]


def test_every_contestant_meets_every_arena_at_every_budget_with_every_seed() -> None:
    cells = all_cells(5)
    per_arena = [len(arena.budgets) * len(CONTESTANTS) * 5 for arena in ARENAS]
    assert len(cells) == len({cell.key for cell in cells}) == sum(per_arena)
    assert {arena.budgets for arena in ARENAS} == {MARKS, MUJOCO_MARKS}


@pytest.mark.parametrize("contestant", CONTESTANTS, ids=lambda each: each.name)
def test_every_contestant_can_be_built(contestant: Any) -> None:
    optimizer_config(contestant.optimizer, **contestant.settings)
    SearchConfig(task="pred_prey_3", optimizer=contestant.optimizer)


@pytest.mark.parametrize(
    ("filters", "count"),
    [
        (["task=pred_prey_3"], len(MARKS) * len(CONTESTANTS) * 2),
        (["task=pred_prey_3", "optimizer=random", "optimizer=gp_ucb", "seed=1"], 2 * len(MARKS)),
        (["task=Hopper-v5", "optimizer=local_gp", "env_steps=250000", "seed=0"], 1),
    ],
)
def test_filters_of_a_kind_are_alternatives_and_kinds_agree(filters: list[str], count: int) -> None:
    assert len(chosen(all_cells(2), filters)) == count


def test_finished_cells_are_kept_and_not_run_again(tmp_path: Path) -> None:
    cells = chosen(quick_cells(), ["optimizer=random"])
    told: list[str] = []
    first = run_missing(cells, tmp_path / "main.json", processes=1, note=told.append)
    before = (tmp_path / "main.json").read_bytes()
    again = run_missing(cells, tmp_path / "main.json", processes=1, note=told.append)
    assert first == again == read_rows(tmp_path / "main.json")
    assert (tmp_path / "main.json").read_bytes() == before
    assert told[-1] == "1 of 1 cells are there; 0 to run"


def test_searches_end_with_the_command_that_began_them(tmp_path: Path) -> None:
    cell = ["optimizer=local_gp", "task=pred_prey_3", "env_steps=1600000", "seed=0"]
    command = [sys.executable, "-m", "rolecast.platform.cli.app", "bench", "main"]
    command += ["--out", str(tmp_path), "--processes", "1"]
    command += [word for each in cell for word in ("--only", each)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        assert "1 to run" in process.stderr.readline()
        process.kill()
        # The searches hold this pipe too: it ends when the last of them has.
        process.communicate(timeout=60)


def test_a_results_file_of_another_schema_is_refused(tmp_path: Path) -> None:
    (tmp_path / "main.json").write_text(json.dumps({"schema": SCHEMA + 1, "cells": []}))
    with pytest.raises(RequestError, match=f"schema {SCHEMA + 1}; expected {SCHEMA}"):
        read_rows(tmp_path / "main.json")


def test_the_table_prints_the_median_and_each_seed() -> None:
    table = markdown(seeds_of(ROWS, "pred_prey_3"), each_seed=True)
    assert "| optimiser | 400k |" in table
    assert "| local_gp | **10.0** [10 1 20] |" in table


def test_the_readme_gets_its_region_and_keeps_the_rest(tmp_path: Path) -> None:
    readme = tmp_path / "README.md"
    readme.write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n")
    written = write_table(ROWS, tmp_path, readme=readme)
    assert all(file.is_file() for file in written)
    text = readme.read_text()
    assert text.startswith("before\n")
    assert text.endswith("after\n")
    assert "old" not in text
    assert "| local_gp | **10.0** |" in text


def test_a_readme_without_a_region_is_refused(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("nothing here")
    with pytest.raises(RequestError, match="has no region"):
        write_table(ROWS, tmp_path, readme=tmp_path / "README.md")
