"""The proposals' table: measured in processes of their own, given up at the limit, resumable."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rolecast.benchmarks import proposals
from rolecast.benchmarks.proposals import (
    PROPOSAL_DIMENSIONS,
    PROPOSALS_TABLE,
    TOLD_COUNTS,
    WHOLE_MEMORY_KEY,
    ProposalRun,
    in_a_process,
    markdown,
    measure,
    proposal_runs,
    quick_proposal_runs,
    settings_of,
)
from rolecast.benchmarks.result_table import chosen, write_rows
from rolecast.core.errors import RunError
from rolecast.core.types import Float
from rolecast.platform.optimizers.registry import BASELINES, OPTIMIZERS

SMALL_DIMENSION = 4
"""Of the optimiser that is asked before anything is measured."""


def row(optimizer: str, seconds: list[float | None]) -> dict[str, Any]:
    return {
        "key": f"{optimizer} / 20",
        "optimizer": optimizer,
        "dimension": 20,
        "told": [100, 500],
        "limit": 120,
        "seconds": seconds,
        "mib": [None if each is None else 10.0 for each in seconds],
    }


def test_all_optimizers_are_measured_in_all_sizes() -> None:
    cells = proposal_runs()
    assert len({cell.key for cell in cells}) == len(cells)
    refused = {"saasbo / 400", *(f"duets / {size}" for size in PROPOSAL_DIMENSIONS)}
    assert len(cells) == len(PROPOSAL_DIMENSIONS) * len({*OPTIMIZERS, *BASELINES}) - len(refused)
    assert not refused & {cell.key for cell in cells}
    assert {cell.told for cell in cells} == {TOLD_COUNTS}


def test_a_first_design_is_short_where_there_is_one() -> None:
    assert settings_of("rducb") == {"initial": 20}
    assert settings_of("cmaes") == {}


def test_a_measurement_is_seconds_and_memory_of_one_ask() -> None:
    found = measure("local_gp", 6, 40, None)
    assert 0.0 < found["seconds"] < 10.0
    assert 0.0 <= found["mib"] < 500.0


class FirstTellFits:
    """An optimiser that takes its memory when it is told first; `first` is what else happens."""

    def __init__(self, first: Callable[[], None]) -> None:
        self._first = first

    def tell(self, points: Float, values: Float, errors: Float) -> None:
        del values, errors
        if points.shape[1] > SMALL_DIMENSION:
            self._first()

    def ask(self, count: int) -> None:
        del count


def test_memory_that_the_first_tell_takes_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours fit when they are told, so that all was there before the last tell."""
    taken = [100.0]

    def fit() -> None:
        taken[0] = 140.0

    monkeypatch.setattr(proposals, "peak_mib", lambda: taken[0])
    monkeypatch.setattr(proposals, "make_optimizer", lambda *_, **__: FirstTellFits(fit))
    assert measure("local_gp", 6, 40, None)["mib"] == 40.0


def test_what_takes_longer_than_the_limit_is_given_up() -> None:
    """TuRBO's first fit of 1,000 points in 400 dimensions takes many seconds on any machine."""
    assert in_a_process("turbo", 400, 1000, 1) is None


def test_a_measurement_that_fails_says_so() -> None:
    with pytest.raises(RunError, match="no_such with D = 3, N = 10 ended with 1"):
        in_a_process("no_such", 3, 10, 5)


def test_finished_cells_are_kept_and_not_measured_again(tmp_path: Path) -> None:
    cells = chosen(quick_proposal_runs(), ["optimizer=cmaes"], PROPOSALS_TABLE.kinds)
    path = tmp_path / "proposals.json"
    done = row("cmaes", [0.5, 0.6]) | {"key": cells[0].key}
    write_rows(path, [done])
    told: list[str] = []
    assert PROPOSALS_TABLE.run_missing(cells, tmp_path, processes=1, note=told.append) == [done]
    assert told == ["1 of 1 cells are there; 0 to run"]


def test_the_page_tells_what_was_given_up(tmp_path: Path) -> None:
    rows = [row("cmaes", [0.0012, 2.5]) | {WHOLE_MEMORY_KEY: True}, row("saasbo", [70.0, None])]
    text = markdown(rows)
    assert "| cmaes | 20 | 0.001 s, 10 MiB | 2.5 s, 10 MiB |" in text
    assert "| saasbo | 20 | 70.0 s, 10 MiB | > 120 s |" in text
    assert "on. Memory of saasbo: without what earlier evaluations had taken. Each" in text
    assert {path.name for path in PROPOSALS_TABLE.write(rows, tmp_path)} == {
        "proposals.json",
        "proposals.md",
    }


def test_a_cell_is_known_by_its_optimizer_and_dimension() -> None:
    assert ProposalRun(optimizer="cmaes", dimension=20).key == "cmaes / 20"
