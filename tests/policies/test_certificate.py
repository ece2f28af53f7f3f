"""Certificates are shown for the weights that they were made for, a line a bound."""

from typing import Any

import pytest

from rolecast.policies.certificate import (
    CERTIFICATE_KEY,
    RETURN_NAME,
    bound_text,
    certificate_sentence,
    certified_bounds,
    valid_certificate,
)

BOUND = {"mean": 3.0, "at_least": 2.5, "method": "a method; on a condition"}
EXTRA: dict[str, Any] = {
    CERTIFICATE_KEY: {
        "weights_sha256": "mine",
        "confidence": 0.99,
        "episodes": 400,
        "episode_return": BOUND,
        "rates": {"solved": {**BOUND, "at_least": 0.123456}},
    }
}


def test_a_sentence_a_bound_names_confidence_episodes_and_method() -> None:
    assert certificate_sentence(EXTRA, "mine") == (
        "Mean return at least 2.50 with confidence 0.99 (400 episodes, a method).\n"
        "Rate of solved at least 0.1234 with confidence 0.99 (400 episodes, a method)."
    )


def test_the_range_on_which_a_bound_rests_is_told() -> None:
    within = {CERTIFICATE_KEY: EXTRA[CERTIFICATE_KEY] | {"returns_within": [0.0, 1000.0]}}
    told = certificate_sentence(within, "mine")
    assert told is not None
    first, second = told.splitlines()
    assert first.endswith("(400 episodes, a method, if every return is in [0, 1000]).")
    assert second.endswith("(400 episodes, a method).")


@pytest.mark.parametrize(
    ("name", "at_least", "text"),
    [
        (RETURN_NAME, 118.3961, "118.39"),
        (RETURN_NAME, -0.001, "-0.01"),
        ("rate of solved", 0.9999770, "0.9999"),
        ("rate of solved", 1.0, "1.0000"),
    ],
)
def test_a_lower_bound_is_rounded_down(name: str, at_least: float, text: str) -> None:
    assert bound_text(name, at_least) == text
    assert float(text) <= at_least


def test_a_certificate_of_other_weights_is_not_shown() -> None:
    assert valid_certificate(EXTRA, "other") is None
    assert certificate_sentence(EXTRA, "other") is None
    assert certificate_sentence({}, "mine") is None


def test_all_bounds_are_told() -> None:
    certificate = valid_certificate(EXTRA, "mine")
    assert certificate is not None
    assert [name for name, _ in certified_bounds(certificate)] == ["mean return", "rate of solved"]
