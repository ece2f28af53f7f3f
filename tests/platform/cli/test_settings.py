"""`--set` finds the part that a key belongs to, and the value that a text means."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rolecast.platform.cli.documented import field_texts, settings_of
from rolecast.platform.cli.settings import SEARCH_PARTS, parse_settings, parse_value
from rolecast.platform.search.planning.config import SearchConfig
from rolecast.policies.hom.config import HomConfig


@pytest.mark.parametrize(
    ("word", "part", "key", "value"),
    [
        ("window=600", "optimizer", "window", 600),
        ("optimizer.window=600", "optimizer", "window", 600),
        ("policy.size=sm", "policy", "size", "sm"),
        ("policy.role_assignment=true", "policy", "role_assignment", True),
        ('policy.ranges={"first": 1.5}', "policy", "ranges", {"first": 1.5}),
        ("task.reward=a=b", "task", "reward", "a=b"),
        ("task.name=", "task", "name", ""),
    ],
)
def test_a_word_is_sorted_and_read(word: str, part: str, key: str, value: Any) -> None:
    expected: dict[str, dict[str, Any]] = {name: {} for name in SEARCH_PARTS}
    assert parse_settings([word]) == expected | {part: {key: value}}


@given(st.one_of(st.integers(), st.booleans(), st.text(alphabet="xyz -_", min_size=1)))
def test_values_come_back_as_they_were_written(value: Any) -> None:
    text = value if isinstance(value, str) else str(value).lower()
    assert parse_value(text) == value


@pytest.mark.parametrize("config", [SearchConfig, HomConfig])
def test_every_field_of_a_config_is_explained(config: type) -> None:
    assert [each.name for each in settings_of(config) if not each.text] == []


def test_texts_of_inherited_fields_are_found() -> None:
    assert "clipped" in field_texts(HomConfig)["observation_clip"]
