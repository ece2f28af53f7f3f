"""A search that is asked for again goes on, and never with the run of another search."""

from pathlib import Path
from typing import Any, Final

import pytest

from rolecast.core.errors import ConfigError, RequestError
from rolecast.platform.search.planning.config import SearchConfig
from rolecast.platform.search.planning.continuation import (
    begun_search,
    continuation,
    recorded_options,
)

STORED: Final = SearchConfig(
    task="pred_prey_3",
    task_options={"sparse": 5},
    seed=3,
    env_steps=4000,
    policy_options={"symmetries": [{"name": "a mirror"}]},
    optimizer_settings={"window": 600, "known_from_budget": 7},
    episodes=8,
).to_json()
"""Settings of a run."""

REQUEST: Final = {"task": "pred_prey_3?sparse=5", "seed": 3, "out": "runs/again"}


def test_the_same_request_changes_nothing() -> None:
    again = {
        "policy_options": {"symmetries": "found"},
        "optimizer_settings": {"window": 600},
        "env_steps": 4000,
    }
    found = continuation(REQUEST | again, STORED)
    assert {name: value for name, value in found.items() if value is not None} == {
        "task": "pred_prey_3?sparse=5"
    }


def test_more_budget_and_other_workers_are_passed_on() -> None:
    found = continuation(
        {"task": "pred_prey_3", "task_options": {"sparse": 5}, "evaluations": 90, "threads": 1}
        | {"workers": 8, "address": "head:6379", "failed_episodes": "lowest"},
        STORED,
    )
    assert {name: value for name, value in found.items() if value is not None} == {
        "task": "pred_prey_3?sparse=5",
        "evaluations": 90,
        "workers": 8,
        "threads": 1,
        "address": "head:6379",
        "failed_episodes": "lowest",
    }


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"seed": 4}, "seed is 4; expected 3, as of the run in --out, or another --out"),
        ({"episodes": 9}, "episodes is 9; expected 8"),
        ({"confirm_share": 0.1}, "confirm_share is 0.1; expected 0.02"),
        ({"optimizer_settings": {"window": 10}}, "window of optimizer_settings is 10"),
        ({"policy_options": {"symmetries": []}}, "symmetries of policy_options is "),
    ],
)
def test_another_search_is_refused(given: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ConfigError) as refused:
        continuation(REQUEST | given, STORED)
    assert str(refused.value).startswith(sentence)


def test_a_folder_is_needed_and_may_be_new_or_damaged(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match="--resume needs --out DIR"):
        begun_search(None)
    assert begun_search(tmp_path) is None
    (tmp_path / "run.json").write_text("{}")
    with pytest.raises(RequestError, match="is damaged: it has no settings"):
        begun_search(tmp_path)


def test_a_run_keeps_the_options_whose_defaults_have_changed() -> None:
    options = {"centre": "identity", "normalise": "none", "output_gain": 10.0, "seed": 3}
    kept = recorded_options({"policy": {"name": "hom", "options": options}})
    assert kept == {"centre": "identity", "output_gain": 10.0, "normalise_share": 1.0}
    assert recorded_options({}) == {}
