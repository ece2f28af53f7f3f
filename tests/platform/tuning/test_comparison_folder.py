from contextlib import suppress
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pytest

from rolecast.core.errors import RequestError, RunError
from rolecast.platform.search.records.metrics import METRIC_VOCABULARY
from rolecast.platform.tuning import comparison
from rolecast.platform.tuning.comparison import ComparisonInterrupted, run_comparison
from rolecast.platform.tuning.comparison_folder import (
    TRIAL_COLUMNS,
    ComparisonFolder,
    read_comparison,
)
from rolecast.platform.tuning.experiment import Experiment
from rolecast.platform.tuning.loading import require_new_folder
from rolecast.platform.tuning.methods import SearchMethod
from rolecast.platform.tuning.progress import Silent
from rolecast.platform.tuning.record import TrialRecord
from rolecast.platform.tuning.watch import Watch
from tests.conftest import write_comparison

PLANNED = Experiment(
    name="planned",
    tasks=("pred_prey_3",),
    methods=(SearchMethod(optimizer="random"),),
    seeds=1,
    env_steps=1_000,
)
EXPERIMENT: dict[str, Any] = {
    "experiment": {"name": "tiny", "methods": []},
    "trials": [],
    "versions": {},
}


def test_rows_come_back_as_they_were_written(tmp_path: Path) -> None:
    row = {"trial": "a", "task": "pred_prey_3", "reward": "dense", "method": "m", "policy": "mlp"}
    rows = pd.DataFrame(
        [
            {**row, "seed": 0, "status": "ok", "point": 1, "env_steps": 2**53 - 1, "done": True}
            | {"test_return": 1.5, "optimizer/cliques": 3.0},
            {**row, "seed": 1, "status": "failed", "error": "OSError: the lever broke"},
        ]
    )
    write_comparison(tmp_path, EXPERIMENT, rows)
    read = read_comparison(tmp_path)
    assert read.experiment["experiment"]["name"] == "tiny"
    assert list(read.rows) == [*TRIAL_COLUMNS, *METRIC_VOCABULARY, "optimizer/cliques"]
    first, second = (read.rows.iloc[index] for index in (0, 1))
    assert (first["env_steps"], first["done"], first["test_return"]) == (2**53 - 1, True, 1.5)
    assert first["error"] == ""
    assert (second["status"], second["error"]) == ("failed", "OSError: the lever broke")
    assert not second["done"]
    assert second["env_steps"] is pd.NA
    assert np.isnan(second["test_return"])


def test_a_comparison_that_has_not_reported_has_no_rows(tmp_path: Path) -> None:
    write_comparison(tmp_path, EXPERIMENT, pd.DataFrame())
    (tmp_path / "trials.parquet").unlink()
    assert read_comparison(tmp_path).rows.empty


def test_a_status_of_another_name_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="done well"):
        write_comparison(tmp_path, EXPERIMENT, pd.DataFrame([{"status": "done well"}]))


def test_a_folder_of_something_else_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match=r"no experiment\.json"):
        read_comparison(tmp_path)


def test_a_folder_of_another_version_is_refused(tmp_path: Path) -> None:
    (tmp_path / "experiment.json").write_text('{"schema": 99}')
    with pytest.raises(RequestError, match="schema 99; expected 1"):
        read_comparison(tmp_path)


def test_damaged_rows_are_one_sentence(tmp_path: Path) -> None:
    write_comparison(tmp_path, EXPERIMENT, pd.DataFrame())
    (tmp_path / "trials.parquet").write_bytes(b"PAR1 nothing of the kind")
    with pytest.raises(RequestError, match="is damaged"):
        read_comparison(tmp_path)


def test_a_trial_removes_what_another_process_of_it_left_half_written(tmp_path: Path) -> None:
    folder = ComparisonFolder(tmp_path / "out").work("trial")
    folder.path.mkdir(parents=True)
    (folder.path / ".record.json.1.tmp").write_bytes(b"{")
    folder.lock().close()
    assert [path.name for path in folder.path.iterdir()] == [".lock"]


def test_what_goes_on_under_another_version_keeps_the_one_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also with more seeds of the same version; going on with nothing new changes nothing."""
    folder = ComparisonFolder(tmp_path / "out")

    def begin(version: str, seeds: int) -> dict[str, Any]:
        """Let nothing run; return experiment.json."""
        monkeypatch.setattr(comparison, "versions", lambda: {"rolecast": version})
        monkeypatch.setattr("sys.argv", [f"/home/me/bin/{version} with {seeds}"])
        experiment = PLANNED.scaled(seeds=seeds)
        with suppress(ComparisonInterrupted):
            run_comparison(folder, experiment, experiment.trials(), 1, Silent(), lambda _: None)
        return folder.read_experiment()

    first = begin("1.0", 1)
    assert begin("1.0", 1) == first
    assert "resumed" not in first
    (trial,) = PLANNED.trials()
    folder.work(trial.trial).path.mkdir(parents=True)
    folder.work(trial.trial).write(
        TrialRecord(rows=[{"point": 20, "test_return": 1, "done": True}])
    )
    assert begin("2.0", 1) == first  # all has ended: nothing goes on
    begin("2.0", 2)
    last = begin("2.0", 3)
    assert (last["versions"], last["command"]) == ({"rolecast": "1.0"}, ["1.0 with 1"])
    assert last["resumed"] == [
        {"versions": {"rolecast": "2.0"}, "command": [f"2.0 with {seeds}"], "ended": [trial.trial]}
        for seeds in (2, 3)
    ]
    assert last["experiment"]["seeds"] == len(last["trials"]) == 3


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"trials": None}, "TypeError"),
        ({"trials": [{"trial": "a"}]}, "TrialPlan"),
        ({"versions": 3}, "TypeError"),
        ({"experiment": {"methods": [{"kind": "search", "new_setting": 1}]}}, "new_setting"),
    ],
)
def test_fields_that_this_release_does_not_know_are_one_sentence(
    changed: dict[str, Any], named: str, tmp_path: Path
) -> None:
    write_comparison(tmp_path, EXPERIMENT | changed, pd.DataFrame())
    with pytest.raises(RequestError, match=rf"experiment.json is damaged: a field .*{named}"):
        read_comparison(tmp_path)


def test_trials_that_are_not_chosen_keep_what_tune_wrote(tmp_path: Path) -> None:
    folder = ComparisonFolder(tmp_path)
    first, second = PLANNED.scaled(seeds=2).trials()
    for plan in (first, second):
        (folder.trials / plan.trial).mkdir(parents=True)
        (folder.trials / plan.trial / "progress.csv").write_text("point")
    folder.begin_again([first])
    assert [path.name for path in folder.trials.rglob("*.csv")] == ["progress.csv"]
    assert (folder.trials / second.trial / "progress.csv").exists()


def test_a_trial_begins_again_once_its_process_of_before_has_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = ComparisonFolder(tmp_path)
    (plan,) = PLANNED.trials()
    work = folder.work(plan.trial)
    work.path.mkdir(parents=True)
    work.write(TrialRecord(rows=[{"done": False}], delivered=1))
    monkeypatch.setattr("rolecast.platform.tuning.record.TRIAL_PATIENCE_S", 0.0)
    with work.lock(), pytest.raises(RunError, match="is being written by another process"):
        folder.begin_again([plan])
    assert work.read().delivered == 1
    folder.begin_again([plan])
    assert work.read().delivered == 0


def test_a_comparison_that_fails_ends_its_view(tmp_path: Path) -> None:
    class View(Silent):
        ended: ClassVar[list[str]] = []

        def finish(self, text: str) -> None:
            self.ended.append(text)

    def fail(watch: Watch) -> None:
        raise RunError("the disk is full")

    with pytest.raises(RunError, match="the disk is full"):
        run_comparison(ComparisonFolder(tmp_path), PLANNED, PLANNED.trials(), 1, View(), fail)
    assert View.ended == [f"the comparison has failed; what was computed is in {tmp_path}"]


def test_a_folder_left_before_anything_was_written_can_be_begun(tmp_path: Path) -> None:
    (tmp_path / ".lock").touch()
    (tmp_path / ".experiment.json.7.tmp").touch()
    require_new_folder(tmp_path)
    (tmp_path / "mine.txt").touch()
    with pytest.raises(RequestError, match="exists; expected a path that does not"):
        require_new_folder(tmp_path)
    with pytest.raises(RequestError, match=r"cannot be made: .*mine\.txt is no folder"):
        require_new_folder(tmp_path / "mine.txt" / "out" / "first")
