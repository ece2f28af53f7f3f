"""What reports show beside the history: held-out returns of incumbents and of scripted policies."""

import json
from pathlib import Path

import numpy as np
import pytest

import rolecast
from rolecast.core.errors import RequestError
from rolecast.platform.search.records import measurements
from rolecast.platform.search.records.frames import read_history
from rolecast.platform.search.records.measurements import (
    PAST_INCUMBENTS,
    RunMeasurements,
    complete_run,
)
from rolecast.platform.search.records.run_folder import RunFolder

FILES = ("run.json", "history.parquet", "incumbents.parquet", "summary.json")


@pytest.fixture
def old_run(small_run: Path, tmp_path: Path) -> Path:
    """Copy of a finished run as older releases left it, without measurements."""
    for name in FILES:
        (tmp_path / name).write_bytes((small_run / name).read_bytes())
    return tmp_path


def read(path: Path) -> RunMeasurements:
    found = RunMeasurements.read(RunFolder.open(path))
    assert found is not None
    return found


def test_the_last_incumbent_earns_what_its_artefact_does(small_run: Path) -> None:
    measured = read(small_run)
    batches = RunFolder.open(small_run).read_batches()
    assert measured.batches == len(batches)
    assert measured.incumbent_batches[0] == 0
    assert measured.incumbent_batches[-1] == len(batches) - 1
    assert len(measured.returns) == min(PAST_INCUMBENTS, len(batches)) == len(measured.stderrs)
    again = rolecast.evaluate(small_run, episodes=measurements.INCUMBENT_EPISODES)
    assert measured.returns[-1] == pytest.approx(again.episode_return_mean)
    assert measured.stderrs[-1] == pytest.approx(again.episode_return_stderr)


def test_the_last_incumbent_is_ablated(small_run: Path) -> None:
    for at, found in read(small_run).ablations.items():
        again = rolecast.ablate(small_run, episodes=measurements.ABLATED_EPISODES, at=at)
        assert found == again.to_json()


def test_scripted_policies_earn_what_evaluate_says(small_run: Path) -> None:
    found = {each.name: each for each in read(small_run).yardsticks}
    chase = rolecast.evaluate("chase", task="pred_prey_3", episodes=measurements.YARDSTICK_EPISODES)
    assert found["scripted chase"].mean == chase.episode_return_mean
    assert found["scripted chase"].stderr == chase.episode_return_stderr


def test_a_run_of_an_older_release_is_measured_once(old_run: Path, small_run: Path) -> None:
    assert RunMeasurements.read(RunFolder.open(old_run)) is None
    complete_run(old_run)
    assert read(old_run) == read(small_run)
    file = old_run / "measurements.json"
    before = file.stat().st_mtime_ns
    complete_run(old_run)
    assert file.stat().st_mtime_ns == before


def test_a_damaged_file_that_is_made_again_says_so(old_run: Path, small_run: Path) -> None:
    complete_run(old_run)
    remedy = f"; without it, rolecast resume {old_run} makes it again$"
    for name, reading in (
        ("measurements.json", lambda: RunMeasurements.read(RunFolder.open(old_run))),
        ("summary.json", RunFolder.open(old_run).read_summary),
    ):
        text = (old_run / name).read_text()
        (old_run / name).write_text(text[: len(text) // 2])
        with pytest.raises(RequestError, match=remedy):
            reading()
        (old_run / name).unlink()
        rolecast.resume(old_run)
        complete_run(old_run)
        assert (old_run / name).is_file()
    assert read(old_run) == read(small_run)


def test_a_run_that_went_on_and_another_version_are_measured_anew(
    old_run: Path, small_run: Path
) -> None:
    file = old_run / "measurements.json"
    stored = json.loads((small_run / "measurements.json").read_text())
    for stale in ({**stored, "batches": 1}, {**stored, "schema": 0}):
        file.write_text(json.dumps(stale))
        complete_run(old_run)
        assert read(old_run) == read(small_run)


def test_a_task_of_slow_episodes_plays_as_often_as_in_its_held_out_test(tmp_path: Path) -> None:
    out = tmp_path / "run"
    rolecast.search(
        "gym:Pendulum-v1?horizon=5", policy="mlp", optimizer="random", evaluations=4,
        episodes=1, batch_size=2, workers=0, test_episodes=3, out=str(out),
    )  # fmt: skip
    complete_run(out)
    measured = read(out)
    names = [each.name for each in measured.yardsticks]
    assert names == ["scripted random", "does not move"]
    for yardstick, policy in zip(measured.yardsticks, ("random", "still"), strict=True):
        known = rolecast.evaluate(policy, task="gym:Pendulum-v1?horizon=5", episodes=3)
        assert yardstick.mean == known.episode_return_mean
        assert yardstick.stderr == known.episode_return_stderr
    again = rolecast.evaluate(out, episodes=3)
    assert np.mean(measured.last_returns) == pytest.approx(again.episode_return_mean)
    assert measured.returns == ()
    assert measured.batches == len(np.unique(read_history(out)["batch"]))
