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


def test_what_readme_and_results_say_of_more_steps_is_in_the_committed_rows() -> None:
    rows = read_rows(RESULTS / "dial_long.json")
    learner, search = (
        returns_of(LONG_DIAL, rows)[name] for name in ("facmac_symmetries", "dss_gp_ucb")
    )
    theirs, ours = (
        {reward: float(np.mean(each)) for reward, each in found.items()}
        for found in (learner, search)
    )
    led = ("dense", "flip=0.2", "drop=0.5")
    dense, false, half = (round(theirs[reward]) for reward in led)
    readme = (RESULTS.parents[1] / "README.md").read_text()
    least, most = (round(bound(ours[reward] for reward in led)) for bound in (min, max))
    ahead = "is ahead with dense, false and half lost reward"
    assert f"{ahead} ({dense}, {false} and {half}, the search {least} to {most})" in readme
    behind = {reward for reward in theirs if theirs[reward] < ours[reward]}
    assert behind == {"sparse=25", "delay=5", "delay=12", "noise=12.0", "drop=0.9"}
    results = (RESULTS.parent / "results.md").read_text()
    said = f"with dense reward ({dense} and {ours['dense']:.0f}, means of three) and, means of two"
    assert f"{said}, with little noise, false and half lost reward" in results
    assert f"reward ({theirs['noise=3.0']:.0f}, {false} and {half})" in results
    seeds = ", ".join(f"{each:.0f}" for each in learner["delay=12"])
    late = f"12 steps late it earns {theirs['delay=12']:.0f} (three seeds: {seeds}), 5 steps late "
    rest = f"once an episode {theirs['sparse=25']:.0f}, with much noise {theirs['noise=12.0']:.0f} "
    rest += f"(one seed each), with nine in ten lost {theirs['drop=0.9']:.0f} (two)."
    counts = {reward: len(each) for reward, each in learner.items()}
    assert counts["dense"] == counts["delay=12"] == 3
    assert {counts[reward] for reward in ("noise=3.0", "flip=0.2", "drop=0.5", "drop=0.9")} == {2}
    assert {counts[reward] for reward in ("sparse=25", "delay=5", "noise=12.0")} == {1}
    assert f"{late}{theirs['delay=5']:.0f}, {rest}" in results
    bounds = f"{min(ours.values()):.0f} to {max(ours.values()):.0f} under every reward (three)"
    assert f"The search earns {bounds}" in results
