"""Several runs stand on one page, under names that tell them apart."""

import shutil
from pathlib import Path

import pytest

from rolecast.core.errors import RequestError
from rolecast.core.files import read_json, write_sealed_json
from rolecast.platform.cli.app import main
from rolecast.platform.reports.several import write_report_of_several


def copy_of(run: Path, to: Path, test_return: float) -> Path:
    copy = shutil.copytree(run, to)
    summary = read_json(copy / "summary.json")
    write_sealed_json(copy / "summary.json", summary | {"test_return": test_return})
    return copy


def test_the_best_run_is_named_with_its_lead(small_run: Path, tmp_path: Path) -> None:
    low = copy_of(small_run, tmp_path / "a/run", 1.0)
    high = copy_of(small_run, tmp_path / "b/run", 900.0)
    text = write_report_of_several([low, high], tmp_path / "both.html").read_text()
    assert "Best: b/run. Held-out return 900.0" in text
    assert "better than a/run by 899" in text


def test_the_command_writes_one_page(
    small_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other, out = shutil.copytree(small_run, tmp_path / "other"), tmp_path / "page.html"
    assert main(["report", str(small_run), str(other), "--out", str(out)]) == 0
    assert str(out) in capsys.readouterr().out
    assert out.is_file()


def test_runs_of_different_tasks_are_refused(small_run: Path, tmp_path: Path) -> None:
    other = shutil.copytree(small_run, tmp_path / "other")
    record = read_json(other / "run.json")
    record["task"]["id"] = "pred_prey_6"
    write_sealed_json(other / "run.json", record)
    with pytest.raises(RequestError, match="different tasks"):
        write_report_of_several([small_run, other], tmp_path / "page.html")


def test_one_run_twice_is_refused(small_run: Path, tmp_path: Path) -> None:
    with pytest.raises(RequestError, match="twice"):
        write_report_of_several([small_run, small_run], tmp_path / "page.html")
