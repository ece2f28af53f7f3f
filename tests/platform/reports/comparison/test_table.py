"""Tables of a comparison mark what is not told apart from the best of a row."""

from collections.abc import Callable
from pathlib import Path

import pytest

from rolecast.platform.reports.comparison.groups import groups
from rolecast.platform.reports.comparison.table import ALL_REWARDS, number, results
from rolecast.platform.tuning.comparison_folder import read_comparison

MakeComparison = Callable[..., Path]


def test_what_five_seeds_do_not_tell_apart_from_the_best_is_marked_too(
    make_comparison: MakeComparison,
) -> None:
    low, even = [1.0, 2.0, 3.0, 4.0, 5.0], [40.0, 60.0, 45.0, 70.0, 30.0]
    ends = {("dss_gp_ucb", "dense"): [50.0] * 5, ("sac", "dense"): even, ("ddpg", "dense"): low}
    frame = results(groups(read_comparison(make_comparison(ends))))
    assert list(frame["best"]) == [True, False, True]


def test_one_lucky_seed_makes_no_loser_as_good_as_the_best(
    make_comparison: MakeComparison,
) -> None:
    """One of three methods has a single finished seed, above all others."""
    high, low = [100.0, 101.0, 99.0, 100.0, 102.0], [1.0, 2.0, 3.0, 4.0, 5.0]
    ends = {("dss_gp_ucb", "dense"): high, ("sac", "dense"): [103.0], ("ddpg", "dense"): low}
    frame = results(groups(read_comparison(make_comparison(ends)))).set_index("method")
    assert dict(frame["best"]) == {"dss_gp_ucb": True, "sac": False, "ddpg": False}


def test_a_method_gains_nothing_by_trials_that_fail_in_a_hard_setting(
    make_comparison: MakeComparison,
) -> None:
    """Of seeds that earn 100 where it is easy and 0 where it is hard, two fail where it is hard."""
    ends = {("sac", "dense"): [100.0] * 3, ("sac", "sparse=5"): [0.0] * 3}
    lost = {f"hopper-sparse=5-sac-seed{seed}": "failed" for seed in (0, 1)}
    frame = results(groups(read_comparison(make_comparison(ends, lost=lost))))
    pooled = frame[frame["reward"] == ALL_REWARDS].iloc[0]
    assert (pooled["mean"], pooled["IQM"], pooled["seeds"], pooled["failed"]) == (50.0, 50.0, 1, 2)


def test_a_method_without_a_seed_that_finished_everywhere_has_no_row_over_all(
    make_comparison: MakeComparison,
) -> None:
    ends = {("sac", "dense"): [100.0] * 2, ("sac", "sparse=5"): [0.0] * 2}
    lost = {"hopper-dense-sac-seed0": "failed", "hopper-sparse=5-sac-seed1": "failed"}
    frame = results(groups(read_comparison(make_comparison(ends, lost=lost))))
    assert list(frame["reward"]) == ["dense", "sparse=5"]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1147.21, "1,147"),
        (-90.77, "-90.8"),
        (0.2, "0.20"),
        (999.96, "1,000"),
        (0.0, "0.00"),
        (-0.00044, "-0.00044"),
        (0.0997, "0.10"),
        (0.1 + 0.2 - 0.3, "0.00"),
    ],
)
def test_returns_are_written_with_the_digits_they_deserve(value: float, text: str) -> None:
    assert number(value) == text
