"""The cost of a step at which two methods take as long, counted by hand."""

import pytest

from rolecast.benchmarks.dial.break_even import (
    Reached,
    break_even_section,
    break_even_us,
    learner_reaches,
    search_reaches,
)

SEARCHES = [
    {"arena": "hunt", "contestant": "dss_gp_ucb", "env_steps": budget, "seed": seed,
     "episode_return_mean": value, "search_seconds": seconds}
    for budget, seed, value, seconds in [
        (400, 0, 90.0, 1.0), (400, 1, 120.0, 3.0), (400, 2, 95.0, 2.0),
        (800, 0, 110.0, 4.0), (800, 1, 160.0, 6.0), (800, 2, 155.0, 5.0),
    ]
]  # fmt: skip


def learner(seed: int, *curve: tuple[int, float, float]) -> dict[str, object]:
    names = ("env_steps", "seconds", "test_return")
    points = [dict(zip(names, point, strict=True)) for point in curve]
    return {"task": "hunt", "contestant": "facmac", "seed": seed, "curve": points}


LEARNERS = [
    learner(0, (200, 10.0, 40.0), (400, 20.0, 155.0)),
    learner(1, (200, 12.0, 105.0), (600, 30.0, 90.0)),
]


def test_a_search_counts_with_the_smallest_budget_whose_median_is_there() -> None:
    assert search_reaches(SEARCHES, "hunt", "dss_gp_ucb", 95.0) == Reached(
        env_steps=400, seconds=2.0
    )
    assert search_reaches(SEARCHES, "hunt", "dss_gp_ucb", 100.0) == Reached(
        env_steps=800, seconds=5.0
    )
    assert search_reaches(SEARCHES, "hunt", "dss_gp_ucb", 170.0) is None


def test_a_learner_counts_with_its_first_seed() -> None:
    assert learner_reaches(LEARNERS, "hunt", "facmac", 100.0) == Reached(
        env_steps=200, seconds=12.0
    )
    assert learner_reaches(LEARNERS, "hunt", "facmac", 150.0) == Reached(
        env_steps=400, seconds=20.0
    )
    assert learner_reaches(LEARNERS, "hunt", "facmac", 156.0) is None


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


def test_the_section_has_the_returns_that_both_reach() -> None:
    text = break_even_section(SEARCHES, LEARNERS, "hunt")
    above = "the learner is ahead above"
    assert f"| 800 | 5.0 | facmac | 200 | 12.0 | {above} 11,667 µs a step |" in text
    assert f"| 800 | 5.0 | facmac | 400 | 20.0 | {above} 37,500 µs a step |" in text
    assert "| 175 |" not in text
    assert break_even_section([], LEARNERS, "hunt") == ""
