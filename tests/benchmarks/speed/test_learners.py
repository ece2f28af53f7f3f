"""The speed table of the learners times all sides in turn and compares them within rounds."""

import statistics
from copy import deepcopy
from typing import Any

import pytest
import torch

from rolecast.benchmarks.speed.learners import (
    RATIO_GOALS,
    compared_loops,
    markdown,
    measure_all,
    ratio_rows,
)
from rolecast.benchmarks.speed.learning_loops import (
    ALONE,
    BARE_LEARNERS,
    BARE_LOOP,
    LOOP,
    STOCK,
    LearningLoop,
    Memory,
)
from rolecast.benchmarks.timing import CLOCK_NAMES, Speed


@pytest.fixture(scope="module")
def results(ray_cluster: str) -> dict[str, Any]:
    """All that is measured, quickly, once."""
    return measure_all(quick=True, note=lambda _: None)


def side(what: str, pace: int) -> LearningLoop:
    return LearningLoop(algorithm="sac", hidden=(8, 8), what=what, take=lambda: pace)


@pytest.mark.filterwarnings("ignore::DeprecationWarning:ray")
def test_every_side_has_its_rounds_by_both_clocks(results: dict[str, Any]) -> None:
    whats = {(each["algorithm"], each["what"]) for each in results["sides"].values()}
    assert whats == {
        *(("sac", what) for what in (LOOP, ALONE, BARE_LOOP, STOCK)),
        *(("maddpg", what) for what in (LOOP, ALONE)),
    }
    for each in results["sides"].values():
        for clock in CLOCK_NAMES:
            rounds = each[clock]["rounds"]
            assert len(rounds) == results["rounds"] == 2
            assert each[clock]["median"] == pytest.approx(statistics.median(rounds), rel=1e-2)
    assert "ray" in results["machine"]["versions"]
    page = markdown(results)
    assert all(name in page for name in results["sides"])
    begin, end = results["loads"]
    assert begin > 0.0
    assert end > 0.0
    assert " at begin, " in page


def test_our_loop_is_faster_than_rllibs_even_where_nets_are_tiny(results: dict[str, Any]) -> None:
    told = {(ratio["side"], ratio["to"]): ratio for ratio in results["ratios"]}
    ours = told["sac, 8-8, whole loop", "sac, 8-8, RLlib's SAC"]
    assert ours["goal"] == RATIO_GOALS[STOCK]
    assert ours["processor"]["median"] > 3.0


def test_ratios_are_within_rounds_and_goals_are_for_whole_loops() -> None:
    """By hand: 30 against 10 and 8 against 4 are 3 and 2, though the medians are 19 and 7."""
    sides = [side(LOOP, 1), side(ALONE, 1), side(STOCK, 1)]
    names = [each.name for each in sides]
    timed = {
        name: [Speed(processor=speed, wall=speed) for speed in rounds]
        for name, rounds in zip(names, ([30.0, 8.0], [10.0, 4.0], [10.0, 4.0]), strict=True)
    }
    told = list(compared_loops(sides, timed))
    assert [ratio["processor"]["rounds"] for ratio in told] == [[3.0, 2.0], [1.0, 1.0]]
    assert [ratio["goal"] for ratio in told] == [10.0, None]
    row = ratio_rows({"ratios": told})[0]
    assert row[2:4] == ("2.5", "2.0 to 3.0")
    assert row[-1] == "no"


@pytest.mark.parametrize("name", BARE_LEARNERS)
def test_the_bare_loops_learn(name: str) -> None:
    """What they are timed at is the real thing: the error of a value that is known falls.

    Rewards are 1 and nothing follows, so every value is 1.
    """
    torch.manual_seed(0)
    memory = Memory(3, 1, 32)
    memory.rewards.fill_(1.0)
    memory.going_on.zero_()
    bare = BARE_LEARNERS[name](memory, (32, 32))
    start = deepcopy(bare.critics)
    for _ in range(500):
        bare.update()
    rows = torch.randn(500, 4)
    with torch.no_grad():
        before, after = (
            [float((net(rows) - 1.0).square().mean()) for net in nets]
            for nets in (start, bare.critics)
        )
    assert all(late < 0.1 * early for early, late in zip(before, after, strict=True))
