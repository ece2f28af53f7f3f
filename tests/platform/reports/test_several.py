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


def test_runs_that_were_paid_otherwise_stand_together(small_run: Path, tmp_path: Path) -> None:
    other = shutil.copytree(small_run, tmp_path / "other")
    record = read_json(other / "run.json")
    record["task"]["id"] += "&drop=0.9" if "?" in record["task"]["id"] else "?drop=0.9"
    write_sealed_json(other / "run.json", record)
    text = write_report_of_several([small_run, other], tmp_path / "page.html").read_text()
    assert "drop=0.9" in text
    assert "dense" in text


def test_noise_of_a_causal_graphs_nodes_is_of_the_task(small_run: Path, tmp_path: Path) -> None:
    runs = []
    for name in ("causal:dropwave", "causal:dropwave?noise=1"):
        runs.append(shutil.copytree(small_run, tmp_path / name.partition("?")[2] / "run"))
        record = read_json(runs[-1] / "run.json")
        record["task"]["id"] = name
        write_sealed_json(runs[-1] / "run.json", record)
    with pytest.raises(RequestError, match="different tasks"):
        write_report_of_several(runs, tmp_path / "page.html")


def test_the_points_of_the_curves_are_said_to_be_what_they_are(
    small_run: Path, tmp_path: Path
) -> None:
    other = shutil.copytree(small_run, tmp_path / "other")
    text = write_report_of_several([small_run, other], tmp_path / "page.html").read_text()
    (other / "measurements.json").unlink()
    mixed = write_report_of_several([small_run, other], tmp_path / "page.html").read_text()
    said = "Incumbents are evaluated again on"
    assert text.count(said) == mixed.count(said) == 1
    assert ("own confirmation" in mixed) != ("model expects of them" in mixed)


def test_a_search_of_a_multirun_that_has_not_begun_is_left_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "multi"
    words = ["search", "pred_prey_3", "--optimizer", "random", "--evaluations", "4", "-q", "-m"]
    assert main([*words, "--workers", "0", "--seed", "0,1", "--out", str(out)]) == 0
    run = out / "seed=1"
    for name in ("history.parquet", "incumbents.parquet", "summary.json", "measurements.json"):
        (run / name).unlink(missing_ok=True)
    shutil.rmtree(run / "checkpoint")
    capsys.readouterr()
    assert main(["report", str(out)]) == 0
    assert f"without an evaluation yet, and left out: {run}" in capsys.readouterr().err
    shutil.rmtree(out / "seed=0")
    assert main(["report", str(out)]) == 2
    assert "no search in" in capsys.readouterr().err


def test_one_run_twice_is_refused(small_run: Path, tmp_path: Path) -> None:
    with pytest.raises(RequestError, match="twice"):
        write_report_of_several([small_run, small_run], tmp_path / "page.html")
