"""A stopped training of the ledger goes on where it stood, and is told as far as it came."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rolecast.benchmarks.ledger.arenas import ARENAS
from rolecast.benchmarks.ledger.cells import CONTESTANTS, Cell
from rolecast.benchmarks.ledger.files import HEAD, ledger_row
from rolecast.benchmarks.ledger.kept import ROW, Kept, unfinished
from rolecast.benchmarks.ledger.run import run_missing, train_cell
from rolecast.benchmarks.resumable import finished, read_rows
from rolecast.core.errors import RunError
from rolecast.core.types import Float
from rolecast.envs.registry import make_task
from rolecast.platform.tuning.learner import Progress
from rolecast.policies.protocol import Policy
from rolecast.policies.registry import make_policy
from tests.benchmarks.ledger.test_run import CELL, Walker, Walking


class Counter(Walker):
    """Its weights follow from how often it has been trained, which is its state."""

    def __init__(self, *args: Any, breaks_at: int) -> None:
        super().__init__(*args)
        self.calls, self.breaks_at = 0, breaks_at

    def train(self, env_steps: int) -> Progress:
        if env_steps == self.breaks_at:
            raise RunError("the lights went out")
        self.calls += 1
        return super().train(env_steps)

    def policy(self) -> tuple[Policy, Float]:
        random = np.random.default_rng([self.seed, self.calls])
        return self.actor, random.normal(size=(1, self.parameters))

    def save(self, folder: Path) -> None:
        (folder / "calls").write_text(str(self.calls))

    def restore(self, folder: Path) -> None:
        self.calls = int((folder / "calls").read_text())


class Counting(Walking):
    """Makes counters."""

    def __init__(self, breaks_at: int = 0) -> None:
        super().__init__()
        self.breaks_at = breaks_at

    def start(self, task: str, settings: Any, *, seed: int, **_: Any) -> Counter:
        made = make_task(task)
        policy = make_policy("mlp", made, hidden=[3])
        return Counter(made, policy, seed, self.asked, self.closed, breaks_at=self.breaks_at)


def without_times(row: dict[str, Any]) -> dict[str, Any]:
    curve = [{k: v for k, v in point.items() if k != "seconds"} for point in row["curve"]]
    dropped = ("train_seconds", "score_seconds")
    return {k: v for k, v in row.items() if k not in dropped} | {"curve": curve}


def stopped(folder: Path) -> None:
    """Stop the training of `CELL` before the third of its four points."""
    with pytest.raises(RunError, match="lights"):
        train_cell(CELL, {"walk": Counting(750)}, Kept(folder, CELL.key))


def test_a_training_that_was_stopped_ends_as_one_that_was_not(tmp_path: Path) -> None:
    whole = train_cell(CELL, {"walk": Counting()})
    stopped(tmp_path)
    again = Counting()
    row = train_cell(CELL, {"walk": again}, Kept(tmp_path, CELL.key))
    assert again.asked == [750, 1000]
    assert without_times(row) == without_times(whole)


def test_each_commit_that_trained_is_named_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = "rolecast.benchmarks.ledger.run._commit"
    monkeypatch.setattr(now, lambda: "old")
    stopped(tmp_path)
    monkeypatch.setattr(now, lambda: "new")
    row = train_cell(CELL, {"walk": Counting()}, Kept(tmp_path, CELL.key))
    assert row["commit"] == "old new"


def test_a_point_that_was_cut_off_counts_as_none(tmp_path: Path) -> None:
    stopped(tmp_path)
    kept = Kept(tmp_path, CELL.key)
    assert [path.name for path in kept.path.iterdir()] == ["002"]
    (kept.path / "003").mkdir()  # no row in it: the save was cut off
    again = Counting()
    train_cell(CELL, {"walk": again}, kept)
    assert again.asked == [750, 1000]


def test_what_was_stopped_is_told_as_far_as_it_came_and_is_not_there(tmp_path: Path) -> None:
    hopper = next(arena for arena in ARENAS if arena.name == "hopper, small nets")
    cell = Cell(arena=hopper, contestant=CONTESTANTS["td3"], seed=0)
    stopped(tmp_path)
    (row,) = unfinished(tmp_path)
    line = dict(zip(HEAD, ledger_row(CELL.arena, "td3", [row]), strict=True))
    assert line["env steps"] == "505 of 1,000"
    path = tmp_path / "baselines.json"
    over = row | {"key": cell.key, "unfinished": False}
    path.write_text(json.dumps({"schema": 1, "cells": [over]}))
    told = run_missing([cell], path, processes=1, note=lambda _: None)
    assert {each["key"] for each in told} == {cell.key, CELL.key}
    assert finished(read_rows(path)) == {cell.key}
    mixed = [row, replace_value(row, 7.0)]
    assert ledger_row(CELL.arena, "td3", mixed)[1] == "**7.00**"


def replace_value(row: dict[str, Any], value: float) -> dict[str, Any]:
    """Return a finished row of another seed."""
    return row | {"unfinished": False, "test_return": value, "seed": 9}


def test_another_training_has_a_place_of_its_own(tmp_path: Path) -> None:
    stopped(tmp_path)
    assert Kept(tmp_path, replace(CELL, seed=4).key).read() is None
    kept = Kept(tmp_path, CELL.key)
    assert (kept.path / "002" / ROW).is_file()
    kept.drop()
    assert kept.read() is None
