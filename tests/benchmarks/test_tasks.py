"""The table of what scripted policies earn has every task, on the episodes of the main table."""

from pathlib import Path

import pytest

from rolecast.benchmarks.tasks import (
    DRAWN_TASKS,
    REGION_BEGIN,
    REGION_END,
    SCRIPTED_TABLE,
    draw_all,
    markdown,
    quick_scripted_runs,
    scripted_runs,
    write_page,
)
from rolecast.core.errors import RequestError
from rolecast.envs.registry import make_task, task_specs
from rolecast.envs.scripted import rollout_scripted
from rolecast.platform.rollout.held_out import SEALED_SET, held_out_seeds


def test_every_listed_task_is_measured_with_all_that_can_play_it(tmp_path: Path) -> None:
    told: list[str] = []
    runs = quick_scripted_runs()
    rows = SCRIPTED_TABLE.run_missing(runs, tmp_path, processes=1, note=told.append)
    assert [row["key"] for row in rows] == [run.key for run in runs]
    players: dict[str, list[str]] = {}
    for row in rows:
        players.setdefault(row["task"], []).append(row["policy"])
    first = next(row for row in rows if row["key"] == "pred_prey_3 / chase")
    assert players.pop("drone_delivery_3") == ["blind_expert", "expert", "random"]
    assert (
        players.pop("pred_prey_3")
        == players.pop("het_pred_prey_3")
        == [
            "chase",
            "pursuit",
            "random",
        ]
    )
    assert set(map(tuple, players.values())) == {("random", "still")}
    assert len(told) == 1 + len(rows)
    again: list[str] = []
    assert SCRIPTED_TABLE.run_missing(runs, tmp_path, processes=1, note=again.append) == rows
    assert again == [f"{len(rows)} of {len(rows)} cells are there; 0 to run"]
    sealed = held_out_seeds(SEALED_SET, 0, 2)
    returns, _ = rollout_scripted(make_task("pred_prey_3"), "chase", sealed)
    assert (first["mean"], first["held_out_set"]) == (returns.mean(), "sealed")
    assert all("commit" in row for row in rows)


def test_the_long_table_has_all_listed_tasks() -> None:
    runs = scripted_runs()
    assert list(dict.fromkeys(run.task for run in runs)) == [*task_specs()]
    assert len({run.key for run in runs}) == len(runs)
    assert {run.episodes for run in runs} == {20, 100, 10_000}
    assert DRAWN_TASKS.keys() <= task_specs().keys()


ROW = {"task": "duel", "agents": 2, "observation_size": 3, "action_size": 1, "horizon": 50}
SEALED = {**ROW, "held_out_set": "sealed"}
RESULTS = [
    {**ROW, "policy": "random", "mean": -1.234, "stderr": 0.056, "episodes": 1000},
    {**SEALED, "policy": "chase", "mean": 1234.5678, "stderr": 12.34, "episodes": 10_000},
]


def test_a_page_gets_a_line_for_each_policy_and_keeps_the_rest(tmp_path: Path) -> None:
    page = tmp_path / "tasks.md"
    page.write_text(f"before\n{REGION_BEGIN}\nold\n{REGION_END}\nafter\n")
    write_page(RESULTS, page)
    lines = page.read_text().splitlines()
    assert (lines[0], lines[-1]) == ("before", "after")
    assert "old" not in lines
    assert any("sealed set (1 rows), which do not compare" in line for line in lines)
    assert "| `duel` | 2 | 3 | 1 | 50 | `random` | -1.23 +- 0.06 | 1,000 | development |" in lines
    assert "| `duel` | 2 | 3 | 1 | 50 | `chase` | 1234.6 +- 12.3 | 10,000 | sealed |" in lines


@pytest.mark.parametrize("text", ["nothing here", f"{REGION_BEGIN}\nno end\n"])
def test_a_page_without_a_region_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "tasks.md").write_text(text)
    with pytest.raises(RequestError, match="has no region"):
        write_page(RESULTS, tmp_path / "tasks.md")
    with pytest.raises(RequestError, match="is no file"):
        write_page(RESULTS, tmp_path / "other.md")


def test_the_table_has_as_many_columns_in_all_its_lines() -> None:
    assert {line.count("|") for line in markdown(RESULTS).splitlines()} == {10}


def test_pictures_are_named_by_their_task_and_small(tmp_path: Path) -> None:
    draw_all(tmp_path, {"drone_delivery_3": ("expert", 30), "pred_prey_3": ("chase", 5)}, print)
    sizes = {file.name: file.stat().st_size for file in tmp_path.iterdir()}
    assert sizes.keys() == {"drone_delivery_3.png", "pred_prey_3.png"}
    assert max(sizes.values()) < 60_000
