"""The ledger of the baselines: trains each where it is known what it should reach.

Takes hours, so it can be stopped and started: each finished cell is in the results file at once,
and one that is stopped goes on from its last point.
The baselines are reached as a comparison reaches them, by name.
"""

import subprocess
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from math import ceil
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import numpy as np

from rolecast.benchmarks import resumable
from rolecast.benchmarks.ledger.arenas import ARENAS
from rolecast.benchmarks.ledger.cells import CONTESTANTS, Cell
from rolecast.benchmarks.ledger.kept import Kept, unfinished
from rolecast.benchmarks.resumable import Row, place
from rolecast.core.files import write_json

FILTERS: Final = ("arena", "contestant", "seed")


def chosen(cells: Iterable[Cell], filters: Sequence[str]) -> list[Cell]:
    """Return the cells that all filters let through; see `resumable.chosen`.

    Args:
        cells: from which to choose.
        filters: "arena=NAME", "contestant=NAME" (as the ledger names them) or "seed=0".
    """
    return resumable.chosen(cells, filters, kinds=FILTERS, named=_named)


def _named(cell: Cell) -> Mapping[str, str]:
    return {
        "arena": cell.arena.name,
        "contestant": cell.contestant.label,
        "seed": str(cell.seed),
    }


def run_missing(
    cells: Sequence[Cell], path: Path, *, processes: int, note: Callable[[str], None]
) -> list[Row]:
    """Train the cells that a results file lacks; return all its rows; see `resumable`.

    What was stopped before is in the file too, as far as it came.
    """
    _note_unfinished(path)
    rows = resumable.run_missing(
        cells,
        path,
        run=partial(run_cell, folder=path.parent),
        order=_order,
        line=lambda row: f"{row['test_return']:.1f} in {row['train_seconds']:.0f} s",
        processes=processes,
        note=note,
    )
    for key in resumable.finished(rows):
        Kept(path.parent, key).drop()
    return rows


def _note_unfinished(path: Path) -> None:
    """Bring the rows of trainings that were stopped into a results file."""
    rows = resumable.read_rows(path)
    done = resumable.finished(rows)
    news = {row["key"]: row for row in unfinished(path.parent) if row["key"] not in done}
    if news:
        rows = [row for row in rows if row["key"] not in news] + list(news.values())
        write_json(path, {"schema": resumable.SCHEMA, "cells": sorted(rows, key=_order)})


def _order(row: Row) -> tuple[int, int, int]:
    """Sort rows as the ledger does; what it does not know comes last."""
    arenas = [arena.name for arena in ARENAS]
    return place(row["arena"], arenas), place(row["contestant"], [*CONTESTANTS]), row["seed"]


def run_cell(cell: Cell, folder: Path) -> Row:
    """Train a cell on a Ray of its own, which RLlib needs even where it runs nothing on it."""
    from rolecast.platform.actors.cluster import Cluster

    cluster = Cluster(None, cpus=1)
    try:
        return train_cell(cell, kept=Kept(folder, cell.key))
    finally:
        cluster.close()


def train_cell(
    cell: Cell, methods: Mapping[str, Any] = MappingProxyType({}), kept: Kept | None = None
) -> Row:
    """Train, score at the points and at the end, and return one row, JSON values.

    Args:
        cell: what to train.
        methods: further learning methods by name, before those that are installed.
        kept: where each point is kept, and from where a training goes on; None keeps nothing.
    Raises:
        RequestError: no such algorithm, or it cannot learn this task with these settings.
    """
    from rolecast.envs.registry import make_task
    from rolecast.platform.tuning.learner import method_factory

    arena = cell.arena
    task = make_task(arena.task)
    factory = method_factory(cell.contestant.algorithm, methods)
    factory.check(task.spec, cell.settings)
    learner = factory.start(
        arena.task, cell.settings, seed=cell.seed, workers=0, env_steps=arena.env_steps
    )
    try:
        row = None if kept is None else kept.read()
        if kept is not None and row is not None:
            kept.restore(learner)
        for point in range(1 + len(row["curve"] if row else []), cell.points + 1):
            start = time.perf_counter()
            progress = learner.train(ceil(arena.env_steps * point / cell.points))
            trained = time.perf_counter()
            last = point == cell.points
            episodes = arena.final_test_episodes if last else arena.test_episodes
            score = _score(task, learner, episodes)
            scored = time.perf_counter()
            row = _row(
                cell,
                row,
                score | {"env_steps": progress.env_steps},
                episodes=episodes,
                parameters=learner.parameters,
                train_seconds=trained - start,
                score_seconds=scored - trained,
            )
            if kept is not None and not last:
                kept.write(row, learner)
    finally:
        learner.close()
        task.close()
    assert row is not None, "a cell has a point"
    return row


def _row(
    cell: Cell,
    before: Row | None,
    point: dict[str, float],
    *,
    episodes: int,
    parameters: int,
    train_seconds: float,
    score_seconds: float,
) -> Row:
    """Return what a training has come to with one more point; before is None at the first."""
    from rolecast import __version__

    older = before or {"curve": [], "train_seconds": 0.0, "score_seconds": 0.0, "commit": None}
    seconds = round(older["train_seconds"] + train_seconds, 1)
    curve = [*older["curve"], {"seconds": seconds, **point}]
    commits = dict.fromkeys([*(older["commit"] or "").split(), *filter(None, [_commit()])])
    return {
        "key": cell.key,
        "arena": cell.arena.name,
        "task": cell.arena.task,
        "contestant": cell.contestant.label,
        "algorithm": cell.contestant.algorithm,
        "settings": cell.settings,
        "tuning": cell.tuning,
        "seed": cell.seed,
        "parameters": parameters,
        "env_steps": point["env_steps"],
        "test_return": point["test_return"],
        "test_return_stderr": point["test_return_stderr"],
        "test_episodes": episodes,
        "curve": curve,
        "train_seconds": seconds,
        "score_seconds": round(older["score_seconds"] + score_seconds, 1),
        "rolecast": __version__,
        "commit": " ".join(commits) or None,
    }


def _score(task: Any, learner: Any, episodes: int) -> dict[str, float]:
    """Return the held-out return of the policy as it is now, as earned."""
    from rolecast.core.seeds import Purpose, episode_seeds
    from rolecast.platform.rollout.held_out import HeldOut
    from rolecast.platform.rollout.rollout import rollout

    seeds = episode_seeds(0, Purpose.HELD_OUT, HeldOut.seed, episodes)
    policy, weights = learner.policy()
    returns = rollout(task, policy, weights, seeds).returns[0]
    deviation = float(np.std(returns, ddof=1)) if episodes > 1 else 0.0
    return {
        "test_return": float(returns.mean()),
        "test_return_stderr": deviation / float(np.sqrt(episodes)),
    }


def _commit() -> str | None:
    """Return the commit that the sources are of, "+" where they were changed; None without git."""
    folder = Path(__file__).resolve().parent
    try:
        told = subprocess.run(
            ["git", "describe", "--always", "--dirty=+", "--exclude=*"],
            cwd=folder, capture_output=True, text=True, check=False,
        )  # fmt: skip
    except OSError:
        return None
    return told.stdout.strip() or None
