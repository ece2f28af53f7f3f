"""The settings of a comparison's report: versions and command of each part of it."""

from collections.abc import Callable
from pathlib import Path

import pytest

from rolecast.platform.reports.comparison.page import write_comparison_report
from rolecast.platform.tuning import yardsticks
from rolecast.platform.tuning.comparison_folder import ComparisonFolder
from rolecast.platform.tuning.yardsticks import (
    TaskYardsticks,
    complete_comparison,
    read_yardsticks,
)


def test_the_page_shows_the_versions_of_each_part(make_comparison: Callable[..., Path]) -> None:
    folder = make_comparison({("sac", "dense"): [10.0, 20.0], ("dss_gp_ucb", "dense"): [5.0, 7.0]})
    known = ComparisonFolder(folder).read_experiment()
    ended = [plan["trial"] for plan in known["trials"][:2]]
    part = {"versions": {"rolecast": "0.2.0"}, "command": ["again"], "ended": ended}
    ComparisonFolder(folder).write_experiment({**known, "resumed": [part]})
    text = write_comparison_report(folder).read_text()
    assert "rolecast=0.1.0, ray=2.60.0" in text
    assert "rolecast=0.2.0" in text
    for name in ("versions", "command"):
        assert f"{name}, after 2 trials had ended" in text


def test_a_setting_without_a_report_is_said_and_the_next_has_its_chart(
    make_comparison: Callable[..., Path],
) -> None:
    """A chart of nothing would end the drawing of all that follow."""
    ends = {("sac", "dense"): [10.0], ("sac", "sparse=5"): [10.0]}
    folder = make_comparison(ends, lost={"hopper-dense-sac-seed0": "not begun"})
    text = write_comparison_report(folder).read_text()
    assert text.count("No trial has reported yet.") > 0
    assert '"series": []' not in text
    assert '"series":[]' not in text
    assert '"series"' in text


def test_scripted_policies_that_could_not_be_measured_are_measured_again(
    make_comparison: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = make_comparison({("sac", "dense"): [10.0]})
    found = [TaskYardsticks(missing="no MuJoCo here"), TaskYardsticks()]
    monkeypatch.setattr(yardsticks, "_measured", lambda task: found.pop(0))
    complete_comparison(folder)
    assert read_yardsticks(ComparisonFolder(folder))["hopper"].missing == "no MuJoCo here"
    for _ in range(2):
        complete_comparison(folder)
        assert read_yardsticks(ComparisonFolder(folder))["hopper"] == TaskYardsticks()
