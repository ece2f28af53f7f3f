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


@pytest.mark.parametrize("dial", DIALS, ids=lambda dial: dial.stem)
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


def test_what_readme_and_results_say_of_more_steps_is_in_the_committed_rows() -> None:
    rows = read_rows(RESULTS / "dial_long.json")
    learner, search = (
        returns_of(LONG_DIAL, rows)[name] for name in ("facmac_symmetries", "dss_gp_ucb")
    )
    (dense,), (late,) = learner["dense"], learner["delay=12"]
    ours = {reward: float(np.mean(each)) for reward, each in search.items()}
    readme = (RESULTS.parents[1] / "README.md").read_text()
    assert f"({dense:.0f} and {ours['dense']:.0f}, one seed)" in readme
    said = f"earns {dense:.0f} with dense and {late:.0f} with late reward (one seed each), the"
    both = f"search {ours['dense']:.0f} and {ours['delay=12']:.0f}, and"
    bounds = f"{min(ours.values()):.0f} to {max(ours.values()):.0f} under every other reward"
    assert f"{said} {both} {bounds}" in (RESULTS.parent / "results.md").read_text()
