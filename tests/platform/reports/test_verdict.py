"""The sentence on top of a report says what the numbers under it say."""

import pytest

from rolecast.platform.reports.verdict import verdict, verdict_of
from rolecast.platform.search.records.measurements import Yardstick


def other(mean: float, stderr: float | None = 0.0) -> Yardstick:
    return Yardstick(name="chase", mean=mean, stderr=stderr)


@pytest.mark.parametrize(
    ("held", "against", "said"),
    [
        ((180.0, 3.0), (135.0, 4.0), "better than chase by 45 +- 5"),
        ((120.0, 3.0), (135.0, 4.0), "below chase by 15 +- 5"),
        ((140.0, 3.0), (135.0, 4.0), "level with chase (difference 5 +- 5)"),
        ((0.50, 0.02), (0.10, 0.02), "better than chase by 0.40 +- 0.03"),
        ((2.0, None), (1.0, 0.1), "above chase by 1.0 (no error is known)"),
        ((1.0, 0.1), (3.0, None), "below chase by 2.0 (no error is known)"),
        ((0.1 + 0.2, 0.0), (0.3, 0.0), "level with chase"),
        ((1.0, None), (1.0, None), "level with chase"),
    ],
)
def test_a_difference_counts_from_two_standard_errors_on(
    held: tuple[float, float | None], against: tuple[float, float | None], said: str
) -> None:
    assert said in verdict(*held, [other(*against)])


def test_yardsticks_stand_from_the_lowest_up() -> None:
    text = verdict(10.0, 0.1, [other(20.0), Yardstick(name="random", mean=1.0, stderr=0.0)])
    assert text.index("random") < text.index("chase")


def test_without_yardsticks_the_return_stands_alone() -> None:
    assert verdict(10.0, 0.1, []) == "Held-out return 10.0 +- 0.1."


def test_a_run_that_has_not_ended_has_no_verdict() -> None:
    assert "Not finished" in verdict_of(None, [other(1.0)])
