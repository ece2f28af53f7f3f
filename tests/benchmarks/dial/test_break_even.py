"""The cost of a step at which two methods take as long, counted by hand."""

from typing import Any

import pytest

from rolecast.benchmarks.dial.break_even import (
    Pace,
    Reached,
    break_even_section,
    break_even_us,
    median_steps,
    pace_of,
)

SEARCHES = [
    {"arena": "hunt", "contestant": "dss_gp_ucb", "env_steps": 400, "search_seconds": seconds}
    for seconds in (4.0, 2.0, 8.0)
]
LEARNERS = [
    {"task": "hunt", "contestant": "facmac", "curve": [{"env_steps": 200, "seconds": seconds}]}
    for seconds in (90.0, 40.0)
]


def trial(method: str, *curve: tuple[int, float], reward: str = "dense") -> dict[str, Any]:
    return {"method": method, "reward": reward, "budget": 800, "curve": [*map(list, curve)]}


ROWS = [
    trial("dss_gp_ucb", (400, 90.0), (800, 160.0)),
    trial("dss_gp_ucb", (400, 120.0), (800, 110.0)),
    trial("dss_gp_ucb", (300, 130.0), (800, 155.0)),
    trial("dss_gp_ucb", (100, 999.0), reward="delay=12"),
    trial("facmac_symmetries", (200, 101.0), (800, 100.0)),
    trial("facmac_symmetries", (100, 50.0), (300, 152.0)),
    trial("facmac_symmetries", (200, 40.0), (800, 60.0)),
    trial("dss_gp_ucb_no_symmetry", (800, 60.0)),
    trial("facmac", (700, 180.0)),
]


def test_the_median_seed_counts_where_it_first_has_the_return() -> None:
    assert median_steps(ROWS, "dss_gp_ucb", 100.0) == 400
    assert median_steps(ROWS, "dss_gp_ucb", 150.0) == 800
    assert median_steps(ROWS, "facmac_symmetries", 100.0) == 300
    assert median_steps(ROWS, "facmac_symmetries", 150.0) is None  # two of three never have it
    assert median_steps(ROWS, "cmaes", 1.0) is None


def test_the_fastest_rows_give_the_pace() -> None:
    assert pace_of(SEARCHES, LEARNERS, "hunt") == Pace(search=0.005, learner=0.2)
    assert pace_of(SEARCHES, LEARNERS, "elsewhere") is None
    assert pace_of(SEARCHES, [], "hunt") is None


@pytest.mark.parametrize(
    ("search", "learner", "expected"),
    [
        ((800, 5.0), (200, 12.0), 7.0e6 / 600),
        ((800, 15.0), (200, 12.0), None),
        ((200, 5.0), (200, 12.0), None),
        ((200, 5.0), (800, 1.0), 4.0e6 / 600),
        ((200, 5.0), (800, 12.0), None),
    ],
)
def test_both_take_as_long_at_the_break_even(
    search: tuple[int, float], learner: tuple[int, float], expected: float | None
) -> None:
    ours, theirs = (Reached(env_steps=n, seconds=s) for n, s in (search, learner))
    found = break_even_us(ours, theirs)
    assert found == (None if expected is None else pytest.approx(expected))
    if found:
        costs = [each.seconds + each.env_steps * found * 1e-6 for each in (ours, theirs)]
        assert costs[0] == pytest.approx(costs[1])


def test_the_section_compares_those_that_know_as_much() -> None:
    text = break_even_section(ROWS, SEARCHES, LEARNERS, "hunt")
    both = "| 100 | told to both | `dss_gp_ucb` | 400 | 2.0 | `facmac_symmetries` | 300 | 60.0 |"
    assert f"{both} the learner is ahead above 580,000 µs a step |" in text
    late = "`dss_gp_ucb` | 800 | 4.0 | `facmac_symmetries` | not within the budget | - |"
    assert f"| 150 | told to both | {late} none: the search is ahead |" in text
    plain = "`dss_gp_ucb_no_symmetry` | not within the budget | - | `facmac` | 700 | 140.0 |"
    bound = "the learner is ahead above 1,360,000 µs a step; below, not known"
    assert f"| 175 | none | {plain} {bound} |" in text
    assert "| 175 | told to both |" not in text
    assert "(`facmac`, 200,000 µs a step)" in text
    assert break_even_section(ROWS, [], LEARNERS, "hunt") == ""
    assert break_even_section([], SEARCHES, LEARNERS, "hunt") == ""


def test_a_method_that_is_cut_off_is_not_behind_at_every_cost() -> None:
    """Its 800 steps cost it 4 s: more of them may yet be cheaper than what the other took."""
    both = [trial("dss_gp_ucb_no_symmetry", (800, 60.0)), trial("facmac", (800, 180.0))]
    assert "| - | `facmac` | 800 | 160.0 | not known |" in break_even_section(
        both, SEARCHES, LEARNERS, "hunt"
    )
    alone = both[:1]
    assert break_even_section(alone, SEARCHES, LEARNERS, "hunt") == ""
