"""Figures of committed comparisons are those that today's statistics make of their trials."""

from pathlib import Path
from typing import Final

import pandas as pd
import pytest

from rolecast.platform.reports.comparison.statistics import SUMMARY_STATISTICS, estimate

COMMITTED: Final = sorted(
    path.parent for path in Path(__file__).resolve().parents[4].glob("docs/results/*/results.csv")
)


def test_comparisons_are_committed() -> None:
    assert len(COMMITTED) > 3


@pytest.mark.parametrize("folder", COMMITTED, ids=lambda folder: folder.name)
def test_means_and_intervals_follow_from_the_trials(folder: Path) -> None:
    trials = pd.read_csv(folder / "trials.csv")
    rows = pd.read_csv(folder / "results.csv")
    of_one_reward = rows[(rows["reward"] != "all rewards") & rows["mean"].notna()]
    assert len(of_one_reward)
    for row in of_one_reward.to_dict("records"):
        mine = (trials["status"] == "ok") & trials["test_return"].notna()
        for name in ("task", "reward", "method"):
            mine &= trials[name] == row[name]
        ends = trials[mine]["test_return"].to_numpy()
        for statistic in SUMMARY_STATISTICS:
            one = estimate([ends], statistic)
            told = [row[f"{statistic}{end}"] for end in ("", "_low", "_high")]
            expected = [one.value, one.low, one.high]
            none = float("nan")
            assert told == pytest.approx(
                [none if value is None else float(value) for value in expected], nan_ok=True
            )
