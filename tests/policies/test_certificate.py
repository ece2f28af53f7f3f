"""Certificates are shown for the weights that they were made for, a line a bound."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rolecast.core.errors import RequestError
from rolecast.core.files import read_json, write_json
from rolecast.envs.spec import TaskSpec
from rolecast.policies.artefact import POLICY_FILE, load_policy, save_policy
from rolecast.policies.certificate import (
    CERTIFICATE_KEY,
    RETURN_NAME,
    bound_text,
    certificate_sentence,
    certified_bounds,
    settings_digest,
    valid_certificate,
    weights_digest,
)
from rolecast.policies.registry import make_policy

TASK = TaskSpec(id="one", agents=1, observation_size=2, action_size=1, horizon=5)

WEIGHTS = np.arange(3.0)

BOUND = {"mean": 3.0, "at_least": 2.5, "method": "a method; on a condition"}
EXTRA: dict[str, Any] = {
    CERTIFICATE_KEY: {
        "weights_sha256": weights_digest(WEIGHTS),
        "confidence": 0.99,
        "episodes": 400,
        "episode_return": BOUND,
        "rates": {"solved": {**BOUND, "at_least": 0.123456}},
    }
}


def test_a_sentence_a_bound_names_confidence_episodes_and_method() -> None:
    assert certificate_sentence(EXTRA[CERTIFICATE_KEY]) == (
        "Mean return at least 2.50 with confidence 0.99 (400 episodes, a method).\n"
        "Rate of solved at least 0.1234 with confidence 0.99 (400 episodes, a method)."
    )


def test_the_range_on_which_a_bound_rests_is_told() -> None:
    told = certificate_sentence(EXTRA[CERTIFICATE_KEY] | {"returns_within": [0.0, 1000.0]})
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
    assert valid_certificate({"extra": EXTRA}, WEIGHTS) == EXTRA[CERTIFICATE_KEY]
    assert valid_certificate({"extra": EXTRA}, WEIGHTS + 1.0) is None
    assert valid_certificate({}, WEIGHTS) is None
    assert certificate_sentence(None) is None


def test_a_certificate_of_other_options_or_another_task_is_not_shown(tmp_path: Path) -> None:
    policy = make_policy("linear", TASK)
    save_policy(tmp_path, policy, np.zeros(policy.space.size), TASK)
    stored = read_json(tmp_path / POLICY_FILE)
    certificate = EXTRA[CERTIFICATE_KEY] | {
        "weights_sha256": weights_digest(np.zeros(policy.space.size)),
        "settings_sha256": settings_digest(stored),
    }
    stored["extra"] = {CERTIFICATE_KEY: certificate}
    for changed, told in (
        (stored, certificate),
        (stored | {"options": stored["options"] | {"output_gain": 3.0}}, None),
        (stored | {"task": stored["task"] | {"id": "two"}}, None),
    ):
        write_json(tmp_path / POLICY_FILE, changed)
        assert load_policy(tmp_path).certificate == told


@pytest.mark.parametrize("field", ["weights_sha256", "confidence", "episodes", "rates"])
def test_a_certificate_without_a_field_is_refused(field: str, tmp_path: Path) -> None:
    policy = make_policy("constant", TASK)
    certificate = {name: value for name, value in EXTRA[CERTIFICATE_KEY].items() if name != field}
    save_policy(tmp_path, policy, np.zeros(1), TASK, {CERTIFICATE_KEY: certificate})
    with pytest.raises(RequestError, match=f"is damaged: a field is missing or wrong .*{field}"):
        load_policy(tmp_path)


@pytest.mark.parametrize(
    "extra",
    [[1], "text", {CERTIFICATE_KEY: 3}, {CERTIFICATE_KEY: {**EXTRA[CERTIFICATE_KEY], "rates": 1}}],
)
def test_extra_data_of_another_kind_are_refused(extra: Any, tmp_path: Path) -> None:
    save_policy(tmp_path, make_policy("constant", TASK), np.zeros(1), TASK)
    written = read_json(tmp_path / POLICY_FILE)
    write_json(tmp_path / POLICY_FILE, {**written, "extra": extra})
    with pytest.raises(RequestError, match="is damaged: a field is missing or wrong"):
        load_policy(tmp_path)


def test_all_bounds_are_told() -> None:
    certificate = EXTRA[CERTIFICATE_KEY]
    assert [name for name, _ in certified_bounds(certificate)] == ["mean return", "rate of solved"]
