"""Folders of the releases whose files have seals load and go on: a run, and a study.

Made at commit 83a2f1a: `run` is a search with normalised observations, by Ctrl-C stopped after its
third batch, `whole_history` what it computes when nothing stops it, `study` a black box that was
told of twelve candidates. Never remake a folder; a new schema gets a new one.
"""

import shutil
from pathlib import Path
from typing import Final

import pandas as pd
import pytest

import rolecast
from rolecast.core.files import read_json
from rolecast.platform.optimizers.study import STUDY_SCHEMA, Study
from rolecast.platform.search.records.frames import read_history
from rolecast.platform.search.records.run_folder import RUN_SCHEMA
from tests.conftest import frame_of

SEALED: Final = Path(__file__).parent / "fixtures" / "sealed_folders"


def test_they_are_of_the_schemas_of_today() -> None:
    assert read_json(SEALED / "run" / "run.json")["schema"] == RUN_SCHEMA
    assert read_json(SEALED / "study" / "study.json")["schema"] == STUDY_SCHEMA


def test_a_stopped_run_goes_on_to_the_history_of_an_undisturbed_one(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(SEALED / "run", tmp_path / "run"))
    rolecast.resume(folder)
    whole = pd.read_parquet(SEALED / "whole_history.parquet")
    # To rounding: it was written on a processor whose BLAS has other kernels than others have.
    found, whole = frame_of(read_history(folder)), frame_of(whole)
    assert len(found) == len(whole)
    # Its last evaluations were the confirmation of then; today's has more.
    searched = int((found["batch"] < found["batch"].max()).sum())
    assert searched >= 0.8 * len(found)
    pd.testing.assert_frame_equal(found[:searched], whole[:searched], rtol=1e-9)


def test_a_study_asks_for_what_it_would_have_asked(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(SEALED / "study", tmp_path / "study"))
    with Study.open(folder) as study:
        assert (study.evaluations, study.pending) == (12, [])
        asked = study.ask(2)
    assert [each["id"] for each in asked] == [12, 13]
    assert asked[0]["values"] == pytest.approx(
        {"heat": 62.91880017756329, "speed": -0.3023193501509204}
    )
