"""`rolecast plan`, `rolecast top` and `--log-json`."""

import json
import shutil
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from rolecast.core.locks import lock_folder
from rolecast.platform.cli.app import main

Command = Callable[..., CompletedProcess[str]]

PLAN = ("plan", "pred_prey_3", "--policy", "mlp", "--optimizer", "random", "--evaluations", "60")


def test_a_plan_is_a_forecast_for_each_number_of_workers(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main([*PLAN, "--episodes", "64", "--workers", "0", "--workers", "8", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    alone, eight = told["forecasts"]
    assert told["episode_s"] > 0.0
    assert (alone["workers"], eight["workers"]) == (0, 8)
    assert eight["total_s"] > 0.0
    assert "larger_batch" in told


def test_a_plan_for_people_names_what_limits_a_search(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*PLAN, "--episodes", "2", "--workers", "64"]) == 0
    shown = capsys.readouterr()
    assert "an episode takes" in shown.out
    assert "limited by" in shown.out
    assert "timing episodes" in shown.err


def test_a_plan_says_which_batch_would_feed_idle_workers(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The optimiser takes nearly all of the time, and a quarter of the batches most of it less."""
    search = ("plan", "pred_prey_3", "--evaluations", "500", "--episodes", "2")
    assert main([*search, "--batch-size", "5", "--workers", "64"]) == 0
    assert "With --batch-size 20, 64 workers would take" in capsys.readouterr().out


def test_top_shows_where_a_search_stands(
    small_run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["top", str(small_run), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    summary = json.loads((small_run / "summary.json").read_text())
    assert told["evaluations"] == summary["policy_evaluations"]
    assert told["finished"] is True
    assert 0.0 <= told["workers_wait"] <= 1.0
    assert main(["top", str(small_run)]) == 0
    shown = capsys.readouterr().out
    assert "the search has finished" in shown
    assert "no episode ran" in shown


def test_top_of_a_search_that_was_killed_ends_and_names_what_goes_on(
    small_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "killed"
    shutil.copytree(small_run, folder)
    (folder / "summary.json").unlink()
    assert main(["top", str(folder)]) == 0
    assert f"no search runs any more; next: rolecast resume {folder}" in capsys.readouterr().out


def test_top_of_a_run_that_was_extended_and_stopped_names_what_goes_on(
    extended_run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["top", str(extended_run)]) == 0
    assert f"next: rolecast resume {extended_run}" in capsys.readouterr().out


def test_top_waits_for_the_first_batch_of_a_search_that_runs(
    small_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "begun"
    shutil.copytree(small_run, folder)
    status = (folder / "status.json").read_bytes()
    (folder / "status.json").unlink()
    with closing(lock_folder(folder)):
        later = threading.Timer(0.5, (folder / "status.json").write_bytes, (status,))
        later.start()
        assert main(["top", str(folder), "--json"]) == 0
    told = capsys.readouterr()
    assert "waiting for it" in told.err
    assert json.loads(told.out)["finished"] is True


def test_top_of_no_search_is_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["top", str(tmp_path)]) == 2
    assert "expected the folder of a search" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("env_steps_per_s", None),
        ("evaluations", "12"),
        ("spent", [0.5]),
        ("workers", 4),
        ("workers", {"node": None}),
        ("time", True),
    ],
)
def test_top_of_a_status_with_a_wrong_value_is_one_sentence(
    small_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, value: object
) -> None:
    folder = tmp_path / "damaged"
    shutil.copytree(small_run, folder)
    status = json.loads((folder / "status.json").read_text())
    (folder / "status.json").write_text(json.dumps({**status, name: value}))
    assert main(["top", str(folder)]) == 2
    said = capsys.readouterr().err.strip().splitlines()[-1]
    assert f"status.json is damaged: {name} is {value!r}; expected" in said


def test_progress_as_json_is_one_object_a_line(tmp_path: Path, rolecast_command: Command) -> None:
    words = ("--policy", "mlp", "--optimizer", "random", "--evaluations", "12", "--episodes", "2")
    out = ("--batch-size", "4", "--workers", "0", "--out", str(tmp_path / "run"), "--log-json")
    ended = rolecast_command("search", "pred_prey_3", *words, *out)
    assert ended.returncode == 0, ended.stderr
    lines = [json.loads(line) for line in ended.stderr.splitlines() if line.startswith("{")]
    events = [line["event"] for line in lines]
    assert (events[0], events[-1]) == ("start", "end")
    assert [line["evaluations"] for line in lines if line["event"] == "batch"][-1] == 12
