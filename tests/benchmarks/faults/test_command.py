"""`rolecast bench faults`: what it counts, replays and adds, and what it refuses to add."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from rolecast.benchmarks.app import app
from rolecast.benchmarks.faults.page import page
from rolecast.platform.cli.app import main


def test_the_command_counts_and_replays(tmp_path: Path) -> None:
    run = CliRunner().invoke(
        app, ["faults", "--schedules", "3", "--points", "--out", str(tmp_path)]
    )
    assert run.exit_code == 0, run.output
    assert "append journal.bin" in run.output
    assert "3 schedules" in (tmp_path / "faults.md").read_text()
    part = tmp_path / "part.json"
    run = CliRunner().invoke(app, ["faults", "--schedules", "2", "--json"])
    part.write_text(run.stdout)
    added = ["faults", "--schedules", "1", "--seed", "2", "--json", "--add", str(part)]
    joined = json.loads(CliRunner().invoke(app, added).stdout)
    whole = json.loads((tmp_path / "faults.json").read_text())["searches"]
    for name in ("schedules", "lives", "faults", "kinds", "points", "failed", "command"):
        assert joined[name] == whole[name]
    apart = CliRunner().invoke(app, [*added[:4], "5", *added[5:]])
    assert "seeds begin at 5; expected 2" in str(apart.exception)


def figures(**others: Any) -> dict[str, Any]:
    """Return figures of two schedules, as --json prints them."""
    asked = ["faults", "--schedules", "2", "--json"]
    found: dict[str, Any] = json.loads(CliRunner().invoke(app, asked).stdout)
    return found | others


def test_points_are_shown_beside_what_json_prints() -> None:
    run = CliRunner().invoke(app, ["faults", "--schedules", "1", "--points", "--json"])
    assert json.loads(run.stdout)["schedules"] == 1
    assert "append journal.bin" in run.stderr


def test_failures_of_added_figures_are_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = tmp_path / "before.json"
    before.write_text(json.dumps(figures(failed=[1])))
    asked = ["bench", "faults", "--schedules", "1", "--seed", "2", "--add", str(before)]
    assert main(asked) == 1
    told = capsys.readouterr()
    assert ": 1 failed" in told.out
    assert "1 of 3 schedules failed" in told.err
    assert "--schedules 1 --seed 1 --points" in told.err


def test_figures_that_a_folder_keeps_are_added(tmp_path: Path) -> None:
    out = str(tmp_path)
    assert main(["bench", "faults", "--schedules", "2", "--out", out]) == 0
    kept = str(tmp_path / "faults.json")
    assert (
        main(["bench", "faults", "--schedules", "1", "--seed", "2", "--add", kept, "--out", out])
        == 0
    )
    found = json.loads(Path(kept).read_text())["searches"]
    assert found["schedules"] == 3
    if commit := found["commit"]:
        assert f"at commit {commit}" in (tmp_path / "faults.md").read_text()


def test_a_page_says_what_a_plus_behind_a_commit_means() -> None:
    results = Path(__file__).parents[3] / "docs" / "results"
    text = page(json.loads((results / "faults.json").read_text()))
    assert text == (results / "faults.md").read_text()
    assert re.search(r"at commit [0-9a-f]+\+\.", text)
    assert "`+` behind a commit: there were uncommitted changes." in text


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["--part", "comparisons", "--seed", "2"], "has no figures of part comparisons"),
        (["--part", "soak", "--seed", "2"], "has no figures of part soak"),
        (["--part", "damage", "--seed", "2"], "--add is of no use with --part damage"),
        (["--seed", "3"], "seeds begin at 3; expected 2"),
    ],
)
def test_what_cannot_be_added_is_refused_before_anything_runs(
    words: list[str],
    text: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    before = tmp_path / "before.json"
    before.write_text(json.dumps(figures()))
    monkeypatch.setattr("rolecast.benchmarks.faults.command._counted", None)
    assert main(["bench", "faults", *words, "--add", str(before)]) == 2
    assert text in capsys.readouterr().err
