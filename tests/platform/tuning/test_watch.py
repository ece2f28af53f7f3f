"""Looks at a comparison of thousands of trials cost what has changed, not what is there."""

import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from rolecast.platform.tuning.comparison_folder import ComparisonFolder, read_comparison
from rolecast.platform.tuning.progress import Silent
from rolecast.platform.tuning.record import TrialFolder, TrialRecord
from rolecast.platform.tuning.status import ComparisonStatus
from rolecast.platform.tuning.watch import TABLE_SHARE, Watch
from tests.platform.many_trials import TRIAL_POINTS, many_trials, report


def processor_s(call: Callable[[], object]) -> float:
    start = time.process_time()
    call()
    return time.process_time() - start


def test_a_look_reads_only_the_trials_that_have_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of 2,000 trials; bounds are five times what a core of 2020 takes, in processor time."""
    experiment = many_trials(tmp_path / "out", seeds=20)
    folder, plans = ComparisonFolder(tmp_path / "out"), experiment.trials()
    changed, gone = folder.work(plans[7].trial), folder.work(plans[9].trial)
    read = list[Path]()
    whole = TrialFolder.read

    def counted(trial: TrialFolder) -> TrialRecord:
        read.append(trial.path)
        return whole(trial)

    monkeypatch.setattr(TrialFolder, "read", counted)
    watch = Watch(folder, experiment, plans, 2, Silent())
    assert processor_s(watch.look) < 5.0
    assert len(read) == len(plans) == 2000
    read.clear()
    assert processor_s(watch.look) < 0.5
    assert not read
    changed.write(TrialRecord(rows=[report(1, 5.0)]))
    shutil.rmtree(gone.path)
    standing = watch.look()
    assert read == [changed.path, gone.path]
    assert (standing.count("ok"), standing.count("running")) == (1998, 1)
    changed.fail("OSError: the lever broke")
    assert watch.look().failures() == {plans[7].trial: "OSError: the lever broke"}
    # A new watch sees the same as this one.
    assert watch.look().trials == ComparisonStatus.of(folder, experiment).trials


def test_the_table_is_written_at_the_end_whatever_it_took_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A table that takes ten seconds is not written anew in the next hundred, but at the end."""
    experiment = many_trials(tmp_path / "out", seeds=1)
    now = [1000.0]
    folder = ComparisonFolder(tmp_path / "out", clock=lambda: now[0])
    plans = experiment.trials()
    write = ComparisonFolder.write_rows

    def slow(folder: ComparisonFolder, rows: pd.DataFrame) -> None:
        now[0] += 10.0
        write(folder, rows)

    monkeypatch.setattr(ComparisonFolder, "write_rows", slow)
    watch = Watch(folder, experiment, plans, 2, Silent())
    watch.look()
    assert len(read_comparison(folder.path).rows) == 100 * TRIAL_POINTS
    folder.work(plans[0].trial).write(TrialRecord(rows=[report(1, 5.0)]))
    now[0] += 10.0 / TABLE_SHARE - 1.0
    watch.look()
    assert len(read_comparison(folder.path).rows) == 100 * TRIAL_POINTS
    watch.look(last=True)
    rows = read_comparison(folder.path).rows
    assert len(rows) == 99 * TRIAL_POINTS + 1
    assert rows["test_return"].iloc[0] == 5.0
