"""The folder of one trial."""

from pathlib import Path
from typing import Any

import pytest

from rolecast.core.errors import RequestError, RunError
from rolecast.platform.tuning.record import Report, TrialFolder, TrialRecord


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


def test_a_figure_that_is_not_finite_is_named_and_what_explains_may_have_gaps() -> None:
    figures: dict[str, Any] = {
        "env_steps": 1,
        "policy_evaluations": 1,
        "episode_return_mean": 1.0,
        "episode_return_stderr": None,
        "observed_return_mean": 1.0,
        "best_return": 1.0,
        "wall_time_s": 1.0,
    }
    gap = Report(**figures, extras={"optimizer/a": float("nan"), "optimizer/b": 2.0})
    row = gap.row(test_return=1.0, done=False)
    assert "optimizer/a" not in row
    assert row["optimizer/b"] == 2.0
    with pytest.raises(RunError, match="test_return is nan; the training has diverged"):
        gap.row(test_return=float("nan"), done=False)


def test_a_damaged_record_says_how_its_trial_begins_anew(tmp_path: Path) -> None:
    work = TrialFolder(tmp_path)
    work.record_file.write_text("{}")
    work.record_file.write_text('{"lines": []}')
    with pytest.raises(RequestError, match=r"is damaged: .*; without .* the trial begins anew"):
        work.read()
