"""`rolecast bench causal`: parts, filters over all of them, and one JSON answer."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from rolecast.benchmarks.result_table import ResultTable
from rolecast.platform.cli.app import main


@pytest.fixture
def filled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the names of parts that are run, which compute nothing here."""
    ran: list[str] = []

    def run_missing(table: ResultTable[Any], cells: Sequence[Any], *_: Any, **__: Any) -> list[Any]:
        ran.append(f"{table.file} {len(cells)}")
        return [{} for _ in cells]

    def measure_all(*_: Any, **__: Any) -> dict[str, Any]:
        ran.append("acquisition")
        return {"causal:toy": [{"batched_s": 1.0}]}

    monkeypatch.setattr(ResultTable, "run_missing", run_missing)
    monkeypatch.setattr(ResultTable, "write", lambda table, _, folder: [folder / table.file])
    monkeypatch.setattr("rolecast.benchmarks.causal.acquisition.measure_all", measure_all)
    return ran


def test_a_filter_chooses_among_the_searches_of_all_parts(
    tmp_path: Path, filled: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["bench", "causal", "--out", str(tmp_path), "--seeds", "2"]
    assert main([*words, "--only", "method=mcbo with graph"]) == 0
    assert filled == ["causal_team.json 2"]
    filled.clear()
    assert main([*words, "--only", "method=eifn", "--only", "seed=1"]) == 0
    assert [each.partition(" ")[0] for each in filled] == ["causal.json"]
    capsys.readouterr()
    assert main([*words, "--only", "method=eifm", "--only", "method=eifn"]) == 2
    assert "--only method 'eifm' does not exist; did you mean 'eifn'?" in capsys.readouterr().err


def test_a_quick_team_is_refused(
    tmp_path: Path, filled: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["bench", "causal", "--out", str(tmp_path), "--quick"]
    assert main([*words, "--part", "team"]) == 2
    assert "--part team is not quick" in capsys.readouterr().err
    assert filled == []


def test_all_parts_give_one_answer_in_json(
    tmp_path: Path, filled: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["bench", "causal", "--out", str(tmp_path), "--seeds", "1", "--json"]) == 0
    (line,) = capsys.readouterr().out.splitlines()
    told = json.loads(line)
    assert told["acquisition"] == {"causal:toy": [{"batched_s": 1.0}]}
    names = [Path(file).name for file in told["written"]]
    assert names == ["causal_acquisition.json", "causal.json", "causal_team.json"]
    assert len(filled) == 3
