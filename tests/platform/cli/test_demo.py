"""The sentence with which the demo ends."""

import re
from pathlib import Path

import pytest

from rolecast.platform.cli.app import main
from rolecast.platform.cli.demo import verdict
from rolecast.platform.search.records.run_folder import RunFolder


@pytest.mark.parametrize(
    ("found", "sentence"),
    [
        (
            (174.0, 3.0),
            "The policy found beats (by 35.5 +- 5.0) the scripted chase and is below (by 21.8 +- "
            "5.0) pursuit, three numbers set by hand.",
        ),
        (
            (130.0, 3.0),
            "The policy found equals (within 10.0) the scripted chase and is below (by 65.8 +- "
            "5.0) pursuit, three numbers set by hand.",
        ),
    ],
)
def test_the_verdict_tells_better_from_equal(found: tuple[float, float], sentence: str) -> None:
    assert verdict(found, (138.5, 4.0), (195.8, 4.0)) == sentence


def test_a_return_far_above_both_beats_both() -> None:
    told = verdict((300.0, 1.0), (138.5, 1.0), (195.8, 1.0))
    assert told.count("beats") == 2


def test_search_demo_and_report_print_one_return(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """They play the same 1,000 held-out episodes."""
    out = tmp_path / "demo"
    assert main(["demo", "--out", str(out), "--env-steps", "20000", "--workers", "0"]) == 0
    summary = RunFolder.open(out).read_summary()
    assert summary is not None
    returned = f"{summary['test_return']:.1f} +- {summary['test_stderr']:.1f}"
    assert re.search(rf"found by the search +{re.escape(returned)}", capsys.readouterr().out)
    assert f"Held-out return {returned}" in (out / "report.html").read_text()
