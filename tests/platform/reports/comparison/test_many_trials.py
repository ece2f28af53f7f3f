"""A report of thousands of trials takes seconds: its cost grows as their number, and slowly."""

import time
from pathlib import Path

import pytest
from threadpoolctl import threadpool_info

from rolecast.envs.registry import is_built_in
from rolecast.platform.cli.app import main
from rolecast.platform.reports.comparison.curves import sample_efficiency
from rolecast.platform.reports.comparison.groups import Groups, groups
from rolecast.platform.reports.comparison.improvement import chosen_pairs, improvements
from rolecast.platform.reports.comparison.page import write_comparison_report
from rolecast.platform.reports.comparison.table import curves, improvement_rows, results, trials
from rolecast.platform.reports.comparison.trial_list import trials_section
from rolecast.platform.tuning.comparison_folder import ComparisonFolder, read_comparison
from rolecast.platform.tuning.status import ComparisonStatus
from tests.platform.many_trials import ROBOT_TASKS, TRIAL_POINTS, many_trials


def finished(out: Path, seeds: int, tasks: tuple[str, ...] = ROBOT_TASKS) -> Path:
    """Write the folder of a comparison with its table; return it."""
    experiment, folder = many_trials(out, seeds=seeds, tasks=tasks), ComparisonFolder(out)
    folder.write_rows(ComparisonStatus.of(folder, experiment).rows())
    return out


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a comparison of 2,000 trials."""
    return finished(tmp_path_factory.mktemp("many") / "out", seeds=20)


@pytest.fixture(scope="module")
def whole(folder: Path) -> Groups:
    """Return its trials."""
    return groups(read_comparison(folder))


def test_the_tables_of_2000_trials_are_made_in_seconds(folder: Path) -> None:
    """The bound is five times what a core of 2020 takes, in processor time."""
    start = time.process_time()
    whole = groups(read_comparison(folder))
    ends, along = results(whole), curves(whole)
    improved = improvement_rows(improvements(whole, chosen_pairs(whole, ())))
    listed = trials_section(trials(whole), folder)
    assert time.process_time() - start < 25.0
    assert len(ends) == 10 * (5 * 2 + 5)
    assert (ends["seeds"][ends["reward"] == "dense"] == 20).all()
    assert len(along) == 10 * 10 * 2 * TRIAL_POINTS
    assert len(improved) == 25 * (1 + 10)
    assert improved["low"].notna().all()
    assert listed.count("<tr>") > 2000


def test_the_trials_of_a_method_are_one_artist_of_a_panel(whole: Groups) -> None:
    """A line of its own for each trial would be 200 artists of a panel, here."""
    drawing = sample_efficiency(whole, "hopper", axis="env_steps", statistic="mean")
    for panel in drawing.axes:
        thin = [each for each in panel.collections if len(each.get_paths()) == 20]
        assert len(thin) == 10
        assert len(panel.lines) + len(panel.collections) < 50


@pytest.mark.parametrize("task", ROBOT_TASKS)
def test_the_tasks_of_these_trials_are_there(task: str) -> None:
    assert is_built_in(task)


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """Return the folder of a comparison of 20 trials."""
    return finished(tmp_path / "out", seeds=1, tasks=ROBOT_TASKS[-1:])


def test_a_report_computes_with_one_thread(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its matrices are small: several threads took four times the processor time."""
    used: list[int] = []

    def noted(whole: Groups) -> str:
        used.extend(pool["num_threads"] for pool in threadpool_info())
        return ""

    monkeypatch.setattr("rolecast.platform.reports.comparison.page.leaders", noted)
    write_comparison_report(small)
    assert set(used) == {1}


def test_the_command_makes_a_report_of_such_a_folder(small: Path) -> None:
    assert main(["report", str(small)]) == 0
    page = (small / "report.html").read_text()
    assert page.count(f"<td>{ROBOT_TASKS[-1]}-") == 20
