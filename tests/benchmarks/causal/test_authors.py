"""MCBO beside its authors' code: the same initial data, what is replaced, refusals, the page.

Their repository cannot be had from a package registry: a small one with the same entry points, run
by an interpreter of its own, stands for it and writes down what it was given.
"""

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from rolecast.benchmarks.causal.authors import (
    AUTHORS_CASES,
    authors_page,
    authors_runs,
    run_authors,
)
from rolecast.core.errors import RequestError, RunError
from rolecast.envs.causal.interventions import InterventionSpace
from rolecast.envs.causal.problem import HasCausalGraph
from rolecast.envs.registry import make_task
from rolecast.platform.cli.app import main
from rolecast.platform.search.causal import causal_search

Ran = tuple[dict[str, Any], dict[str, Any]]
"""A row, and what the repository was given for it."""

TRIAL = """
import json, sys
from pathlib import Path
import torch
import wandb
from mcbo import eta_network

def generate_initial_design(algo_profile, env_profile):
    raise AssertionError("not of their own")

def mcbo_trial(algo_profile, env_profile, function_network, network_to_objective_transform):
    before = torch.initial_seed()
    torch.seed()
    design = generate_initial_design(algo_profile, env_profile)
    told = {"design": design.tolist(), "seed": torch.initial_seed(), "before": before,
            "profile": algo_profile, "starts": eta_network.train(), "type": str(design.dtype)}
    Path(__file__).with_name("told.json").write_text(json.dumps(told))
    rewards = network_to_objective_transform(function_network(design))
    wandb.log({"acq_value": 1.0}, commit=False)
    for _ in range(algo_profile["n_bo_iter"]):
        score = rewards[:1]
        rewards = torch.cat([rewards, score])
        row = {"score": score, "best_score": rewards.max(), "average_score": rewards.mean()}
        wandb.log(row | {"X": design[:1]})
"""

FUNCTIONS = """
import torch

class Dropwave:
    def __init__(self, noise_scales=1.0):
        assert noise_scales == 0.0

    def get_env_profile(self):
        return {}

    def evaluate(self, X):
        r = (10.24 * X - 5.12).norm(dim=-1)
        return torch.stack([r, (1 + torch.cos(12 * r)) / (2 + r**2 / 2)], dim=-1)

class ToyGraph(Dropwave):
    def __init__(self, noise_scales):
        assert noise_scales == 1.0

class Ackley(Dropwave):
    def evaluate(self, X):
        raise ValueError("no such tensor")
"""


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a repository with the entry points of the authors'."""
    files = {
        "mcbo/mcbo_trial.py": TRIAL,
        "mcbo/eta_network.py": "def train(reinits=1000):\n    return reinits\n",
        "scripts/functions.py": FUNCTIONS,
    }
    clone = tmp_path_factory.mktemp("clone")
    for name, text in files.items():
        (clone / name).parent.mkdir(parents=True, exist_ok=True)
        (clone / name).write_text(text)
    return clone


@pytest.fixture(scope="module")
def dropwave(repository: Path) -> Ran:
    """Return what two rounds of Dropwave give."""
    return _row(repository, "causal:dropwave", 2)


@pytest.fixture(scope="module")
def toy(repository: Path) -> Ran:
    """Return what a round of ToyGraph gives."""
    return _row(repository, "causal:toy", 1)


def _row(repository: Path, task: str, rounds: int) -> Ran:
    """Run seed 1 of a task; return its row, and what the repository was given."""
    runs = authors_runs(2, rounds, repository, Path(sys.executable))
    (run,) = (each for each in runs if each.names["task"] == task and each.seed == 1)
    row = run_authors(run)
    return row, json.loads((repository / "mcbo" / "told.json").read_text())


def test_both_codes_begin_with_the_same_points(tmp_path: Path, dropwave: Ran) -> None:
    row, told = dropwave
    causal_search(
        "causal:dropwave", rounds=2, settings={"beta": 0.5}, seed=1, workers=0, out=tmp_path / "run"
    )
    history = pd.read_parquet(tmp_path / "run" / "history.parquet")
    points = np.stack(history["candidate"].tolist())[:5]
    assert np.array_equal(told["design"], points)
    every = np.concatenate(history["episode_returns"].tolist())
    rewards = every[:5]
    # The small repository plays the first point again in each of its rounds.
    assert row["theirs"] == pytest.approx((rewards.sum() + 2 * rewards[0]) / 7, abs=1e-6)
    assert row["zero"] == pytest.approx(every.mean(), abs=1e-6)
    assert row["constant"] != row["zero"]


def test_hard_interventions_are_given_node_by_node(tmp_path: Path, toy: Ran) -> None:
    _, told = toy
    causal_search(
        "causal:toy", rounds=1, settings={"beta": 0.5}, seed=1, workers=0, out=tmp_path / "run"
    )
    task = make_task("causal:toy")
    assert isinstance(task, HasCausalGraph)
    points = np.stack(pd.read_parquet(tmp_path / "run" / "history.parquet")["candidate"].tolist())[
        :14
    ]
    values = InterventionSpace(task.graph).values(points)
    design = np.array(told["design"])
    assert design.shape == (14, 6)
    assert np.array_equal(design[:, :2], ~np.isnan(values))
    assert not design[:, 2].any(), "the reward is not set"
    # Their ranges of X0 and X1 are [-5, 5] and [-5, 20].
    theirs = np.where(design[:, :2] == 1, design[:, 3:5] * [10.0, 25.0] - 5.0, np.nan)
    assert np.allclose(theirs, values, equal_nan=True)
    assert design[:, :2].sum(0).tolist() == [2, 2]


def test_what_is_replaced_of_their_code_is_seed_and_starts(dropwave: Ran, toy: Ran) -> None:
    _, told = dropwave
    assert told["seed"] == 1
    assert told["before"] != 1
    assert told["starts"] == 1000, "their own where there is no noise"
    assert told["type"] == "torch.float64"
    profile = told["profile"]
    assert (profile["algo"], profile["beta"], profile["n_bo_iter"]) == ("MCBO", 0.5, 2)
    row, told = toy
    assert told["starts"] == row["starts"] == AUTHORS_CASES["causal:toy"].starts == 100
    assert told["profile"]["algo"] == "NMCBO"


def test_a_failure_of_their_code_is_said_with_its_message(repository: Path) -> None:
    with pytest.raises(RunError, match="failed on causal:ackley, seed 1: ValueError: no such tens"):
        _row(repository, "causal:ackley", 1)


def test_the_command_keeps_rows_and_tells_differences(
    tmp_path: Path, repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["bench", "causal", "--part", "authors", "--only", "task=causal:dropwave"]
    words += ["--repository", str(repository), "--interpreter", sys.executable]
    words += ["--rounds", "1", "--seeds", "1", "--out", str(tmp_path / "out")]
    assert main(words) == 0
    page = (tmp_path / "out" / "causal_authors.md").read_text()
    assert "| `causal:dropwave` | 1 | 1 |" in page
    capsys.readouterr()
    assert main(words) == 0
    assert "1 of 1 cells are there" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("repository_there", "words", "said"),
    [
        (False, [], "--repository is not given; expected a clone of github.com/ssethz/mcbo"),
        (False, ["--repository", "nowhere"], "--repository is nowhere; expected a clone"),
        (True, [], "--interpreter is not given; expected a Python interpreter with botorch 0.7.3"),
        (True, ["--interpreter", "."], "--interpreter is .; expected a Python interpreter"),
    ],
)
def test_what_their_code_needs_is_asked_for(
    repository: Path,
    capsys: pytest.CaptureFixture[str],
    repository_there: bool,
    words: list[str],
    said: str,
) -> None:
    there = ["--repository", str(repository)] if repository_there else []
    assert main(["bench", "causal", "--part", "authors", *there, *words]) == 2
    assert said in capsys.readouterr().err


def _of_seed(seed: int, theirs: float) -> dict[str, Any]:
    """Return a row whose searches are at 1 (zero mean) and 2 (constant)."""
    row = {"task": "causal:toy", "rounds": 4, "seed": seed, "starts": 100, "theirs": theirs}
    return row | {"zero": 1.0, "constant": 2.0, "theirs_s": 8.0, "zero_s": 2.0, "constant_s": 2.0}


def test_differences_have_an_interval_from_five_seeds_on() -> None:
    rows = [_of_seed(seed, 0.1 * seed) for seed in range(5)]
    few = authors_page(rows[:4])
    assert "| `causal:toy` | 4 | 4 | 0.15 | 1 | 0.85 | 2 | 1.85 | 100 | 2 | 0.5 |" in few
    # Standard error 0.0707, t of four degrees of freedom 2.776.
    assert "| 1 | 0.8 (0.604 to 0.996) | 2 | 1.8 (1.6 to 2) |" in authors_page(rows)


def test_runs_are_asked_for_with_both_paths(repository: Path) -> None:
    with pytest.raises(RequestError, match="--interpreter is not given"):
        authors_runs(1, None, repository, None)
    runs = authors_runs(1, None, repository, Path(sys.executable))
    assert [run.rounds for run in runs] == [case.rounds for case in AUTHORS_CASES.values()]
