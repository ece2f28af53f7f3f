"""The folder of one trial."""

from pathlib import Path

from rolecast.platform.tuning.record import TrialFolder, TrialRecord


def test_a_trial_that_has_finished_is_not_given_up(tmp_path: Path) -> None:
    """Its process may be lost once more after its last report; nothing may be left over."""
    work = TrialFolder(tmp_path)
    work.write(TrialRecord(rows=[{"done": False}]))
    work.fail("lost")
    assert work.failure == "lost"
    work.forget_failure()
    work.write(TrialRecord(rows=[{"done": True}]))
    work.fail("lost")
    assert work.failure is None
    assert not work.failure_file.exists()
