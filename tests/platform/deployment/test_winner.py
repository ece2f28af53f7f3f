"""A comparison is exported by the policy of its winner, whatever found it."""

import json
import shutil
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from rolecast.core.errors import RequestError
from rolecast.platform.cli.app import main
from rolecast.platform.deployment.manifest import check_export
from rolecast.platform.deployment.winner import winning_trial
from rolecast.platform.tuning.comparison_folder import ComparisonFolder

TASK = "pred_prey_3"


def row(trial: str, method: str, test_return: float | None, **other: Any) -> dict[str, Any]:
    """Return the last report of a trial."""
    common = {"task": TASK, "reward": "dense", "status": "ok", "done": True, "point": 1}
    return {**common, "trial": trial, "method": method, "test_return": test_return, **other}


def written(path: Path, rows: list[dict[str, Any]]) -> Path:
    """Write the folder of a comparison with these reports."""
    folder = ComparisonFolder(path)
    path.mkdir()
    folder.write_experiment({"experiment": {"tasks": [TASK]}})
    folder.write_rows(pd.DataFrame(rows))
    return path


def test_the_winner_has_the_best_mean_and_of_its_trials_the_best_is_taken(tmp_path: Path) -> None:
    """The best single trial is another's; reports before the last and failed trials are no end."""
    folder = written(
        tmp_path / "two",
        [
            row("mappo_0", "mappo", 9.0),
            row("mappo_1", "mappo", 0.0),
            row("bo_0", "bo", 5.0),
            row("bo_1", "bo", 6.0, done=False),
            row("bo_1", "bo", 5.5, point=2),
            row("bo_2", "bo", 99.0, status="failed"),
            row("bo_3", "bo", None),
        ],
    )
    assert winning_trial(folder).path == folder / "work" / "bo_1"


def test_of_several_tasks_one_is_named(tmp_path: Path) -> None:
    sparse = row("mappo_1", "mappo", 3.0, reward="sparse=5")
    folder = written(tmp_path / "two", [row("bo_0", "bo", 5.0), sparse])
    with pytest.raises(RequestError, match=r"of 2 tasks; expected --task with one of pred_prey_3,"):
        winning_trial(folder)
    assert winning_trial(folder, "pred_prey_3?sparse=5").path.name == "mappo_1"
    assert winning_trial(folder, TASK).path.name == "bo_0"
    with pytest.raises(RequestError, match=r"task 'pred_prey_3\?sparse=6' does not exist; did you"):
        winning_trial(folder, "pred_prey_3?sparse=6")


def test_without_a_finished_trial_there_is_no_winner(tmp_path: Path) -> None:
    folder = written(tmp_path / "two", [row("bo_0", "bo", 5.0, done=False)])
    with pytest.raises(RequestError, match="has no finished trial; expected one, for a winner"):
        winning_trial(folder)


def test_a_search_that_has_won_is_exported_as_its_run_is(
    small_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = written(tmp_path / "two", [row("bo_0", "bo", 5.0)])
    shutil.copytree(small_run, folder / "work" / "bo_0" / "run")
    words = ["export", str(folder), "--target", "onnx", "--out", str(tmp_path / "out"), "--json"]
    assert main(words) == 0
    told = capsys.readouterr()
    assert "the winner's best trial is bo_0" in told.err
    manifest = json.loads(told.out)
    del manifest["out"]
    assert check_export(tmp_path / "out") == manifest
    assert manifest["check"]["onnx"]["vectors_equal_bit_by_bit"] == 10_000


def test_a_run_has_no_choice_of_tasks(
    small_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["export", str(small_run), "--task", TASK, "--out", str(tmp_path / "out"), "-q"]
    assert main(words) == 2
    (sentence,) = capsys.readouterr().err.splitlines()
    assert sentence.endswith("expected a comparison's folder")
    assert list(tmp_path.iterdir()) == []
