"""The settings of a comparison's report: versions and command of each part of it."""

from collections.abc import Callable
from pathlib import Path

from rolecast.platform.reports.comparison.page import write_comparison_report
from rolecast.platform.tuning.comparison_folder import ComparisonFolder


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
