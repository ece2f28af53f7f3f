"""Certificates are shown for the weights that they were made for, a line a bound."""

from rolecast.policies.certificate import (
    CERTIFICATE_KEY,
    certificate_sentence,
    certified_bounds,
    valid_certificate,
)

BOUND = {"mean": 3.0, "at_least": 2.5, "method": "a method; on a condition"}
EXTRA = {
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
        "Rate of solved at least 0.1235 with confidence 0.99 (400 episodes, a method)."
    )


def test_a_certificate_of_other_weights_is_not_shown() -> None:
    assert valid_certificate(EXTRA, "other") is None
    assert certificate_sentence(EXTRA, "other") is None
    assert certificate_sentence({}, "mine") is None


def test_all_bounds_are_told() -> None:
    certificate = valid_certificate(EXTRA, "mine")
    assert certificate is not None
    assert [name for name, _ in certified_bounds(certificate)] == ["mean return", "rate of solved"]
