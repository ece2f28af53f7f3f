"""The report of a comparison shows every trial, chooses none, and needs no other file."""

import base64
import json
import re
from collections.abc import Callable
from io import StringIO
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from rolecast.core.errors import RequestError
from rolecast.platform.cli.app import main
from rolecast.platform.reports.comparison.curves import improvement_picture, sample_efficiency
from rolecast.platform.reports.comparison.groups import Groups, groups
from rolecast.platform.reports.comparison.improvement import chosen_pairs, improvements
from rolecast.platform.reports.comparison.method_styles import method_styles
from rolecast.platform.reports.comparison.page import write_comparison_report
from rolecast.platform.reports.comparison.table import (
    ALL_REWARDS,
    curves,
    results,
    results_html,
    trials,
)
from rolecast.platform.tuning.comparison_folder import read_comparison
from tests.conftest import write_comparison

MakeComparison = Callable[..., Path]

ENDS = {
    ("dss_gp_ucb", "dense"): [10.0, 20.0, 60.0],
    ("dss_gp_ucb", "sparse=5"): [10.0, 30.0],
    ("sac", "dense"): [40.0, 50.0, 12.0],
    ("sac", "sparse=5"): [5.0, 7.0],
}
MANY_ENDS = {("sac", reward): [*ends, *ends] for (_, reward), ends in list(ENDS.items())[:2]}
"""Six seeds of dense reward, four of sparse."""

FAILED = "hopper-dense-sac-seed2"


def read(folder: Path) -> Groups:
    return groups(read_comparison(folder))


def row_of(frame: pd.DataFrame, reward: str, method: str) -> pd.Series:
    return frame[(frame["reward"] == reward) & (frame["method"] == method)].iloc[0]


def test_the_page_needs_no_other_file_and_no_network(
    make_comparison: MakeComparison, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = make_comparison(ENDS, lost={FAILED: "failed"})
    policy = folder / "work" / "hopper-dense-sac-seed0" / "run" / "policy" / "policy.json"
    policy.parent.mkdir(parents=True)
    policy.write_text("{}")
    assert main(["report", str(folder), "--pair", "sac:dss_gp_ucb", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"report": str(folder / "report.html")}
    text = (folder / "report.html").read_text()
    assert re.findall(r'src="data:image/(\w+);base64,', text) == ["png"] * 4
    assert not re.search(r"https?://|<link|<script src|@import|fetch\(|src=\"(?!data:)", text)
    for words in (
        "9 of 10 trials finished, 1 failed",
        "failed: OSError: the lever broke",
        "<th>sparse=5</th>",
        "paper 2,776 (390.6); best so far 3,461, ours 45.0<",
        "paper 1,009 (17.9)<",
        "There is no interval (-) with fewer than five seeds",
        "IQM 30.0 [-]",
        "rolecast=0.1.0, ray=2.60.0",
        "rolecast compare made_up",
        f'<a href="{policy.relative_to(folder)}">policy</a>',
        "seeds run",
    ):
        assert words in text
    names = {path.name for path in (folder / "report").iterdir()}
    tables = {"results.csv", "curves.csv", "improvement.csv", "scores.csv", "trials.csv"}
    pictures = {"hopper_env_steps.png", "hopper_wall_time.png", "improvement.png", "profile.png"}
    assert names == tables | pictures
    for name in pictures:
        held = base64.b64encode((folder / "report" / name).read_bytes()).decode()
        assert held in text
    improved = pd.read_csv(folder / "report" / "improvement.csv")
    assert set(improved["ours"]) == {"sac"}


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (["--pair", "sac"], "--pair 'sac' is not understood; expected METHOD:METHOD"),
        (["--pair", "sac:dss_gp_uc"], "did you mean 'dss_gp_ucb'?"),
    ],
)
def test_a_wrong_pair_is_one_sentence(
    make_comparison: MakeComparison,
    capsys: pytest.CaptureFixture[str],
    words: list[str],
    error: str,
) -> None:
    folder = make_comparison(ENDS)
    assert main(["report", str(folder), *words]) == 2
    assert error in capsys.readouterr().err
    assert not (folder / "report.html").exists()


def test_pairs_are_refused_elsewhere(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", str(tmp_path), "--pair", "a:b"]) == 2
    assert "is for the folder of a comparison" in capsys.readouterr().err


def test_a_comparison_without_any_report_has_no_page(make_comparison: MakeComparison) -> None:
    folder = make_comparison(ENDS)
    write_comparison(folder, read_comparison(folder).experiment, pd.DataFrame())
    with pytest.raises(RequestError, match="no report of a trial yet"):
        write_comparison_report(folder)


def test_end_figures_are_those_of_finished_seeds_and_the_best_is_marked(
    make_comparison: MakeComparison,
) -> None:
    frame = results(read(make_comparison(ENDS, lost={FAILED: "failed"})))
    searched, learned = (row_of(frame, "dense", method) for method in ("dss_gp_ucb", "sac"))
    assert (searched["seeds"], searched["failed"], searched["mean"]) == (3, 0, 30.0)
    assert searched["stderr"] == pytest.approx(np.std([10, 20, 60], ddof=1) / np.sqrt(3))
    assert np.isnan([searched["mean_low"], searched["mean_high"]]).all()
    assert (learned["seeds"], learned["failed"], learned["mean"]) == (2, 1, 45.0)
    assert (searched["best"], learned["best"]) == (True, True)
    assert learned["paper_mean"] == 2775.66
    assert learned["paper_best_so_far"] == 3461.47


def test_the_best_on_the_way_stands_apart_from_the_end(make_comparison: MakeComparison) -> None:
    """Of four points that lead evenly from 0: a seed that falls was best at the first."""
    row = row_of(results(read(make_comparison({("sac", "dense"): [-8.0, 12.0]}))), "dense", "sac")
    assert (row["mean"], row["best_so_far"]) == (2.0, (-2.0 + 12.0) / 2.0)


def test_a_row_over_all_rewards_pools_the_seeds_of_each(make_comparison: MakeComparison) -> None:
    frame = results(read(make_comparison(ENDS, lost={FAILED: "failed"})))
    pooled = row_of(frame, ALL_REWARDS, "sac")
    assert (pooled["seeds"], pooled["failed"]) == (2, 1)
    assert pooled["mean"] == pytest.approx((40 + 50 + 5 + 7) / 4)
    assert np.isnan([pooled["mean_low"], pooled["stderr"]]).all()


def test_an_interval_needs_five_seeds_in_each_setting_of_a_row(
    make_comparison: MakeComparison,
) -> None:
    whole = read(make_comparison(MANY_ENDS))
    frame = results(whole)
    dense, sparse, pooled = (
        row_of(frame, each, "sac") for each in ("dense", "sparse=5", ALL_REWARDS)
    )
    assert 10.0 < dense["mean_low"] < 30.0 < dense["mean_high"] < 60.0
    assert np.isnan([sparse["mean_low"], sparse["IQM_high"]]).all()
    assert np.isnan(pooled["mean_low"])
    text = results_html(frame, "hopper", whole.methods)
    assert "[-]" in text
    assert re.search(r"IQM [\d.]+ \[[\d.]+, [\d.]+\]", text)
    lines = curves(whole)
    there = lines.groupby("reward")["low"].apply(lambda low: low.notna().all())
    assert there.to_dict() == {"dense": True, "sparse=5": False}


def test_a_single_seed_is_shown_without_interval_and_said(make_comparison: MakeComparison) -> None:
    whole = read(make_comparison({("sac", "dense"): [40.0, 60.0], ("ddpg", "dense"): [50.0]}))
    frame = results(whole)
    alone = row_of(frame, "dense", "ddpg")
    assert np.isnan([alone["stderr"], alone["mean_low"], alone["IQM_high"]]).all()
    text = results_html(frame, "hopper", whole.methods)
    assert "IQM 50.0 [-]" in text
    drawing = sample_efficiency(whole, "hopper", axis="env_steps", statistic="mean")
    assert "ddpg: 1 seed, no interval" in drawing.axes[0].texts[0].get_text()


@pytest.mark.parametrize(
    ("fate", "status", "reports", "seeds"),
    [
        ("failed", "failed", 2, "2 seeds, 1 failed"),
        ("failed at once", "failed", 0, "2 seeds, 1 failed"),
        ("running", "running", 2, "2 seeds, 1 running"),
        ("not begun", "not begun", 0, "2 seeds, 1 not begun"),
    ],
)
def test_a_trial_that_did_not_finish_is_shown_and_not_counted(
    make_comparison: MakeComparison, fate: str, status: str, reports: int, seeds: str
) -> None:
    whole = read(make_comparison(ENDS, lost={FAILED: fate}))
    cell = whole.cells["hopper", "dense", "sac"]
    assert (cell.seeds, list(cell.finals)) == (seeds, [40.0, 50.0])
    (line,) = (row for row in trials(whole).to_dict("records") if row["trial"] == FAILED)
    assert line["status"] == status
    assert pd.isna(line["env_steps"]) == (reports == 0)
    trace = cell.traces["mean"]
    np.testing.assert_array_equal(trace.seeds, [3 - (index >= reports) for index in range(4)])
    drawing = sample_efficiency(whole, "hopper", axis="env_steps", statistic="mean")
    crosses = [line for line in drawing.axes[0].lines if line.get_marker() == "x"]
    assert len(crosses) == (fate == "failed")
    assert seeds in drawing.axes[0].texts[0].get_text()


def test_a_line_is_the_mean_of_the_seeds_at_each_point(make_comparison: MakeComparison) -> None:
    frame = curves(read(make_comparison(ENDS)))
    line = frame[(frame["method"] == "sac") & (frame["reward"] == "dense")]
    line = line[line["statistic"] == "mean"]
    np.testing.assert_allclose(line["value"], 34.0 * np.arange(1, 5) / 4)
    assert line["low"].isna().all()
    np.testing.assert_allclose(line["env_steps"], 1000 * np.arange(1, 5) + 1)
    np.testing.assert_allclose(line["policy_evaluations"], 10 * np.arange(1, 5))
    np.testing.assert_allclose(line["wall_time_s"], 9 * np.arange(1, 5) + 1)


@pytest.mark.parametrize("count", [4, 20])
def test_however_many_methods_there_are_their_names_lie_in_the_picture(
    make_comparison: MakeComparison, count: int
) -> None:
    ends = {(f"one_of_many_searches_{k}", "dense"): [float(k)] for k in range(count)}
    drawing = sample_efficiency(
        read(make_comparison(ends)), "hopper", axis="env_steps", statistic="mean"
    )
    drawing.draw_without_rendering()
    names = [text.get_window_extent() for text in drawing.legends[0].texts]
    assert len(names) == count
    assert all(drawing.bbox.contains(*corner) for box in names for corner in box.corners())
    told = drawing.axes[0].texts[0].get_text()
    assert told.splitlines()[0].startswith("20 methods" if count == 20 else "one_of_many_searches")


def test_searches_alone_are_drawn_against_evaluations(make_comparison: MakeComparison) -> None:
    folder = make_comparison({**ENDS, ("cmaes", "dense"): [7.0, 8.0, 9.0]})
    drawing = sample_efficiency(read(folder), "hopper", axis="policy_evaluations", statistic="mean")
    assert [text.get_text() for text in drawing.legends[0].texts] == ["dss_gp_ucb", "cmaes"]
    thick = [line for line in drawing.axes[0].lines if line.get_linewidth() == 1.9]
    assert [np.asarray(line.get_xdata()).tolist() for line in thick] == [[10, 20, 30, 40]] * 2
    page = write_comparison_report(folder).read_text()
    assert "held-out return against evaluations" in page


def test_a_seed_counts_with_its_last_score_where_a_batch_reached_over_a_point(
    make_comparison: MakeComparison,
) -> None:
    folder = make_comparison({("dss_gp_ucb", "dense"): [40.0, 80.0]})
    comparison = read_comparison(folder)
    rows = comparison.rows
    reached_over = (rows["seed"] == 1) & (rows["point"] == 2)
    write_comparison(folder, comparison.experiment, rows[~reached_over])
    trace = read(folder).cells["hopper", "dense", "dss_gp_ucb"].traces["mean"]
    np.testing.assert_allclose(trace.value, [15.0, (20 + 20) / 2, 45.0, 60.0])
    np.testing.assert_allclose(trace.env_steps, [1000.5, 2000.5, 3000.5, 4000.5])


def test_a_point_that_no_seed_reported_is_no_point(make_comparison: MakeComparison) -> None:
    whole = read(make_comparison(ENDS, skipped={"dss_gp_ucb": [1, 3]}))
    trace = whole.cells["hopper", "dense", "dss_gp_ucb"].traces["mean"]
    np.testing.assert_allclose(trace.env_steps, [2001.0, 4001.0])


def test_throughput_is_steps_by_seconds_of_training(make_comparison: MakeComparison) -> None:
    frame = trials(read(make_comparison(ENDS))).set_index("trial")
    assert frame.loc["hopper-dense-sac-seed0", "env_steps_per_second"] == pytest.approx(4000 / 36)
    assert frame.loc["hopper-dense-sac-seed0", "parameters"] == 263


def test_counts_are_written_whole_where_another_trial_has_none(
    make_comparison: MakeComparison,
) -> None:
    frame = trials(read(make_comparison(ENDS, lost={FAILED: "not begun"})))
    written = pd.read_csv(StringIO(frame.to_csv(index=False)), dtype=str).set_index("trial")
    assert written.loc["hopper-dense-sac-seed0", "parameters"] == "263"
    assert written.loc["hopper-dense-sac-seed0", "env_steps"] == "4000"
    assert written["parameters"].isna().loc[FAILED]


def test_each_search_is_compared_with_each_learner(make_comparison: MakeComparison) -> None:
    names = ("dss_gp_ucb", "cmaes", "ddpg", "sac")
    whole = read(make_comparison({(name, "dense"): [1.0] for name in names}))
    assert chosen_pairs(whole, ()) == [
        ("dss_gp_ucb", "ddpg"),
        ("dss_gp_ucb", "sac"),
        ("cmaes", "ddpg"),
        ("cmaes", "sac"),
    ]
    only = read(make_comparison({(name, "dense"): [1.0] for name in names[2:]}))
    assert chosen_pairs(only, ()) == [("ddpg", "sac")]


def test_improvement_is_told_over_all_settings_and_in_each(make_comparison: MakeComparison) -> None:
    whole = read(make_comparison(ENDS, lost={FAILED: "failed"}))
    overall, dense, sparse = improvements(whole, [("dss_gp_ucb", "sac")])
    assert dense.estimate is not None
    assert sparse.estimate is not None
    assert overall.estimate is not None
    assert float(dense.estimate.value) == pytest.approx(2 / 6)
    assert float(sparse.estimate.value) == 1.0
    assert float(overall.estimate.value) == pytest.approx((2 / 6 + 1) / 2)
    assert (overall.settings, overall.seeds) == (2, (5, 4))


def test_a_pair_without_finished_trials_is_shown_empty(make_comparison: MakeComparison) -> None:
    ends = {("sac", "dense"): [4.0], ("ddpg", "dense"): [5.0]}
    whole = read(make_comparison(ends, lost={"hopper-dense-sac-seed0": "failed at once"}))
    found = improvements(whole, [("ddpg", "sac")])
    assert [each.estimate for each in found] == [None]
    texts = [text.get_text() for text in improvement_picture(found).axes[0].texts]
    assert texts == ["too few seeds ended"]


def test_a_page_of_one_setting_says_who_beats_whom(make_comparison: MakeComparison) -> None:
    ends = {("dss_gp_ucb", "dense"): [4.0], ("sac", "dense"): [5.0]}
    text = write_comparison_report(make_comparison(ends)).read_text()
    assert "Who beats whom" in text
    assert 'alt="Probability of improvement"' in text


def test_a_method_has_one_colour_and_no_two_look_alike() -> None:
    names = ["dss_gp_ucb", "dss_gp_ucb hom", "td3", "facmac", "theirs", "others", "ppo", "mappo"]
    styles = method_styles(names + [f"dss_gp_ucb {k}" for k in range(12)])
    assert len(set(styles.values())) == 20
    assert not any(styles[name].marker for name in names)
    assert styles["dss_gp_ucb"].colour == styles["dss_gp_ucb hom"].colour
    assert method_styles(["ppo", "td3"])["td3"] == styles["td3"]
