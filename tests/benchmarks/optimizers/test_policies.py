"""The optimisers' table on policies: what a cell records, and what the pages tell of it."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rolecast.benchmarks.main_table.cells import search_cell
from rolecast.benchmarks.optimizers import policies as optimizers_policies
from rolecast.benchmarks.optimizers.policies import (
    CONTESTANTS,
    HELD_OUT,
    TASKS,
    all_cells,
    quick_cells,
    run_cell,
)
from rolecast.benchmarks.optimizers.policy_files import gains, markdown, write_files
from rolecast.platform.rollout.evaluate import evaluate


def row(problem: str, contestant: str, seed: int, returns: list[float]) -> dict[str, Any]:
    return {
        "key": f"{problem}{contestant}{seed}",
        "problem": problem,
        "contestant": contestant,
        "seed": seed,
        "test_episodes": 50,
        "evaluations": [100, 200, 300, 400],
        "env_steps": [1000, 2000, 3000, 4000],
        "returns": returns,
        "stderrs": [1.0] * 4,
        "seconds": [1.0, 2.0, 3.0, 4.0],
    }


ROWS = [
    row(task, f"local, {graph}", seed, [1.0, 2.0, 3.0, 10.0 * seed + more])
    for task in TASKS
    for graph, more in (("none", 100.0), ("found", 104.0))
    for seed in range(3)
]


def test_every_task_meets_every_contestant_with_every_seed() -> None:
    cells = all_cells(5)
    assert len({cell.key for cell in cells}) == len(TASKS) * len(CONTESTANTS) * 5 == len(cells)


@pytest.mark.parametrize("name", ["local, none", "local, found"])
def test_a_cell_ends_with_what_the_search_hands_over(tmp_path: Path, name: str) -> None:
    """The same search again, evaluated from its artefact, which the table does not read."""
    cell = next(each for each in quick_cells() if each.contestant.name == name)
    cell = replace(cell, env_steps=6000)
    found = run_cell(cell)
    search_cell(cell, tmp_path / "run")
    ended = evaluate(tmp_path / "run", episodes=cell.test_episodes, seed=HELD_OUT)
    assert found["returns"][-1] == pytest.approx(ended.episode_return_mean, abs=1e-3)
    assert found["stderrs"][-1] == pytest.approx(ended.episode_return_stderr, abs=1e-3)
    assert found["env_steps"][-1] == 6000
    assert len(found["returns"]) == optimizers_policies.MARKS
    for along in ("evaluations", "env_steps", "seconds"):
        assert (np.diff(found[along]) >= 0).all()


def test_graphs_are_compared_seed_by_seed() -> None:
    lines = gains(ROWS).to_dict("records")
    assert [line["problem"] for line in lines] == list(TASKS)
    for line in lines:
        assert line["graphs"] == "found - none"
        assert (line["more"], line["low"], line["high"]) == (4.0, 4.0, 4.0)
        assert (line["better"], line["seeds"]) == (3, 3)


def test_the_files_hold_every_task_and_seed(tmp_path: Path) -> None:
    written = write_files(ROWS, tmp_path)
    assert {path.name for path in written} == {
        "optimizers_policies.csv",
        "optimizers_policies.md",
        "optimizers_policies.png",
    }
    text = markdown(ROWS)
    assert "| pred_prey_3 | found - none | **+4.0** [+4.0, +4.0] | 3 of 3 |" in text
    assert "| local, none | **1.0** [1, 1] | **2.0** [2, 2] | **110.0**" in text
    assert "| 100 110 120 | 4 |" in text
