"""The ledger of the baselines: which cells it has, how one is run, what is written of them."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rolecast.benchmarks.ledger.arenas import ARENAS, GAME_TUNING, all_cells
from rolecast.benchmarks.ledger.cells import (
    CONTESTANTS,
    Arena,
    Cell,
    Contestant,
)
from rolecast.benchmarks.ledger.files import (
    BEGIN,
    END,
    HEAD,
    by_contestant,
    curves,
    ledger_row,
    write_files,
)
from rolecast.benchmarks.ledger.run import chosen, train_cell
from rolecast.benchmarks.resumable import SCHEMA
from rolecast.core.errors import RequestError
from rolecast.core.seeds import Purpose, episode_seeds
from rolecast.core.types import Float
from rolecast.envs.registry import make_task
from rolecast.envs.spec import BatchedTask, TaskSpec
from rolecast.platform.cli.app import main
from rolecast.platform.reports.yardsticks import Yardstick
from rolecast.platform.rollout.held_out import HeldOut
from rolecast.platform.rollout.rollout import rollout
from rolecast.platform.tuning.learner import LearningMethod, Progress
from rolecast.policies.protocol import Policy
from rolecast.policies.registry import make_policy

TINY = Arena(
    name="tiny",
    task="pred_prey_3",
    size="small",
    env_steps=1000,
    contestants=("walker",),
    goal="none",
    test_episodes=7,
    final_test_episodes=12,
)
CELL = Cell(arena=TINY, contestant=Contestant(label="walker", algorithm="walk"), seed=3, points=4)


@dataclass
class Walker:
    """A learner whose weights are drawn anew at every call, from seed and steps alone."""

    task: BatchedTask
    actor: Policy
    seed: int
    asked: list[int]
    closed: list[bool]

    @property
    def parameters(self) -> int:
        return self.actor.space.size

    def train(self, env_steps: int) -> Progress:
        self.asked.append(env_steps)
        return Progress(env_steps=env_steps + 5)

    def policy(self) -> tuple[Policy, Float]:
        random = np.random.default_rng([self.seed, self.asked[-1]])
        return self.actor, random.normal(size=(1, self.parameters))

    def save(self, folder: Path) -> None:
        raise NotImplementedError

    def restore(self, folder: Path) -> None:
        raise NotImplementedError

    def close(self) -> None:
        self.closed.append(True)


class Walking:
    """Makes walkers, and remembers what was asked."""

    def __init__(self) -> None:
        self.asked: list[int] = []
        self.settings: list[Mapping[str, Any]] = []
        self.closed: list[bool] = []

    def check(self, task: TaskSpec, settings: Mapping[str, Any]) -> None:
        self.settings.append(settings)

    def start(
        self, task: str, settings: Mapping[str, Any], *, seed: int, workers: int, env_steps: int
    ) -> LearningMethod:
        made = make_task(task)
        return Walker(made, make_policy("mlp", made, hidden=[3]), seed, self.asked, self.closed)


def test_a_cell_is_trained_to_its_points_and_scored_on_held_out_episodes() -> None:
    walking = Walking()
    row = train_cell(CELL, {"walk": walking})
    assert walking.asked == [250, 500, 750, 1000]
    assert walking.settings == [{"size": "small"}]
    assert walking.closed == [True]
    assert [point["env_steps"] for point in row["curve"]] == [255, 505, 755, 1005]
    task = make_task("pred_prey_3")
    policy = make_policy("mlp", task, hidden=[3])
    for point, asked, episodes in zip(row["curve"], walking.asked, (7, 7, 7, 12), strict=True):
        weights = np.random.default_rng([3, asked]).normal(size=(1, policy.space.size))
        seeds = episode_seeds(0, Purpose.HELD_OUT, HeldOut.seed, episodes)
        returns = rollout(task, policy, weights, seeds).returns[0]
        assert point["test_return"] == pytest.approx(returns.mean())
        error = returns.std(ddof=1) / np.sqrt(episodes)
        assert point["test_return_stderr"] == pytest.approx(error)
    assert row["test_return"] == row["curve"][-1]["test_return"]
    assert (row["parameters"], row["env_steps"], row["seed"]) == (policy.space.size, 1005, 3)
    assert json.loads(json.dumps(row, allow_nan=False)) == row


def test_a_learner_is_closed_when_its_training_fails() -> None:
    walking = Walking()
    with pytest.raises(RequestError, match="does not exist"):
        train_cell(replace(CELL, contestant=Contestant(label="x", algorithm="walkk")), {})
    arena = replace(TINY, final_test_episodes=-1)
    with pytest.raises(ValueError, match="negative"):
        train_cell(replace(CELL, arena=arena), {"walk": walking})
    assert walking.closed == [True]


def test_every_contestant_of_every_arena_has_a_cell_a_seed() -> None:
    cells = all_cells(3)
    assert len({cell.key for cell in cells}) == len(cells)
    assert len(cells) == 3 * sum(len(arena.contestants) for arena in ARENAS)
    assert {cell.contestant.label for cell in cells} == set(CONTESTANTS)


@pytest.mark.parametrize(
    ("filters", "count"),
    [
        (["arena=Pendulum-v1"], 9),
        (["contestant=independent ddpg", "seed=1"], 4),
        (["arena=hopper, small nets", "contestant=sac", "contestant=td3"], 6),
    ],
)
def test_filters_choose_cells(filters: list[str], count: int) -> None:
    assert len(chosen(all_cells(3), filters)) == count


def test_an_arenas_settings_and_tuning_are_those_of_all_who_learn_it(tmp_path: Path) -> None:
    cells = {cell.key: cell for cell in all_cells(1)}
    told = cells["ridge / facmac nonmonotonic / 0"].settings
    assert (told["updates_per_step"], told["mixer"]) == (1.0, "nonmonotonic")
    assert cells["ridge / maddpg / 0"].tuning == GAME_TUNING
    assert "updates_per_step" not in cells["ridge, defaults / maddpg / 0"].settings
    page = tmp_path / "page.md"
    page.write_text(f"{BEGIN}\n{END}\n")
    write_files([row("maddpg", 0, 0.2, arena="ridge")], tmp_path, page=page)
    assert "`updates_per_step=1.0`, 4,000 env steps" in page.read_text()


def test_the_paper_is_quoted_for_its_own_nets_alone() -> None:
    papers = {(cell.arena.name, cell.contestant.label): cell.paper for cell in all_cells(1)}
    assert papers["hopper, small nets", "sac"] == "2775.66 (390.61) (table 4)"
    assert {text for (arena, _), text in papers.items() if arena != "hopper, small nets"} == {""}


HOPPER = ARENAS[2]


def row(contestant: str, seed: int, value: float, **changes: Any) -> dict[str, Any]:
    return {
        "key": f"{HOPPER.name} / {contestant} / {seed}",
        "arena": HOPPER.name,
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
    rows = by_contestant(ROWS, HOPPER)
    assert list(rows) == ["sac", "td3"]
    line = dict(zip(HEAD, ledger_row(HOPPER, "td3", rows["td3"]), strict=True))
    assert line["ours, held out"] == "**900.0** ± 100.0"
    assert line["each seed"] == "800.0, 1,000"
    assert line["published"] == "887, deviation 649 (200k)"
    assert (line["paper"], line["commit"], line["parameters"]) == ("-", "abc", "70,403")
    alone = dict(zip(HEAD, ledger_row(HOPPER, "sac", rows["sac"]), strict=True))
    assert (alone["ours, held out"], alone["commit"]) == ("**3,000**", "-")


def test_a_picture_has_the_mean_of_the_seeds_and_the_lines_to_reach() -> None:
    goal = Yardstick(name="goal", mean=5.0, stderr=None)
    (axes,) = curves(HOPPER, by_contestant(ROWS, HOPPER), [goal]).axes
    thick = {line.get_label(): line.get_data() for line in axes.lines if line.get_linewidth() == 2}
    assert set(thick) == {"sac, 1 seed", "td3, 2 seeds"}
    np.testing.assert_allclose(np.asarray(thick["td3, 2 seeds"]), [[100_000, 200_008], [450, 900]])
    assert [text.get_text() for text in axes.texts] == ["goal 5"]


def test_the_region_of_the_page_is_filled_and_the_rest_is_left(tmp_path: Path) -> None:
    page = tmp_path / "docs" / "baselines.md"
    page.parent.mkdir()
    page.write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n")
    picture = tmp_path / "docs" / "results" / "baselines_hopper_authors_nets.png"
    written = write_files(ROWS, picture.parent, page=page)
    assert written == [picture, page]
    text = page.read_text()
    assert text.startswith(f"before\n{BEGIN}\n")
    assert text.endswith(f"{END}\nafter\n")
    assert "(results/baselines_hopper_authors_nets.png)" in text
    assert "Not run yet: ppo, td3 2018, ddpg, ddpg tianshou, intrinsic_ppo." in text
    assert "old" not in text


def test_scripted_policies_and_searches_stand_beside_the_teams(tmp_path: Path) -> None:
    (team,) = (arena for arena in ARENAS if arena.name == "pred_prey_3")
    searches = [
        {"arena": "pred_prey_3", "contestant": "local_gp", "env_steps": 400_000,
         "episode_return_mean": value}
        for value in (160.0, 170.0, 10.0)
    ]  # fmt: skip
    page = tmp_path / "page.md"
    page.write_text(f"{BEGIN}\n{END}\n")
    rows = [row("maddpg", 0, 20.0, arena=team.name)]
    write_files(rows, tmp_path, page=page, searches=searches)
    text = page.read_text()
    assert "scripted chase 138" in text
    assert "local_gp 160.0 at 400k (median of 3 seeds)" in text


def test_the_command_lists_cells_and_runs_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    key = "Pendulum-v1 / td3 / 0"
    (tmp_path / "baselines.json").write_text(
        json.dumps({"schema": SCHEMA, "cells": [{"key": key}]})
    )
    words = ["--seeds", "1", "--only", "arena=Pendulum-v1", "--out", str(tmp_path)]
    assert main(["bench", "baselines", *words, "--list", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told == {
        "Pendulum-v1 / ddpg / 0": False,
        key: True,
        "Pendulum-v1 / sac / 0": False,
    }
