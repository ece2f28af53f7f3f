import math
from dataclasses import FrozenInstanceError
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rolecast.core.errors import ConfigError
from rolecast.envs.rewards.settings import REWARD_OPTIONS, RewardSettings, split_options

ANY = st.builds(
    RewardSettings,
    sparse=st.integers(1, 30),
    delay=st.integers(0, 30),
    noise=st.floats(0.0, 9.0),
    flip=st.floats(0.0, 1.0),
    drop=st.floats(0.0, 1.0),
    survival=st.floats(0.0, 1.0),
    flush_on_end=st.booleans(),
)


@pytest.mark.parametrize(
    ("field", "value", "expected"),
    [
        ("sparse", 0, "an integer >= 1"),
        ("sparse", -5, "an integer >= 1"),
        ("sparse", 2.0, "an integer >= 1"),
        ("sparse", True, "an integer >= 1"),
        ("delay", -1, "an integer >= 0"),
        ("delay", "20", "an integer >= 0"),
        ("noise", -0.1, "a number from 0 to 1e30"),
        ("noise", 1e39, "a number from 0 to 1e30"),
        ("noise", math.inf, "a number from 0 to 1e30"),
        ("noise", 1e308, "a number from 0 to 1e30"),
        ("noise", math.nan, "a number from 0 to 1e30"),
        ("flip", 1.1, "a probability in [0, 1]"),
        ("flip", True, "a probability in [0, 1]"),
        ("drop", -0.1, "a probability in [0, 1]"),
        ("drop", None, "a probability in [0, 1]"),
        ("survival", 1.5, "a share in [0, 1]"),
        ("survival", -0.5, "a share in [0, 1]"),
        ("survival", False, "a share in [0, 1]"),
        ("flush_on_end", 1, "true or false"),
    ],
)
def test_a_setting_out_of_its_range_is_named(field: str, value: Any, expected: str) -> None:
    with pytest.raises(ConfigError) as refused:
        RewardSettings(**{field: value})
    assert str(refused.value) == f"RewardSettings.{field} is {value!r}; expected {expected}"


def test_settings_are_frozen() -> None:
    with pytest.raises(FrozenInstanceError):
        RewardSettings().sparse = 3  # type: ignore[misc]  # what is tested


@given(settings=ANY)
def test_settings_and_options_turn_into_each_other(settings: RewardSettings) -> None:
    mine, others = split_options({"level": 2, **settings.options})
    assert mine == settings
    assert others == {"level": 2}
    assert settings.options.keys() <= set(REWARD_OPTIONS)


def test_nothing_changes_by_default_nor_by_a_flush_alone() -> None:
    assert not RewardSettings(sparse=1, delay=0, noise=0).change_something
    assert not RewardSettings(flush_on_end=True).change_something
    assert RewardSettings(delay=1).change_something
    assert RewardSettings(survival=0).change_something


@pytest.mark.parametrize(("sparse", "delay", "step"), [(1, 0, 1), (5, 0, 5), (1, 5, 6), (5, 5, 10)])
def test_the_first_payment_is_known(sparse: int, delay: int, step: int) -> None:
    settings = RewardSettings(sparse=sparse, delay=delay)
    assert settings.first_payment() == step
    assert settings.pays_within(step)
    assert not settings.pays_within(step - 1)
    assert RewardSettings(sparse=sparse, delay=delay, flush_on_end=True).pays_within(1)
    assert not RewardSettings(sparse=sparse, drop=1.0).pays_within(99)
