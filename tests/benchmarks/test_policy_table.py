"""The optimisers' table on policies: what a cell records, and what the pages tell of it."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rolecast
from rolecast.benchmarks.experiment_table import run_missing_trials
from rolecast.benchmarks.policy_table import (
    POLICY_TABLE,
    gains,
    markdown,
    picture,
    policy_trials,
    quick_policy_trials,
    summary,
)
from rolecast.benchmarks.result_table import chosen
from rolecast.core.seeds import Purpose, episode_seeds
from rolecast.envs.registry import make_task
from rolecast.platform.reports.style import png
from rolecast.platform.rollout.held_out import HeldOut
from rolecast.platform.rollout.rollout import rollout
from rolecast.platform.search.records.run_folder import RunFolder
from rolecast.policies.artefact import load_policy
from rolecast.tune_configs.policy_table import EXPERIMENT, GRAPH_SEARCHES


def row(problem: str, contestant: str, seed: int, returns: list[float]) -> dict[str, Any]:
    return {
        "key": f"{problem}{contestant}{seed}",
        "problem": problem,
        "contestant": contestant,
        "seed": seed,
        "test_episodes": 50,
        "evaluations": [100, 200, 300, 400],
        "env_steps": [1000, 2000, 3000, 4000],
        "returns": returns,
        "stderrs": [1.0] * 4,
        "seconds": [1.0, 2.0, 3.0, 4.0],
    }


ROWS = [
    row(task, f"local, {graph}", seed, [1.0, 2.0, 3.0, 10.0 * seed + more])
    for task in EXPERIMENT.tasks
    for graph, more in (("none", 100.0), ("found", 104.0))
    for seed in range(5)
]


def test_every_task_meets_every_search_with_every_seed() -> None:
    trials = policy_trials(5)
    count = len(EXPERIMENT.tasks) * len(GRAPH_SEARCHES) * 5
    assert len({trial.key for trial in trials}) == count == len(trials)


@pytest.mark.usefixtures("ray_cluster")
@pytest.mark.filterwarnings("ignore::DeprecationWarning:ray.*")
@pytest.mark.filterwarnings("ignore::FutureWarning:ray.*")
def test_a_row_follows_the_incumbent_to_what_the_search_hands_over(tmp_path: Path) -> None:
    """The same search again by `rolecast.search`: incumbents of its history, and its artefact."""
    filters = ["contestant=local, none", "seed=0"]
    trials = chosen(quick_policy_trials(), filters, ("contestant", "seed"))
    (found,) = run_missing_trials(
        trials, tmp_path / "rows.json", POLICY_TABLE, processes=1, note=lambda _: None
    )
    out = tmp_path / "run"
    rolecast.search(
        "pred_prey_3",
        optimizer="local_gp",
        env_steps=24_000,
        seed=0,
        workers=0,
        out=str(out),
    )
    ended = rolecast.evaluate(out, episodes=50)
    assert found["returns"][-1] == pytest.approx(ended.episode_return_mean, abs=1e-3)
    assert found["stderrs"][-1] == pytest.approx(ended.episode_return_stderr, abs=1e-3)
    batches = RunFolder.open(out).read_batches()
    steps = np.array([batch.spent_after.env_steps for batch in batches])
    first = batches[int(np.searchsorted(steps, 2_000))]
    policy = load_policy(out / "policy").policy
    weights = policy.space.weights(first.incumbent)[None]
    seeds = episode_seeds(0, Purpose.HELD_OUT, HeldOut.seed, 50)
    returns = rollout(make_task("pred_prey_3"), policy, weights, seeds).returns
    assert found["returns"][0] == pytest.approx(returns.mean(), abs=1e-3)
    assert found["env_steps"][0] == first.spent_after.env_steps
    assert found["env_steps"][-1] == 24_000
    assert len(found["returns"]) == EXPERIMENT.points
    for along in ("evaluations", "env_steps", "seconds"):
        assert (np.diff(found[along]) >= 0).all()


def test_graphs_are_compared_seed_by_seed() -> None:
    lines = gains(ROWS).to_dict("records")
    assert [line["problem"] for line in lines] == list(EXPERIMENT.tasks)
    for line in lines:
        assert line["graphs"] == "found - none"
        assert (line["more"], line["low"], line["high"]) == (4.0, 4.0, 4.0)
        assert (line["better"], line["seeds"]) == (5, 5)


def test_the_files_hold_every_task_and_seed(tmp_path: Path) -> None:
    written = POLICY_TABLE.write(ROWS, tmp_path)
    assert {path.name for path in written} == {
        "optimizers_policies.json",
        "optimizers_policies.csv",
        "optimizers_policies.md",
        "optimizers_policies.png",
    }
    text = markdown(ROWS)
    assert "| pred_prey_3 | found - none | **+4.0** [+4.0, +4.0] | 5 of 5 |" in text
    assert "| local, none | **1.0** [1, 1] | **2.0** [2, 2] | **120.0**" in text
    assert "| 100 110 120 130 140 | 4 |" in text
    few = markdown([each for each in ROWS if each["seed"] < 4])
    assert "| pred_prey_3 | found - none | **+4.0** [-] | 4 of 4 |" in few
    assert "| local, none | **1.0** [-] |" in few


def test_the_page_says_where_two_searches_are_one_and_which_rows_are_of_other_terms() -> None:
    twice = [
        each | {"contestant": f"local, {graph}"}
        for each in ROWS
        if each["contestant"] == "local, found"
        for graph in ("found", "random")
    ]
    same = "Lines `local, found` and `local, random` are one and the same search, to the last digit"
    assert same in markdown(twice)
    other = [*twice[:-1], twice[-1] | {"returns": [0.0] * 4}]
    assert same not in markdown(other) + markdown(ROWS)
    trial = policy_trials(1)[0]
    old = ROWS[0] | {"key": trial.key, "settings": {}}
    terms = "All 1 rows are of other held-out episodes than the table now has."
    assert terms in markdown([old, *ROWS])


def test_rows_of_smaller_budgets_are_no_further_seeds() -> None:
    """As of `--quick` in the same folder: told by their steps, or by the budget that they name."""
    quick = [
        each | {"key": f"quick {each['key']}", "returns": [0.0] * 4, "env_steps": [1, 2, 3, 4]}
        for each in ROWS[:3]
    ]
    named = ROWS[4] | {"budget": 400, "key": "named", "returns": [0.0] * 4}
    mixed = [*ROWS, *quick, named]
    left = f"4 of {len(mixed)} rows are of smaller budgets and left out."
    assert left in markdown(mixed)
    assert markdown(mixed).replace(f"{left}\n\n", "") == markdown(ROWS)
    assert summary(mixed).equals(summary(ROWS))
    assert gains(mixed).equals(gains(ROWS))
    assert png(picture(mixed)) == png(picture(ROWS))
