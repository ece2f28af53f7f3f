"""The dial's table: its trials, its page, and that what is committed is made from the rows."""

import statistics
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rolecast.benchmarks.dial.dials import (
    DIALS_BY_TASK,
    DRONE_DIAL,
    LONG_DIAL,
    TEAM_DIAL,
    Dial,
    dial_of,
)
from rolecast.benchmarks.dial.findings import duels, returns_of
from rolecast.benchmarks.dial.page import readme_region, report
from rolecast.benchmarks.dial.pictures import mean_curve, rewards_picture, steps_picture
from rolecast.benchmarks.dial.table import (
    REGION_BEGIN,
    REGION_END,
    dial_trials,
    quick_dial_trials,
    table_of,
)
from rolecast.benchmarks.experiment_table import run_missing_trials
from rolecast.benchmarks.result_table import chosen, read_rows
from rolecast.platform.reports.style import png
from rolecast.tune_configs.dial import EXPERIMENT

DIALS = (*DIALS_BY_TASK.values(), LONG_DIAL)
RESULTS = Path(__file__).resolve().parents[3] / "docs/results"


def row(method: str, reward: str, seed: int, value: float) -> dict[str, Any]:
    return {
        "key": f"{method} / {reward} / {seed}",
        "reward": reward,
        "method": method,
        "seed": seed,
        "budget": 1000,
        "test_return": value,
        "test_episodes": 50,
        "curve": [[500, value / 2], [1000, value]],
    }


ROWS = [
    *(row("dss_gp_ucb", "dense", seed, 100.0 + seed) for seed in range(5)),
    row("dss_gp_ucb", "flip=0.2", 0, 90.0),
    row("dss_gp_ucb_found", "dense", 0, 80.0),
    row("dss_gp_ucb_found", "flip=0.2", 0, 30.0),
    row("dss_gp_ucb_no_symmetry", "dense", 0, 40.0),
    row("dss_gp_ucb_no_symmetry", "flip=0.2", 0, 20.0),
    row("facmac", "sparse=25", 0, 3.0),
    row("facmac", "flip=0.2", 0, 50.0),
    row("masac", "flip=0.2", 0, 60.0),
    row("masac", "flip=0.2", 1, 20.0),
    row("facmac_symmetries", "flip=0.2", 0, 95.0),
]


def test_the_table_has_every_trial_of_the_dial_once() -> None:
    trials = dial_trials(TEAM_DIAL, 5)
    assert len(trials) == len({trial.key for trial in trials}) == len(EXPERIMENT.trials())
    only = ["method=facmac", "reward=dense", "reward=sparse=25", "seed=0", "seed=3"]
    assert len(chosen(trials, only, table_of(TEAM_DIAL).kinds)) == 4


@pytest.mark.parametrize("dial", DIALS, ids=lambda dial: dial.stem)
def test_the_command_on_a_page_chooses_its_dial(dial: Dial) -> None:
    words = dial.option.split()
    task = words[words.index("--task") + 1] if "--task" in words else TEAM_DIAL.task
    assert dial_of(task, long="--long" in words) is dial


@pytest.mark.parametrize("dial", DIALS, ids=lambda dial: dial.stem)
def test_what_a_page_sets_side_by_side_is_of_its_dial(dial: Dial) -> None:
    labels = {method.label for method in dial.experiment.methods}
    named = {dial.told, dial.untold, dial.plain, dial.one_net}
    assert labels > {*dial.drawn_methods, *dial.told_methods, *named, *dial.net_searches}
    assert all(dial.is_search(label) for label in named)
    assert {*dial.sparse_rewards} < {*dial.experiment.rewards}
    for method in dial.experiment.methods:
        if dial.is_search(method.label):
            assert not {*method.rewards} & {*dial.sparse_rewards}


@pytest.mark.parametrize("dial", DIALS, ids=lambda dial: dial.stem)
def test_a_page_is_made_of_any_rows_of_its_dial(dial: Dial) -> None:
    rows = [row(each.label, "dense", 0, 1.0) for each in dial.experiment.methods]
    page = report(dial, rows)
    assert f"`{dial.task}`, 1,000 env steps a trial" in page
    assert all(f"`{each.label}` |" in page for each in dial.experiment.methods)
    assert f"![Held-out return by reward]({dial.stem}.png)" in page
    for picture in (rewards_picture, steps_picture):
        assert png(picture(dial, rows))


def test_the_dense_run_of_a_search_stands_for_sparse_reward_and_no_run_of_a_learner_does() -> None:
    returns = returns_of(TEAM_DIAL, ROWS)
    assert returns["dss_gp_ucb"]["sparse=25"] == [100.0, 101.0, 102.0, 103.0, 104.0]
    assert set(returns["facmac"]) == {"sparse=25", "flip=0.2"}


def test_the_search_meets_the_learner_of_the_highest_mean_that_knows_as_much() -> None:
    sparse, flip = duels(TEAM_DIAL, ROWS, symmetries=False)
    assert (sparse.reward, sparse.search, sparse.learner_mean) == ("sparse=25", 80.0, 3.0)
    assert (flip.learner, flip.learner_mean, flip.learner_seeds) == ("masac", 40.0, 2)
    (both,) = duels(TEAM_DIAL, ROWS, symmetries=True)
    assert (both.reward, both.search, both.learner_mean) == ("flip=0.2", 90.0, 95.0)


def test_a_better_learner_of_fewer_seeds_is_named_and_not_the_one_compared() -> None:
    """Two of five seeds each count alike; one of two seeds does not."""
    said = "Learners of fewer seeds have higher means, which are not compared: "
    named = "told none, under `flip=0.2` `facmac` 50.0 (1)."
    assert f"{said}{named} Told symmetries" in report(TEAM_DIAL, ROWS)
    assert said not in report(TEAM_DIAL, [row for row in ROWS if row["method"] != "masac"])
    more = [row("facmac", "flip=0.2", seed, 50.0) for seed in range(1, 5)]
    more += [row("masac", "flip=0.2", seed, 40.0) for seed in range(2, 6)]
    (_, flip) = duels(TEAM_DIAL, [*ROWS, *more], symmetries=False)
    assert (flip.learner, flip.learner_seeds, flip.passed_over) == ("facmac", 5, [])


def test_the_sentences_tell_who_is_ahead_and_what_symmetries_are_worth() -> None:
    text = report(TEAM_DIAL, ROWS)
    assert (
        "Told symmetries, a learner has the higher mean under `flip=0.2` (no learner was run: "
        "`dense`, `sparse=25`); told none, the search has the higher mean under `sparse=25`, a "
        "learner has the higher mean under `flip=0.2` (no learner was run: `dense`)." in text
    )
    known_of_all = report(TEAM_DIAL, [each for each in ROWS if each["reward"] == "flip=0.2"])
    every = "under each of the 1 rewards run, of 10 planned"
    assert f"Told symmetries, a learner has the higher mean {every}; told" in known_of_all
    # Of 102 and 90, of 80 and 30, of 40 and 20, and of learners that earn 3 and 40.
    assert "(2) the search told symmetries leads the best learner told none by 74.5." in text
    worth = "worth 66.0 to it if it is told them, 25.0 if it has to find them."
    assert f"Over the rewards that differ for a search (2), symmetries are {worth}" in text


def test_the_readme_has_the_table_of_both_sides_and_what_symmetries_are_worth() -> None:
    text = readme_region(TEAM_DIAL, ROWS)
    assert "`pred_prey_3` after 1,000 env steps, mean held-out return of the search and" in text
    assert "| flip=0.2 | 90.0 (1) | 95.0 (1) | " in text
    assert "symmetries are worth 66.0 to it if it is told them" in text


def test_a_lead_over_learners_that_know_as_much_is_told_where_each_reward_has_one() -> None:
    """Of 102, 102 and 90, less 3, 2 and 95 of learners told symmetries."""
    told = [
        row("facmac_symmetries", name, 0, 2.0 + (name != "dense"))
        for name in ("dense", "sparse=25")
    ]
    text = readme_region(TEAM_DIAL, [*ROWS, row("facmac", "dense", 0, 2.0), *told])
    assert "On average over these rewards (3) the search told symmetries leads the best" in text
    assert "the best learner told them by 64.7, the best learner told none by 83.0. Over" in text
    assert "told them by" not in readme_region(TEAM_DIAL, ROWS)


def test_a_dense_run_counts_once_in_the_worth_of_symmetries() -> None:
    """Learners have dense and sparse reward: of 102, 80 and 40 twice, of 90, 30 and 20 once."""
    text = report(TEAM_DIAL, [*ROWS, row("facmac", "dense", 0, 2.0)])
    assert "rewards (3; the search's dense run stands for `sparse=25` too) the search" in text
    assert "(2), symmetries are worth 66.0 to it if it is told them, 25.0 if it has" in text


def test_what_is_earned_on_the_learners_own_net_is_told_beside_hom() -> None:
    """Over the rewards that both have, dense as such alone."""
    said = "on it the search told symmetries earns "
    assert said not in readme_region(TEAM_DIAL, ROWS)
    own = [row("dss_gp_ucb_one_net", "dense", 0, 62.0), row("dss_gp_ucb_one_net", "drop=0.9", 0, 9)]
    for text in (readme_region(TEAM_DIAL, [*ROWS, *own]), report(TEAM_DIAL, [*ROWS, *own])):
        assert f"{said}62.0, on `hom` 102.0 (1 rewards)." in text


def test_a_reward_without_a_learner_is_not_among_the_compared() -> None:
    rows = [*ROWS, row("dss_gp_ucb", "drop=0.5", 0, 70.0)]
    assert "drop=0.5" not in readme_region(TEAM_DIAL, rows)
    assert "| 70.0 [70] |" in report(TEAM_DIAL, rows)


def test_what_was_planned_and_not_run_is_named() -> None:
    page = report(TEAM_DIAL, ROWS)
    (line,) = [line for line in page.splitlines() if line.startswith("Not run: ")]
    assert line.startswith("Not run: rewards `sparse=5`, `delay=5`, `delay=12`, `noise=3.0`, ")
    assert "; methods `cmaes_tied`, `cmaes_tied_found`, `cmaes`, " in line
    whole = [
        row(each.label, reward, 0, 1.0)
        for each in EXPERIMENT.methods
        for reward in each.rewards or EXPERIMENT.rewards
    ]
    assert "Not run" not in report(TEAM_DIAL, whole)
    assert "has the higher mean under every reward" in report(TEAM_DIAL, whole)


def test_a_caveat_on_lines_is_printed_where_there_are_such_lines() -> None:
    unrun = "Learners with larger discounts (0.95, 0.99) were not run."
    without = report(TEAM_DIAL, ROWS)
    assert unrun in without
    assert unrun in readme_region(TEAM_DIAL, ROWS)
    assert "_one_net` search that net" not in without
    lines = [
        row("dss_gp_ucb_one_net", "dense", 0, 1.0),
        row("facmac_gamma_0.99", "delay=12", 0, 1.0),
    ]
    text = report(TEAM_DIAL, [*ROWS, *lines])
    assert "Lines `_one_net` search that net." in text
    assert "Discounts of 0.95 and 0.99 have lines of their own." in text
    assert unrun not in text + readme_region(TEAM_DIAL, [*ROWS, *lines])


def test_an_interval_needs_five_seeds_and_every_seed_is_printed() -> None:
    page = report(TEAM_DIAL, ROWS)
    assert "| `dss_gp_ucb` | **102.0** (100.2 to 103.8) [100 101 102 103 104] |" in page
    assert "| `masac` | - | - | 40.0 [60 20] |" in page
    assert page.index("`facmac_symmetries` |") < page.index("`masac` |")


def test_a_picture_has_a_panel_for_each_state_of_knowledge() -> None:
    with_symmetries, without = rewards_picture(TEAM_DIAL, ROWS).axes
    labels = [str(line.get_label()) for line in with_symmetries.lines]
    assert [label for label in labels if label[0] != "_"] == ["dss_gp_ucb", "facmac_symmetries"]
    means = {str(line.get_label()): np.asarray(line.get_ydata()) for line in without.lines}
    np.testing.assert_array_equal(means["masac"], [np.nan, np.nan, 40.0])
    np.testing.assert_array_equal(means["facmac"], [np.nan, 3.0, 50.0])


def test_returns_against_steps_have_a_panel_for_each_reward() -> None:
    """Of three panels in a row the fourth reward begins another."""
    panels = steps_picture(TEAM_DIAL, [*ROWS, row("facmac", "drop=0.9", 0, 8.0)]).axes
    assert [each.get_title(loc="left") for each in panels[:4]] == [
        "dense", "sparse=25", "flip=0.2", "drop=0.9"
    ]  # fmt: skip
    (facmac,) = panels[3].lines
    assert facmac.get_label() == "facmac"
    assert list(np.asarray(facmac.get_ydata())[[0, -1]]) == [4.0, 8.0]


def test_a_curve_is_the_mean_of_what_each_seed_has_come_to() -> None:
    """Points at 100, 200, ... of a budget of 1,000; reports count from half a distance before."""
    rows = [
        {"budget": 1000, "curve": [[90, 1.0], [249, 3.0], [1000, 9.0]]},
        {"budget": 1000, "curve": [[152, 5.0], [450, 7.0]]},
    ]
    grid, means = mean_curve(TEAM_DIAL, rows)
    assert list(grid) == [100, 200, 300, 400, 500, 600, 700, 800, 900, 1000]
    assert list(means) == [3, 4, 4, 5, 5, 5, 5, 5, 5, 8]


def test_bold_is_what_is_not_told_apart_from_the_best_of_its_table() -> None:
    seeds = [row("cmaes_tied", "dense", seed, 50.0 + seed) for seed in range(5)]
    page = report(TEAM_DIAL, [*ROWS, *seeds, row("facmac_symmetries", "dense", 0, 3.0)])
    assert "| `cmaes_tied` | 52.0 (50.2 to 53.8) [50 51 52 53 54] |" in page
    assert "| `facmac_symmetries` | 3.00 [3] |" in page  # one seed tells nothing apart


def test_the_page_tells_how_probable_a_better_seed_is() -> None:
    page = report(
        TEAM_DIAL, [*ROWS, *(row("facmac_symmetries", "dense", seed, 102.0) for seed in range(5))]
    )
    chance = "0.50 [0.00, 1.00], `facmac_symmetries`"
    assert f"| dense | {chance} | - |" in page
    assert "| flip=0.2 | 0.00 [-], `facmac_symmetries` | 0.50 [-], `masac` |" in page


def test_the_readme_gets_its_region_and_files_are_written(tmp_path: Path) -> None:
    readme = tmp_path / "README.md"
    readme.write_text(f"before\n{REGION_BEGIN}\nold\n{REGION_END}\nafter\n")
    table = table_of(TEAM_DIAL)
    written = table.write(ROWS, tmp_path, readme)
    names = ["dial.json", "dial.md", "dial.png", "dial_steps.png", "README.md"]
    assert [each.name for each in written] == names
    assert (tmp_path / "dial.png").read_bytes() == png(rewards_picture(TEAM_DIAL, ROWS))
    text = readme.read_text()
    assert text.startswith("before\n")
    assert text.endswith("after\n")
    assert readme_region(TEAM_DIAL, ROWS) in text
    sealed = ROWS[0] | {"key": dial_trials(TEAM_DIAL, 1)[0].key, "held_out_set": "sealed"}
    table.write([sealed, *ROWS], tmp_path)
    other = "All 1 rows are of other held-out episodes than the table now has."
    assert other in (tmp_path / "dial.md").read_text()
    assert "`--fresh` makes them anew." in (tmp_path / "dial.md").read_text()


@pytest.mark.usefixtures("ray_cluster")
@pytest.mark.filterwarnings("ignore::DeprecationWarning:ray.*")
@pytest.mark.filterwarnings("ignore::FutureWarning:ray.*")
def test_a_quick_piece_runs_and_is_kept(tmp_path: Path) -> None:
    trials = chosen(quick_dial_trials(TEAM_DIAL), ["method=cmaes"], table_of(TEAM_DIAL).kinds)
    notes: list[str] = []
    path, rows = tmp_path / "dial.json", table_of(TEAM_DIAL)
    (found,) = run_missing_trials(trials, path, rows, processes=1, note=notes.append)
    assert (found["reward"], found["kind"], found["policy"]) == ("dense", "search", "hom")
    assert found["env_steps"] <= found["budget"] == 2000
    assert statistics.fmean(value for _, value in found["curve"]) == found["test_return"]
    again = run_missing_trials(trials, path, rows, processes=1, note=notes.append)
    assert again == [found]
    assert notes[-1] == "1 of 1 cells are there; 0 to run"


def test_rows_of_smaller_budgets_are_left_out_and_told_of() -> None:
    small = {**row("dss_gp_ucb", "dense", 0, 1.0), "budget": 10}
    mixed = [small, *ROWS]
    assert returns_of(TEAM_DIAL, mixed) == returns_of(TEAM_DIAL, ROWS)
    assert readme_region(TEAM_DIAL, mixed) == readme_region(TEAM_DIAL, ROWS)
    left = f"1 of {len(mixed)} rows are of smaller budgets and left out."
    assert left in report(TEAM_DIAL, mixed)
    assert "left out" not in report(TEAM_DIAL, ROWS)


def test_what_is_said_of_drones_is_in_the_committed_rows() -> None:
    """In the README and in what the page does not show."""
    returns = returns_of(DRONE_DIAL, read_rows(RESULTS / f"{DRONE_DIAL.stem}.json"))
    means = {
        label: {reward: float(np.mean(each)) for reward, each in mine.items()}
        for label, mine in returns.items()
    }
    learner, search = means["facmac_symmetries"], means["dss_gp_ucb"]
    readme = (RESULTS.parents[1] / "README.md").read_text()
    dense = f"({learner['dense']:.0f} and {search['dense']:.0f})"
    assert f"dial_drones.md) it is ahead with dense {dense} and false." in readme
    assert learner["flip=0.2"] > search["flip=0.2"]
    others = {*search} - {"dense", "flip=0.2"}
    assert all(search[reward] > learner[reward] for reward in others)
    behind = {reward for reward in search if means["cmaes_tied"][reward] < search[reward]}
    assert behind == {"delay=75"}
    best = max(value for mine in returns.values() for each in mine.values() for value in each)
    assert best in returns["facmac_symmetries"]["dense"]
