"""The paper's numbers are those printed, of the cell asked for, and marked where they are wrong."""

import csv

import pytest

from rolecast.platform.reports.comparison.paper import (
    ANY_REWARD,
    PAPER_FILE,
    PRINTED_MISTAKES,
    paper_number,
)
from rolecast.platform.tuning.experiment import Experiment
from rolecast.platform.tuning.methods import LearnerMethod
from rolecast.tune_configs import table4, table5, table7, table8


@pytest.mark.parametrize(
    ("task", "reward", "method", "size", "best_so_far", "text"),
    [
        ("ant", "dense", "td3", "small", False, "2606.17 (96.63)"),
        ("ant", "dense", "td3", "small", True, "2789.28 (148.96)"),
        ("hopper", "sparse=2", "sac", "small", False, "3380.6 (76.51)"),
        ("ma_walker2d_2x3?obs=own", "dense", "facmac", "small", True, "730.93 (166.76)"),
        ("ma_hopper_3x1?obs=own", "sparse=5", "covdn", "small", False, "138.07 (72.33)"),
        ("swimmer", "dense", "intrinsic_ppo", "small", False, "1950 (136.79) [?]"),
    ],
)
def test_numbers_are_those_printed(
    task: str, reward: str, method: str, size: str, best_so_far: bool, text: str
) -> None:
    """Read off tables 4, 7 and 8 of the paper, not off the file."""
    found = paper_number(task, reward, method, size, best_so_far=best_so_far)
    assert found is not None
    assert found.text == text


@pytest.mark.parametrize("reward", ["dense", "sparse=100", "delay=5", "noise=1.0"])
def test_a_search_has_one_number_for_every_reward(reward: str) -> None:
    found = paper_number("hopper", reward, "dss_gp_ucb", "mlp")
    assert found is not None
    assert found.text == "1009.3 (17.95)"


@pytest.mark.parametrize(
    ("task", "reward", "method", "size"),
    [
        ("pred_prey_3", "dense", "maddpg", "small"),
        ("hopper", "noise=1.0", "td3", "small"),
        ("hopper", "dense", "td3", "paper"),
        ("hopper", "dense", "cmaes", "mlp"),
        ("ma_hopper_3x1", "dense", "facmac", "small"),
    ],
)
def test_what_the_paper_does_not_print_has_no_number(
    task: str, reward: str, method: str, size: str
) -> None:
    assert paper_number(task, reward, method, size) is None


def printed_rows() -> list[dict[str, str]]:
    lines = [line for line in PAPER_FILE.read_text().splitlines() if not line.startswith("#")]
    return list(csv.DictReader(lines))


@pytest.mark.parametrize(
    ("table", "experiment"),
    [
        (4, table4.EXPERIMENT),
        (5, table5.EXPERIMENT),
        (7, table7.EXPERIMENT),
        (8, table8.EXPERIMENT),
    ],
    ids=["4", "5", "7", "8"],
)
def test_every_number_of_a_table_stands_beside_a_cell_of_its_experiment(
    table: int, experiment: Experiment
) -> None:
    """Of a search, printed once, beside its cell of each reward."""
    printed = {
        (row["task"], row["reward"], row["method"], row["size"]): float(row["mean"])
        for row in printed_rows()
        if int(row["table"]) == table
    }
    found = {}
    for task in experiment.tasks:
        for reward in experiment.rewards:
            for method in experiment.methods:
                if isinstance(method, LearnerMethod):
                    key = (task, reward, method.algorithm, method.policy)
                else:
                    key = (task, reward, method.optimizer, "small")
                number = paper_number(*key, best_so_far=table in {7, 8})
                if number is not None:
                    found[key if key in printed else (task, ANY_REWARD, key[2], key[3])] = (
                        number.mean
                    )
    assert found == printed


def test_copied_errors_of_large_policies_are_left_out() -> None:
    found = paper_number("ma_ant_4x2?obs=own", "sparse=100", "facmac", "xl")
    assert found is not None
    assert found.stderr is None
    assert found.mistake == "stderr_copied"


def test_the_best_policy_so_far_is_never_below_the_last() -> None:
    """A slip of a row or a column in the file would break this for some of 572 cells."""
    rows = printed_rows()
    assert len(rows) == 2 * (344 + 228)
    assert {row["mistake"] for row in rows} == set(PRINTED_MISTAKES)
    last, best = (
        {
            (row["task"], row["reward"], row["method"], row["size"]): float(row["mean"])
            for row in rows
            if row["table"] in tables
        }
        for tables in ("45", "78")
    )
    assert last.keys() == best.keys()
    assert [key for key in last if best[key] < last[key]] == []
