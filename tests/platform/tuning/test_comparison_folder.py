from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from rolecast.core.errors import RequestError
from rolecast.platform.search.records.metrics import METRIC_VOCABULARY
from rolecast.platform.tuning.comparison_folder import (
    TRIAL_COLUMNS,
    ComparisonFolder,
    read_comparison,
)
from tests.conftest import write_comparison

EXPERIMENT: dict[str, Any] = {"experiment": {"name": "tiny"}, "trials": [], "versions": {}}


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
    assert read.experiment["experiment"] == {"name": "tiny"}
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
