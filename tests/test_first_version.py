"""Folders that the first version wrote load and go on: a run, an artefact, a comparison.

Made at commit a096170: `run` is a search by Ctrl-C stopped after its fourth batch, `whole_history`
what it computes when nothing stops it, `policy` an artefact of the role policy, `comparison` two
finished trials without what Tune keeps of them.
"""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pandas as pd
import pytest

import rolecast
from rolecast.platform.search.records.frames import read_history
from rolecast.platform.tuning.comparison_folder import read_comparison
from tests.conftest import frame_of

FIRST_VERSION: Final = Path(__file__).parent / "fixtures" / "first_version"


@pytest.fixture
def kept(tmp_path: Path) -> Callable[[str], Path]:
    """Return a function that copies a folder of the first version, so that it can be written."""

    def copy(name: str) -> Path:
        return Path(shutil.copytree(FIRST_VERSION / name, tmp_path / name))

    return copy


def test_a_stopped_run_goes_on_to_the_history_of_an_undisturbed_one(
    kept: Callable[[str], Path],
) -> None:
    folder = kept("run")
    rolecast.resume(folder)
    whole = pd.read_parquet(FIRST_VERSION / "whole_history.parquet")
    found = read_history(folder)
    # A column of today: every candidate of then met episodes of its own.
    assert found["episodes_of"].tolist() == found["evaluation"].tolist()
    found, whole = frame_of(found.drop(columns="episodes_of")), frame_of(whole)
    # The last two evaluations were the confirmation of then; today's are four.
    assert len(found) == len(whole) == 48
    pd.testing.assert_frame_equal(found[:44], whole[:44], check_exact=True)


def test_an_artefact_earns_what_it_earned() -> None:
    found = rolecast.evaluate(FIRST_VERSION / "policy", episodes=200)
    assert found.episode_return_mean == 3.15
    assert found.task == "pred_prey_3"


def test_a_comparison_is_read_with_all_its_rows() -> None:
    comparison = read_comparison(FIRST_VERSION / "comparison")
    assert comparison.experiment["experiment"]["name"] == "small"
    assert list(comparison.rows["status"].unique()) == ["ok"]
    assert comparison.rows["done"].sum() == 2
    assert comparison.rows["test_return"].notna().all()


def test_a_finished_search_of_a_comparison_is_extended(kept: Callable[[str], Path]) -> None:
    run = kept("comparison") / "work" / "pred_prey_3-dense-cmaes-seed0" / "run"
    before = read_history(run)
    result = rolecast.resume(run, evaluations="+8")
    assert len(result.history) > len(before)
    found = result.history[: len(before)][list(before.columns)]
    pd.testing.assert_frame_equal(frame_of(found), frame_of(before), check_exact=True)
