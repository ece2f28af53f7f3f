"""The ledger of the baselines: which trainings it has, what is written of them."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rolecast.benchmarks.ledger import (
    LEDGER_HEAD,
    LEDGER_SECTIONS,
    LEDGER_TABLE,
    REGION_BEGIN,
    REGION_END,
    by_learner,
    curve,
    ledger_result,
    ledger_row,
    ledger_trials,
    paper_text,
)
from rolecast.benchmarks.ledger_searches import searches_text
from rolecast.benchmarks.result_table import ROWS_SCHEMA, Row, chosen, read_rows, write_rows
from rolecast.benchmarks.table_trials import TrialEnd
from rolecast.core.errors import RequestError
from rolecast.envs.registry import make_task
from rolecast.envs.scripted import rollout_scripted
from rolecast.platform.cli.app import main
from rolecast.platform.reports.curves import training_curves
from rolecast.platform.rollout.held_out import held_out_seeds
from rolecast.platform.search.records.measurements import Yardstick
from rolecast.platform.tuning.methods import LearnerMethod
from rolecast.tune_configs.ledger import (
    GAME_TUNING,
    KNOWN_RETURNS,
    LEDGER_LEARNERS,
    TABLE,
    tuning_of,
)

HOPPER = "hopper, authors' nets"
POINTS: list[dict[str, Any]] = [
    {
        "env_steps": 255,
        "test_return": 1.0,
        "test_return_stderr": None,
        "wall_time_s": 2.04,
        "done": False,
    },
    {
        "env_steps": 505,
        "test_return": 3.0,
        "test_return_stderr": 0.5,
        "wall_time_s": 4.0,
        "done": True,
    },
]


def settings_of(heading: str, label: str) -> dict[str, Any]:
    method = LEDGER_SECTIONS[heading].method(label)
    assert isinstance(method, LearnerMethod)
    return dict(method.settings)


def test_every_learner_of_every_heading_has_a_training_a_seed() -> None:
    trials = ledger_trials(3)
    assert len({trial.key for trial in trials}) == len(trials)
    assert len(trials) == 3 * sum(len(each.methods) for (each,) in TABLE.values())
    assert {trial.method.label for trial in trials} == set(LEDGER_LEARNERS)
    assert set(KNOWN_RETURNS) == set(LEDGER_SECTIONS)
    for heading, known in KNOWN_RETURNS.items():
        assert set(known.published) <= {method.label for method in LEDGER_SECTIONS[heading].methods}


@pytest.mark.parametrize(
    ("filters", "count"),
    [
        (["arena=Pendulum-v1"], 15),
        (["contestant=independent ddpg", "seed=1"], 4),
        (["arena=hopper, small nets", "contestant=sac", "contestant=td3"], 6),
    ],
)
def test_filters_choose_trainings(filters: list[str], count: int) -> None:
    assert len(chosen(ledger_trials(3), filters, LEDGER_TABLE.kinds)) == count


def test_a_row_has_every_point_and_its_last_score() -> None:
    (trial,) = chosen(ledger_trials(1), ["arena=Pendulum-v1", "contestant=td3"], LEDGER_TABLE.kinds)
    end = TrialEnd(points=POINTS, parameters=7, seconds=5.0)
    found = ledger_result(trial, end)
    assert [point["env_steps"] for point in found["curve"]] == [255, 505]
    assert [point["test_return_stderr"] for point in found["curve"]] == [0.0, 0.5]
    assert (found["test_return"], found["test_episodes"], found["env_steps"]) == (3.0, 1000, 505)
    assert (found["train_seconds"], found["score_seconds"]) == (4.0, 1.0)
    assert found["parameters"] == 7
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    cut = TrialEnd(points=POINTS[:1], parameters=7, seconds=5.0)
    stopped = ledger_result(trial, cut)
    assert stopped["test_episodes"] == 100


def test_settings_and_tuning_of_a_game_are_those_of_all_who_learn_it(tmp_path: Path) -> None:
    told = settings_of("ridge", "facmac nonmonotonic")
    assert (told["updates_per_step"], told["mixer"]) == (1.0, "nonmonotonic")
    assert tuning_of("ridge", "maddpg") == GAME_TUNING
    assert "updates_per_step" not in settings_of("ridge, defaults", "maddpg")
    page = tmp_path / "page.md"
    page.write_text(f"{REGION_BEGIN}\n{REGION_END}\n")
    LEDGER_TABLE.write([row("maddpg", 0, 0.2, arena="ridge")], tmp_path, page)
    assert "`updates_per_step=1.0`, 4,000 env steps" in page.read_text()


def test_the_paper_is_quoted_for_its_own_nets_alone() -> None:
    papers = {
        (heading, method.label): paper_text(heading, method.label)
        for heading, experiment in LEDGER_SECTIONS.items()
        for method in experiment.methods
    }
    assert papers["hopper, small nets", "sac"] == "2775.66 (390.61) (table 4)"
    others = {text for (heading, _), text in papers.items() if heading != "hopper, small nets"}
    assert others == {"-"}


def test_the_page_names_rows_of_other_terms_than_the_ledger_now_has(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"{REGION_BEGIN}\n{REGION_END}\n")
    old = row("maddpg", 0, 0.2, arena="ridge")
    LEDGER_TABLE.write([old], tmp_path, page)
    assert "`--fresh`" not in page.read_text()
    LEDGER_TABLE.write([old | {"key": "ridge / maddpg / 0"}], tmp_path, page)
    text = page.read_text()
    assert "All 1 rows are of other held-out episodes than the table now has." in text
    assert text.index("`--fresh` makes them anew.") < text.index("## ridge")


def test_trainings_that_are_not_over_count_only_where_none_is() -> None:
    stopped = row("td3", 0, 800.0, unfinished=True, env_steps=100_000)
    line = dict(zip(LEDGER_HEAD, ledger_row(HOPPER, "td3", [stopped]), strict=True))
    assert line["env steps"] == "100,000 of 200,000"
    mixed = [stopped, row("td3", 1, 7.0)]
    assert ledger_row(HOPPER, "td3", mixed)[1] == "**7.00**"


def row(contestant: str, seed: int, value: float, **changes: Any) -> dict[str, Any]:
    return {
        "key": f"{HOPPER} / {contestant} / {seed}",
        "arena": HOPPER,
        "contestant": contestant,
        "seed": seed,
        "parameters": 70_403,
        "env_steps": 200_008,
        "test_return": value,
        "test_episodes": 1000,
        "tuning": "none",
        "train_seconds": 1500.0,
        "commit": "abc",
        "curve": [
            {"env_steps": 100_000, "test_return": value / 2},
            {"env_steps": 200_008, "test_return": value},
        ],
        **changes,
    }


ROWS = [row("td3", 0, 800.0), row("td3", 1, 1000.0), row("sac", 0, 3000.0, commit=None)]


def test_a_line_tells_ours_with_seeds_and_error_beside_what_is_printed() -> None:
    rows = by_learner(ROWS, HOPPER)
    assert list(rows) == ["sac", "td3"]
    line = dict(zip(LEDGER_HEAD, ledger_row(HOPPER, "td3", rows["td3"]), strict=True))
    assert line["ours, held out"] == "**900.0** ± 100.0"
    assert line["each seed"] == "800.0, 1,000"
    assert line["published"] == "2441, deviation 786 (200k, its authors' curves, 10 seeds)"
    assert (line["paper"], line["commit"], line["parameters"]) == ("-", "abc", "70,403")
    alone = dict(zip(LEDGER_HEAD, ledger_row(HOPPER, "sac", rows["sac"]), strict=True))
    assert (alone["ours, held out"], alone["commit"]) == ("**3,000**", "-")


def test_a_picture_has_the_mean_of_the_seeds_and_the_lines_to_reach() -> None:
    goal = Yardstick(name="goal", mean=5.0, stderr=None)
    seeds = {name: [curve(row) for row in rows] for name, rows in by_learner(ROWS, HOPPER).items()}
    (axes,) = training_curves(seeds, yardsticks=[goal], title=HOPPER).axes
    thick = {line.get_label(): line.get_data() for line in axes.lines if line.get_linewidth() == 2}
    assert set(thick) == {"sac, 1 seed", "td3, 2 seeds"}
    np.testing.assert_allclose(np.asarray(thick["td3, 2 seeds"]), [[100_000, 200_008], [450, 900]])
    assert [text.get_text() for text in axes.texts] == ["goal 5"]


def test_the_region_of_the_page_is_filled_and_the_rest_is_left(tmp_path: Path) -> None:
    page = tmp_path / "docs" / "baselines.md"
    page.parent.mkdir()
    page.write_text(f"before\n{REGION_BEGIN}\nold\n{REGION_END}\nafter\n")
    picture = tmp_path / "docs" / "results" / "baselines_hopper_authors_nets.png"
    written = LEDGER_TABLE.write(ROWS, picture.parent, page)
    assert written == [picture.with_name("baselines.json"), picture, page]
    text = page.read_text()
    assert text.startswith(f"before\n{REGION_BEGIN}\n")
    assert text.endswith(f"{REGION_END}\nafter\n")
    assert "(results/baselines_hopper_authors_nets.png)" in text
    assert (
        "Not run yet: ppo, td3 late updates, td3 later code, ddpg, ddpg 2016, intrinsic_ppo."
        in text
    )
    assert "old" not in text


def test_scripted_policies_and_searches_stand_beside_the_teams(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rolecast.benchmarks.main_table.YARDSTICK_EPISODES", 100)
    searches = [
        {"arena": "pred_prey_3", "contestant": "local_gp", "env_steps": 400_000, "policy": "hom",
         "episode_return_mean": value}
        for value in (160.0, 170.0, 10.0)
    ]  # fmt: skip
    page = tmp_path / "page.md"
    page.write_text(f"{REGION_BEGIN}\n{REGION_END}\n")
    rows = [row("maddpg", 0, 20.0, arena="pred_prey_3")]
    write_rows(tmp_path / "main.json", searches)
    LEDGER_TABLE.write(rows, tmp_path, page)
    text = page.read_text()
    seeds = held_out_seeds("sealed", 0, 100)
    chase = rollout_scripted(make_task("pred_prey_3"), "chase", seeds)[0].mean()
    assert f"scripted chase {chase:.1f} +- " in text
    assert "scripted policies on the sealed set; searches of `hom` on the development set" in text
    assert "local_gp 160.0 at 400k (median of 3 seeds)" in text


def test_the_page_names_the_searches_as_the_main_table_now_has_them() -> None:
    results = Path(__file__).parents[2] / "docs" / "results"
    page, searches = (results / "baselines.md").read_text(), read_rows(results / "main.json")
    _, *sections = page.partition(REGION_BEGIN)[2].split("\n## ")
    named = 0
    for section in sections:
        task = LEDGER_SECTIONS[section.partition("\n")[0]].tasks[0]
        for text in searches_text(task, searches):
            assert text in section
            named += 1
    assert named >= 8


def test_the_command_lists_cells_and_runs_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    key = "Pendulum-v1 / td3 / 0"
    (tmp_path / "baselines.json").write_text(
        json.dumps({"schema": ROWS_SCHEMA, "cells": [{"key": key}]})
    )
    words = ["--seeds", "1", "--only", "arena=Pendulum-v1", "--out", str(tmp_path)]
    assert main(["bench", "baselines", *words, "--list", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told == {
        "Pendulum-v1 / ddpg / 0": False,
        "Pendulum-v1 / ddpg 2016 / 0": False,
        key: True,
        "Pendulum-v1 / td3 later code / 0": False,
        "Pendulum-v1 / sac / 0": False,
    }


def test_what_authors_chose_for_longer_runs_is_a_tenth_of_the_budget() -> None:
    """The games' steps were chosen for the games, and stay."""
    names = ("random_steps", "num_steps_sampled_before_learning_starts")
    for heading, label, steps in (
        ("Pendulum-v1", "td3 later code", 2_000),
        ("hopper, authors' nets", "td3 later code", 20_000),
        ("hopper, small nets", "td3 late updates", 1_000),
        ("ridge", "maddpg", 800),
    ):
        method = LEDGER_SECTIONS[heading].method(label)
        assert isinstance(method, LearnerMethod)
        assert [method.settings[name] for name in names] == [steps, steps]


def test_medians_of_searches_name_the_seeds_of_each_budget() -> None:
    searches = [
        {"arena": "pred_prey_3", "contestant": "local_gp", "env_steps": steps,
         "episode_return_mean": 160.0}
        for steps, seeds in ((400_000, 3), (800_000, 2))
        for _ in range(seeds)
    ]  # fmt: skip
    (told,) = searches_text("pred_prey_3", searches)
    assert told == "local_gp 160.0 at 400k, 160.0 at 800k (medians of 3, 2 seeds)"


@pytest.mark.parametrize("command", ["baselines", "dial"])
def test_a_folder_that_was_moved_is_gone_on_with_when_it_is_trusted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    trusted: list[bool] = []

    def run_nothing(*_: object, trust: bool, **__: object) -> list[Row]:
        trusted.append(trust)
        raise RequestError("nothing is run")

    monkeypatch.setattr("rolecast.benchmarks.experiment_table.run_missing_trials", run_nothing)
    words = ["bench", command, "--quick", "--out", str(tmp_path)]
    assert main(words) == main([*words, "--trust"]) == 2
    assert trusted == [False, True]
