import doctest
import json
from typing import Any

import numpy as np
import pytest

from rolecast.core import validation
from rolecast.core.errors import ConfigError, RequestError
from rolecast.envs.registry import make_task
from rolecast.platform.optimizers.registry import optimizer_config
from rolecast.platform.rollout.held_out import HeldOut
from rolecast.platform.search.planning.config import DEFAULT_ENV_STEPS, SearchConfig
from rolecast.policies.registry import make_policy


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


def test_numbers_of_numpy_are_those_of_python() -> None:
    """As seeds and sizes come from an array; JSON has no others."""
    assert doctest.testmod(validation) == (0, 2)
    given: Any = {"seed": np.int64(3), "evaluations": np.int64(50), "confirm_share": np.float32(0)}
    nested: Any = {"policy_options": {"hidden": [np.int64(4)]}, "step_timeout": np.float64(5.0)}
    config = SearchConfig(task="pred_prey_3", **given, **nested)
    assert json.loads(json.dumps(config.to_json())) == config.to_json()
    assert make_task("pred_prey_3", sparse=np.int64(5)).spec.id == "pred_prey_3?sparse=5"
    cases: Any = np.int64(7)
    assert make_policy("mlp", make_task("pred_prey_3"), seed=cases, hidden=[cases])
    assert HeldOut(episodes=cases) == HeldOut(episodes=7)
    assert optimizer_config("cmaes", population=cases) == optimizer_config("cmaes", population=7)
    with pytest.raises(ConfigError, match=r"SearchConfig.seed is -1; expected an integer >= 0"):
        SearchConfig(task="pred_prey_3", seed=np.int64(-1))  # type: ignore[arg-type]


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
