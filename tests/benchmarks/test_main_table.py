"""The result table: which trials it has, what it writes."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import rolecast
from rolecast.benchmarks.experiment_table import run_missing_trials
from rolecast.benchmarks.main_table import (
    FIRST_HEADING,
    MAIN_TABLE,
    REGION_BEGIN,
    REGION_END,
    ROBOTS_BEGIN,
    ROBOTS_END,
    main_trials,
    markdown,
    quick_main_trials,
    robots_markdown,
    seeds_of,
)
from rolecast.benchmarks.result_table import ROWS_SCHEMA, chosen, read_rows, write_rows
from rolecast.core.errors import RequestError
from rolecast.envs.registry import make_task
from rolecast.platform.cli.app import main
from rolecast.platform.optimizers.registry import optimizer_config
from rolecast.platform.rollout.held_out import held_out_seeds
from rolecast.platform.search.planning.config import SearchConfig
from rolecast.platform.tuning.methods import SearchMethod
from rolecast.policies.registry import make_policy
from rolecast.tune_configs.main_table import (
    ARS_SETTINGS,
    HOPPER_BUDGETS,
    LONG_BUDGETS,
    SWIMMER_BUDGETS,
    TABLE,
    TEAM_BUDGETS,
    TEAM_OPTIMIZERS,
    robot_optimizers,
)

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning:ray.*"),
    pytest.mark.filterwarnings("ignore::FutureWarning:ray.*"),
]


@pytest.fixture(autouse=True)
def few_yardstick_episodes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rolecast.benchmarks.main_table.YARDSTICK_EPISODES", 100)


def row(contestant: str, env_steps: int, seed: int, value: float) -> dict[str, Any]:
    return {
        "key": f"{contestant}{env_steps}{seed}",
        "arena": "pred_prey_3",
        "contestant": contestant,
        "env_steps": env_steps,
        "seed": seed,
        "episode_return_mean": value,
        "episode_return_stderr": 1.0,
        "test_episodes": 50,
    }


ROWS = [row("local_gp", 400_000, seed, value) for seed, value in enumerate([10.0, 1.0, 20.0])]


def test_every_optimiser_meets_every_task_at_every_budget_with_every_seed() -> None:
    trials = main_trials(5)
    per_heading = [
        len(experiments) * len(experiments[0].methods) * 5 for experiments in TABLE.values()
    ]
    assert len(trials) == len({trial.key for trial in trials}) == sum(per_heading)
    names = {each.name for experiments in TABLE.values() for each in experiments}
    assert len(names) == sum(map(len, TABLE.values()))
    budgets = {tuple(each.env_steps for each in experiments) for experiments in TABLE.values()}
    assert budgets == {
        TEAM_BUDGETS,
        HOPPER_BUDGETS,
        HOPPER_BUDGETS[:1],
        SWIMMER_BUDGETS,
        LONG_BUDGETS,
    }


@pytest.mark.parametrize(
    "method", [*TEAM_OPTIMIZERS, *robot_optimizers("swimmer")], ids=lambda each: each.label
)
def test_every_optimiser_can_be_built(method: SearchMethod) -> None:
    optimizer_config(method.optimizer, **method.optimizer_settings)
    SearchConfig(task="pred_prey_3", optimizer=method.optimizer)
    make_policy("hom", make_task("pred_prey_3"), **method.policy_options)


def test_weights_are_tied_on_symmetric_tasks_alone() -> None:
    for experiments in TABLE.values():
        (task,) = experiments[0].tasks
        for method in experiments[0].methods:
            assert isinstance(method, SearchMethod)
            tied = method.policy_options.get("tied_weights")
            assert not tied or make_task(task).spec.symmetries


def test_every_robot_is_paid_no_bonus_and_has_normalised_observations() -> None:
    robots = [each for part in TABLE.values() for each in part if each.methods[0].policy != "hom"]
    assert len(robots) == 9
    for experiment in robots:
        (reward,) = experiment.rewards
        assert "survival=0" in reward or experiment.tasks == ("swimmer",)
        for method in experiment.methods:
            assert isinstance(method, SearchMethod)
            assert method.policy == "linear"
            normalise = "none" if method.label == "ars, raw observations" else "running"
            assert method.policy_options == {"normalise": normalise}


@pytest.mark.parametrize("task", ARS_SETTINGS)
def test_the_noise_of_ars_on_weights_is_its_authors(task: str) -> None:
    """Nu is 0.025, and 0.01 on a swimmer: a cube's side is the range of a weight."""
    space = make_policy("linear", make_task(task)).space
    _, settings = ARS_SETTINGS[task]
    config: Any = optimizer_config("ars", **settings)
    sigma = config.first_spread(space.dimension)
    weight = space.weights(np.full(space.dimension, 0.5 + sigma))
    np.testing.assert_allclose(weight, 0.01 if task == "swimmer" else 0.025)


@pytest.mark.parametrize(
    ("filters", "count"),
    [
        (["task=pred_prey_3"], len(TEAM_BUDGETS) * len(TEAM_OPTIMIZERS) * 2),
        (
            ["task=pred_prey_3", "optimizer=random", "optimizer=gp_ucb", "seed=1"],
            2 * len(TEAM_BUDGETS),
        ),
        (["task=hopper", "optimizer=dss_gp_ucb", "env_steps=250000", "seed=0"], 1),
    ],
)
def test_filters_of_a_kind_are_alternatives_and_kinds_agree(filters: list[str], count: int) -> None:
    assert len(chosen(main_trials(2), filters, MAIN_TABLE.kinds)) == count


@pytest.mark.usefixtures("ray_cluster")
def test_a_row_is_what_a_search_by_hand_finds(tmp_path: Path) -> None:
    """The same search again by `rolecast.search`, scored by `rolecast.evaluate`."""
    trials = chosen(quick_main_trials(), ["optimizer=random"], MAIN_TABLE.kinds)
    (found,) = run_missing_trials(
        trials, tmp_path / "main.json", MAIN_TABLE, processes=1, note=lambda _: None
    )
    rolecast.search(
        "pred_prey_3",
        optimizer="random",
        env_steps=20_000,
        seed=0,
        workers=0,
        test_episodes=1,
        out=str(tmp_path / "run"),
    )
    scored = rolecast.evaluate(tmp_path / "run", episodes=50)
    assert found["episode_return_mean"] == scored.episode_return_mean
    assert found["episode_return_stderr"] == scored.episode_return_stderr
    assert (found["env_steps"], found["test_episodes"]) == (20_000, 50)
    assert found["held_out_set"] == "development"


def test_a_row_of_the_table_is_scored_on_the_sealed_set() -> None:
    for trial in main_trials(1):
        sealed = held_out_seeds("sealed", 0, 20)
        np.testing.assert_array_equal(trial.experiment.held_out_seeds(20), sealed)


def test_the_page_says_which_set_its_rows_are_of(tmp_path: Path) -> None:
    sealed = [each | {"held_out_set": "sealed"} for each in ROWS]
    MAIN_TABLE.write(sealed, tmp_path)
    assert "over 50 held-out episodes of the sealed set." in (tmp_path / "main.md").read_text()
    MAIN_TABLE.write([*ROWS, *sealed[:1]], tmp_path)
    assert "which do not compare" in (tmp_path / "main.md").read_text()
    old = ROWS[0] | {"key": main_trials(1)[0].key}
    MAIN_TABLE.write([old, *ROWS], tmp_path)
    terms = "All 1 rows are of other held-out episodes than the table now has. `--fresh` makes"
    assert terms in (tmp_path / "main.md").read_text()


@pytest.mark.parametrize(("words", "left"), [([], 2), (["--fresh"], 1)])
def test_a_fresh_table_begins_without_the_rows_that_it_makes(
    words: list[str], left: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trials = chosen(quick_main_trials(), ["optimizer=random"], MAIN_TABLE.kinds)
    path = tmp_path / "main.json"
    write_rows(path, [ROWS[0] | {"key": trials[0].key}, ROWS[1]])
    nothing = SimpleNamespace(require_success=lambda: None)
    monkeypatch.setattr("rolecast.benchmarks.experiment_table.compare", lambda *_, **__: nothing)
    only = ["--only", "optimizer=random", "--out", str(tmp_path)]
    assert main(["bench", "main", "--quick", *only, *words]) == 0
    assert len(read_rows(path)) == left


def test_a_results_file_of_another_schema_is_refused(tmp_path: Path) -> None:
    (tmp_path / "main.json").write_text(json.dumps({"schema": ROWS_SCHEMA + 1, "cells": []}))
    with pytest.raises(RequestError, match=f"schema {ROWS_SCHEMA + 1}; expected {ROWS_SCHEMA}"):
        read_rows(tmp_path / "main.json")


def test_the_table_prints_the_median_and_each_seed() -> None:
    table = markdown(seeds_of(ROWS, "pred_prey_3"), each_seed=True)
    assert "| optimiser | 400k |" in table
    assert "| local_gp | **10.0** [10 1 20] |" in table


def test_a_page_gets_its_region_and_keeps_the_rest(tmp_path: Path) -> None:
    page = tmp_path / "results.md"
    regions = f"{REGION_BEGIN}\nold\n{REGION_END}\n{ROBOTS_BEGIN}\nold\n{ROBOTS_END}\n"
    page.write_text(f"before\n{regions}after\n")
    written = MAIN_TABLE.write(ROWS, tmp_path, page)
    names = ["main.json", "main.csv", "main.md", "main.png", "results.md"]
    assert [file.name for file in written] == names
    assert all(file.is_file() for file in written[1:])
    text = page.read_text()
    assert text.startswith("before\n")
    assert text.endswith("after\n")
    assert "old" not in text
    assert "| local_gp | **10.0** |" in text


@pytest.mark.parametrize("name", ["--page", "--readme"])
def test_the_page_is_named_as_before_too(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages: list[Path | None] = []
    monkeypatch.setattr(
        "rolecast.benchmarks.app.run_trials",
        lambda table, trials, only, folder, page, **others: pages.append(page),
    )
    assert main(["bench", "main", "--quick", name, str(tmp_path)]) == 0
    assert pages == [tmp_path]


def test_a_page_is_filled_or_refused_though_the_first_heading_was_not_run(tmp_path: Path) -> None:
    page = tmp_path / "results.md"
    page.write_text(f"{REGION_BEGIN}\nold\n{REGION_END}\n{ROBOTS_BEGIN}\nold\n{ROBOTS_END}\n")
    hopper = [row("ars", 250_000, seed, 90.0) | {"arena": "hopper"} for seed in range(2)]
    assert page in MAIN_TABLE.write(hopper, tmp_path, page)
    text = page.read_text()
    assert f"`{FIRST_HEADING}` was not run." in text
    assert "| hopper | 250k |" in text
    assert "old" not in text
    with pytest.raises(RequestError, match=r"none\.md is no file"):
        MAIN_TABLE.write(hopper, tmp_path, tmp_path / "none.md")


def test_a_page_without_a_region_is_refused(tmp_path: Path) -> None:
    (tmp_path / "results.md").write_text("nothing here")
    with pytest.raises(RequestError, match="has no region"):
        MAIN_TABLE.write(ROWS, tmp_path, tmp_path / "results.md")
    assert [path.name for path in tmp_path.iterdir()] == ["results.md"]


def test_the_committed_page_has_the_medians_of_the_committed_rows() -> None:
    docs = Path(__file__).resolve().parents[2] / "docs"
    table = markdown(
        seeds_of(read_rows(docs / "results/main.json"), FIRST_HEADING), each_seed=False
    )
    assert table in (docs / "results.md").read_text()
    robots = robots_markdown(read_rows(docs / "results/main.json"))
    assert robots in (docs / "results.md").read_text()


def test_robots_are_compared_with_the_best_rival_by_seed() -> None:
    """A seed that one of the two lacks has no difference; five have an interval."""
    hopper = {"arena": "hopper", "env_steps": 250_000}
    ours = [row("dss_gp_ucb", 250_000, s, 100.0 + s) | hopper for s in range(6)]
    theirs = [row("ars", 250_000, s, 90.0 + 3 * s) | hopper for s in range(5)]
    weak = [row("random", 250_000, s, 1.0) | hopper for s in range(5)]
    line = robots_markdown([*weak, *ours, *theirs]).splitlines()[-1]
    columns = "| hopper | 250k | **102**, 100 (6) | **96**, 90 (5) | **1**, 1 (5) |"
    assert line.startswith(columns)
    assert line.endswith("| ars: 6 (2 to 10) |")  # 10 8 6 4 2: 6 +- 2.776 sqrt(10 / 5) = 3.93
    few = robots_markdown([*ours[:2], *theirs[:2]]).splitlines()[-1]
    assert few.endswith("| ars: 2 seeds |")
