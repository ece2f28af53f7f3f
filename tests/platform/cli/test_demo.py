"""The sentence with which the demo ends."""

import pytest

from rolecast.platform.cli.demo import verdict


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
