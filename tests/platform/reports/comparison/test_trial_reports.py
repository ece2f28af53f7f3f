"""The report of a comparison writes those of its searches, and links them."""

import shutil
from pathlib import Path

import pytest

from rolecast.platform.cli.app import main
from tests.platform.reports.conftest import MakeComparison

ENDS = {("cmaes", "dense"): [10.0, 11.0, 12.0]}


def with_runs(folder: Path, run: Path) -> list[Path]:
    """Give the first two of three trials a finished run; return the reports to be expected."""
    runs = [folder / f"work/hopper-dense-cmaes-seed{seed}/run" for seed in (0, 1)]
    for each in runs:
        shutil.copytree(run, each)
        (each / "report.html").unlink(missing_ok=True)
    return [each / "report.html" for each in runs]


def test_reports_of_searches_are_written_and_linked(
    make_comparison: MakeComparison, small_run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = make_comparison(ENDS)
    first, second = with_runs(folder, small_run)
    assert main(["report", str(folder), "--trials", "1"]) == 0
    assert first.is_file()
    assert not second.exists()
    assert "finished searches without a report: 1; --trials 2" in capsys.readouterr().err
    written = first.stat().st_mtime_ns
    assert main(["report", str(folder)]) == 0
    assert second.is_file()
    assert first.stat().st_mtime_ns == written
    assert "without a report" not in capsys.readouterr().err
    page = (folder / "report.html").read_text()
    assert page.count("/run/report.html") == 2
    assert "rolecast evaluate" in first.read_text()
    assert "rolecast resume" not in first.read_text()  # the budget is the comparison's


@pytest.mark.parametrize(
    ("words", "status"), [(["--trials", "0"], 0), (["--pair", "cmaes:sac"], 2)]
)
def test_no_report_of_a_search_is_written_where_none_is_wanted_or_a_pair_is_wrong(
    make_comparison: MakeComparison, small_run: Path, words: list[str], status: int
) -> None:
    folder = make_comparison(ENDS)
    first, second = with_runs(folder, small_run)
    assert main(["report", str(folder), *words]) == status
    assert not first.exists()
    assert not second.exists()


def test_a_number_of_reports_is_refused_where_it_cannot_be(
    make_comparison: MakeComparison, small_run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["report", str(make_comparison(ENDS)), "--trials", "-1"]) == 2
    assert "--trials is -1; expected an integer >= 0" in capsys.readouterr().err
    assert main(["report", str(small_run), "--trials", "1"]) == 2
    assert "--trials is for the folder of a comparison" in capsys.readouterr().err


def test_a_damaged_search_is_told_of_and_the_others_are_written(
    make_comparison: MakeComparison, small_run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = make_comparison(ENDS)
    first, second = with_runs(folder, small_run)
    (first.parent / "run.json").write_text("{")
    assert main(["report", str(folder)]) == 0
    assert f"no report of {first.parent}: " in capsys.readouterr().err
    assert second.is_file()
    assert (folder / "report.html").is_file()
