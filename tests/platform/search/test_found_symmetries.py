"""A search that looks for symmetries: what it records, what it costs, and that it repeats."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rolecast
from rolecast.core.errors import ConfigError
from rolecast.platform.reports.folder import Run
from rolecast.platform.search.planning.config import SearchConfig
from rolecast.platform.search.planning.plan import make_plan, remarks
from rolecast.platform.search.progress import Silent
from rolecast.platform.search.records.history import Kind
from rolecast.platform.search.records.run_folder import RunFolder
from rolecast.platform.search.run import SearchInterrupted, resume, search

FOUND: dict[str, Any] = {
    "policy_options": {"symmetries": "found"},
    "optimizer": "local_gp",
    "env_steps": 60_000,
    "episodes": 4,
    "batch_size": 40,
    "seed": 3,
    "workers": 0,
    "test_episodes": 20,
}


def config(**changes: Any) -> SearchConfig:
    given = {name: value for name, value in FOUND.items() if name != "workers"}
    return SearchConfig(task="pred_prey_3", **{**given, **changes})


def test_the_plan_records_what_was_found_and_pays_for_it() -> None:
    plan = make_plan(config())
    found = plan.config.policy_options["symmetries"]
    assert [each["action"] for each in found] == [(-1, 2), (1, -2), (2, 1)]
    assert 2_400 <= plan.config.random_play_steps <= 6_000
    assert plan.budget.random_play_steps == plan.config.random_play_steps
    assert plan.policy.space.ties is not None
    (said,) = remarks(plan)
    assert said == (
        f"symmetries in {plan.config.random_play_steps:,} env steps of random play (3): found, "
        "actions -1, 2; found, actions 1, -2; found, actions 2, 1"
    )


def test_a_plan_of_what_was_found_plays_nothing_again() -> None:
    first = make_plan(config())
    again = make_plan(SearchConfig.from_json(first.config.to_json()))
    assert again.config == first.config
    ties = (first.policy.space.ties, again.policy.space.ties)
    assert ties[0] is not None
    np.testing.assert_array_equal(*ties)


def test_a_search_goes_on_after_an_interruption_with_what_it_has_found(
    tmp_path: Path,
    same_history: Callable[[Path, Path], None],
    interrupts_after: Callable[[int], Silent],
) -> None:
    search("pred_prey_3", out=tmp_path / "whole", **FOUND)
    with pytest.raises(SearchInterrupted):
        search("pred_prey_3", out=tmp_path / "cut", progress=interrupts_after(3), **FOUND)
    resume(tmp_path / "cut")
    same_history(tmp_path / "whole", tmp_path / "cut")
    folder = RunFolder(tmp_path / "whole")
    steps = folder.read_run()["search"]["random_play_steps"]
    spent = int(folder.read_batches()[-1].env_steps[-1])
    assert 0.9 * FOUND["env_steps"] < spent + steps <= FOUND["env_steps"]
    assert rolecast.load_policy(tmp_path / "whole").policy.space.ties is not None
    told = [
        json.loads((folder.path / name).read_text()) for name in ("summary.json", "status.json")
    ]
    assert [each["env_steps"] for each in told] == [spent + steps] * 2
    run = Run.read(tmp_path / "whole")
    assert run.env_steps() == run.curve(*Kind).env_steps[-1] == spent + steps


def test_in_a_budget_too_small_for_random_play_none_are_found() -> None:
    plan = make_plan(config(env_steps=20_000))
    assert plan.config.policy_options["symmetries"] == []
    assert plan.config.random_play_steps == 0
    assert plan.policy.space.ties is None
    assert remarks(plan) == [
        "weights follow no symmetries: none are given, or the budget is too small to look"
    ]


def test_a_request_is_checked_without_playing() -> None:
    plan = make_plan(
        config(policy_options={"symmetries": "found", "tied_weights": True}), play=False
    )
    assert plan.config.random_play_steps == 0
    assert plan.policy.space.ties is None


@pytest.mark.parametrize(
    ("symmetries", "message"),
    [
        ("all", "one of 'declared', 'found', or a list of symmetries"),
        (3, "one of 'declared', 'found', or a list of symmetries"),
        ([{"name": "x"}], "a list of mappings with name, observation and action"),
        (["x"], "a list of mappings with name, observation and action"),
        ([{"name": "x", "observation": [1, 1], "action": [1]}], "each of 1..m once"),
        ([{"name": "x", "observation": [1], "action": [1]}], "16 observed and 2 acted"),
    ],
)
def test_wrong_symmetries_are_refused(symmetries: object, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        make_plan(config(policy_options={"symmetries": symmetries}))


def test_outside_of_a_search_nothing_is_looked_for() -> None:
    with pytest.raises(ConfigError, match="'declared' or a list outside of a search"):
        rolecast.make_policy("hom", rolecast.make_task("pred_prey_3"), symmetries="found")
