"""Pages and the README are made from the committed rows, and say nothing else of them."""

from pathlib import Path
from typing import Final

import numpy as np
import pytest

from rolecast.benchmarks.dial.dials import DIALS_BY_TASK, LONG_DIAL, TEAM_DIAL, Dial
from rolecast.benchmarks.dial.findings import returns_of
from rolecast.benchmarks.dial.page import readme_region, report
from rolecast.benchmarks.dial.table import dial_trials, speed_section
from rolecast.benchmarks.result_table import read_rows

RESULTS: Final = Path(__file__).resolve().parents[3] / "docs/results"
DIALS: Final = (*DIALS_BY_TASK.values(), LONG_DIAL)


@pytest.mark.parametrize(
    "dial",
    [dial for dial in DIALS if (RESULTS / f"{dial.stem}.json").exists()],
    ids=lambda dial: dial.stem,
)
def test_the_committed_page_is_made_from_the_committed_rows(dial: Dial) -> None:
    rows = read_rows(RESULTS / f"{dial.stem}.json")
    page = report(dial, rows, speed=speed_section(dial, rows, RESULTS))
    assert (RESULTS / f"{dial.stem}.md").read_text() == page
    (budget,) = {row["budget"] for row in rows}
    assert budget == dial.experiment.env_steps
    keys = {trial.key for trial in dial_trials(dial, dial.experiment.seeds)}
    assert {row["key"] for row in rows} <= keys


def test_the_readme_is_made_from_the_committed_rows() -> None:
    rows = read_rows(RESULTS / "dial.json")
    assert readme_region(TEAM_DIAL, rows) in (RESULTS.parents[1] / "README.md").read_text()


def test_what_the_readme_says_of_false_reward_is_in_the_committed_rows() -> None:
    rows = read_rows(RESULTS / "dial.json")
    learner, search = (
        returns_of(TEAM_DIAL, rows)[name] for name in ("facmac_symmetries", "dss_gp_ucb")
    )
    readme = (RESULTS.parents[1] / "README.md").read_text()
    said = "has the wrong sign (the search {:.0f}), and {:.0f} where nine in ten are lost ({:.0f})"
    earned = (search["flip=0.2"], learner["drop=0.9"], search["drop=0.9"])
    flipped = np.mean(learner["flip=0.2"])
    assert f"told the task's symmetries, earns {flipped:.0f} where one reward in five" in readme
    assert said.format(*map(np.mean, earned)) in readme
