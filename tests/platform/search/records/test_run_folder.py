"""What the folder of a run tells of how far the run is."""

from pathlib import Path

from rolecast.platform.search.records.run_folder import RunFolder
from rolecast.platform.search.run import resume


def test_a_result_is_that_of_the_budget_that_the_run_has(extended_run: Path) -> None:
    folder = RunFolder.open(extended_run)
    assert folder.summary_file.is_file()
    assert folder.read_summary() is None
    result = resume(extended_run)
    assert folder.read_summary() == result.summary
    assert result.summary["policy_evaluations"] > 60
