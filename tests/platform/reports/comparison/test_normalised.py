"""Returns of several tasks on one scale, 0 random and 1 the best known: hand-counted figures."""

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from rolecast.core.files import write_sealed_json
from rolecast.platform.reports.comparison.groups import Groups, groups
from rolecast.platform.reports.comparison.normalised import (
    SCORE_LEVELS,
    method_scores,
    profile_pictures,
    scales,
    scores_frame,
)
from rolecast.platform.reports.comparison.page import write_comparison_report
from rolecast.platform.search.records.measurements import Yardstick
from rolecast.platform.tuning.comparison_folder import ComparisonFolder, read_comparison
from rolecast.platform.tuning.yardsticks import TaskYardsticks

MakeComparison = Callable[..., Path]

ENDS = {
    ("dss_gp_ucb", "dense"): [30.0, 50.0, 70.0, 90.0, 110.0],
    ("dss_gp_ucb", "sparse=5"): [30.0, 50.0, 70.0, 90.0, 110.0],
    ("sac", "dense"): [130.0, 90.0],
    ("sac", "sparse=5"): [10.0, 20.0],
    ("ddpg", "dense"): [10.0],
}

SCRIPTED = TaskYardsticks(
    yardsticks=(
        Yardstick(name="scripted random", mean=10.0, stderr=None),
        Yardstick(name="scripted chase", mean=90.0, stderr=None),
    )
)


def read(folder: Path) -> Groups:
    return groups(read_comparison(folder))


def test_the_scale_goes_from_random_to_the_best_known(make_comparison: MakeComparison) -> None:
    """The highest mean of a method, 110 of `sac`, is above the chase."""
    whole = read(make_comparison(ENDS))
    assert scales(whole, {"hopper": SCRIPTED}) == {"hopper": (10.0, 110.0)}
    assert scales(whole, {"hopper": TaskYardsticks()}) == {}


def test_scores_are_of_methods_that_finished_in_each_setting(
    make_comparison: MakeComparison,
) -> None:
    found = {
        each.method: each
        for each in method_scores(read(make_comparison(ENDS)), {"hopper": SCRIPTED})
    }
    assert set(found) == {"dss_gp_ucb", "sac"}
    searched, learned = found["dss_gp_ucb"], found["sac"]
    assert (searched.settings, searched.seeds, learned.seeds) == (2, 10, 4)
    assert searched.iqm.value == pytest.approx(0.6)
    assert searched.mean.value == pytest.approx(0.6)
    assert searched.gap.value == pytest.approx(0.4)
    # Scores 1.2, 0.8, 0 and 0.1, of which the first lacks nothing.
    assert learned.mean.value == pytest.approx(0.525)
    assert learned.gap.value == pytest.approx((0.0 + 0.2 + 1.0 + 0.9) / 4)
    assert learned.gap.low is None


def test_scores_are_of_the_seeds_that_finished_in_each_setting(
    make_comparison: MakeComparison,
) -> None:
    """Without the second seed's dense 90 `sac` has 1.2 and 0, not 1.2, 0.8 and 0."""
    lost = {"hopper-sparse=5-sac-seed1": "failed"}
    whole = read(make_comparison(ENDS, lost=lost))
    _, learned = method_scores(whole, {"hopper": SCRIPTED})
    assert (learned.method, learned.seeds) == ("sac", 2)
    assert learned.mean.value == pytest.approx(0.6)
    assert learned.profile.value[-1] == 0.5


def test_a_run_that_stands_under_two_rewards_narrows_no_interval(
    make_comparison: MakeComparison,
) -> None:
    both, *_ = method_scores(read(make_comparison(ENDS)), {"hopper": SCRIPTED})
    assert both.mean.low is not None
    assert both.mean.high is not None
    # Five scores of deviation 0.283: the mean of five draws has 0.126, of ten 0.089.
    assert both.mean.high - both.mean.low > 3.5 * 0.126


def test_a_profile_falls_from_the_share_above_random_to_that_above_the_best(
    make_comparison: MakeComparison,
) -> None:
    found = method_scores(read(make_comparison(ENDS)), {"hopper": SCRIPTED})
    searched = found[0].profile.value
    assert searched.shape == SCORE_LEVELS.shape
    assert (np.diff(searched) <= 0.0).all()
    assert (searched[0], searched[50], searched[-1]) == (1.0, 0.6, 0.0)
    assert found[1].profile.value[-1] == 0.25


def test_the_report_has_them_where_a_task_has_a_random_policy(
    make_comparison: MakeComparison,
) -> None:
    folder = make_comparison(ENDS)
    assert "On one scale" not in write_comparison_report(folder).read_text()
    assert not (folder / "report/scores.csv").exists()
    stored = {"hopper": asdict(SCRIPTED)}
    write_sealed_json(ComparisonFolder(folder).yardsticks_file, stored)
    text = write_comparison_report(folder).read_text()
    assert "On one scale" in text
    assert "Left out, as no seed finished in each setting: ddpg." in text
    frame = pd.read_csv(folder / "report/scores.csv")
    assert list(frame["method"]) == ["dss_gp_ucb", "sac"]
    found = method_scores(read(folder), {"hopper": SCRIPTED})
    assert frame["gap"].tolist() == pytest.approx(scores_frame(found)["gap"].tolist())
    (picture,) = profile_pictures(found)
    assert (folder / "report/profile.png").read_bytes() == picture.png
