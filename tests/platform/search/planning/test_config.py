import json
from typing import Any

import pytest

from rolecast.core.errors import ConfigError, RequestError
from rolecast.platform.search.planning.config import DEFAULT_ENV_STEPS, SearchConfig


def test_a_config_survives_the_way_through_json() -> None:
    config = SearchConfig(
        task="pred_prey_3",
        evaluations=50,
        seed=3,
        workers=0,
        policy_options={"role_assignment": False},
        optimizer_settings={"window": 100},
    )
    assert SearchConfig.from_json(json.loads(json.dumps(config.to_json()))) == config


def test_without_a_budget_there_is_the_usual_one() -> None:
    assert SearchConfig(task="pred_prey_3").env_steps == DEFAULT_ENV_STEPS


def test_two_budgets_are_one_too_many() -> None:
    with pytest.raises(RequestError, match="expected only one of them"):
        SearchConfig(task="pred_prey_3", env_steps=10, evaluations=10)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("env_steps", 0),
        ("env_steps", -5),
        ("evaluations", 0),
        ("episodes", 0),
        ("batch_size", 1.5),
        ("seed", -1),
        ("workers", -1),
        ("test_episodes", True),
        ("confirm_share", 0.9),
        ("confirm_share", float("nan")),
        ("policy", ""),
    ],
)
def test_a_wrong_setting_is_named_with_its_value(field: str, value: Any) -> None:
    with pytest.raises(ConfigError) as caught:
        SearchConfig(**{"task": "pred_prey_3", field: value})
    assert caught.value.field == f"SearchConfig.{field}"
    assert caught.value.value is value


def test_an_unknown_setting_is_refused_with_the_nearest() -> None:
    with pytest.raises(RequestError, match="did you mean 'episodes'"):
        SearchConfig.from_json({"task": "pred_prey_3", "episode": 3})
