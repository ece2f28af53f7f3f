"""Tables of a comparison mark what is not told apart from the best of a row."""

from collections.abc import Callable
from pathlib import Path

from rolecast.platform.reports.comparison.groups import groups
from rolecast.platform.reports.comparison.table import results
from rolecast.platform.tuning.comparison_folder import read_comparison

MakeComparison = Callable[..., Path]


def test_what_five_seeds_do_not_tell_apart_from_the_best_is_marked_too(
    make_comparison: MakeComparison,
) -> None:
    low, even = [1.0, 2.0, 3.0, 4.0, 5.0], [40.0, 60.0, 45.0, 70.0, 30.0]
    ends = {("dss_gp_ucb", "dense"): [50.0] * 5, ("sac", "dense"): even, ("ddpg", "dense"): low}
    frame = results(groups(read_comparison(make_comparison(ends))))
    assert list(frame["best"]) == [True, False, True]
