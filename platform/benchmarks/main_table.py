"""The result table: every optimiser on every task at every budget, five seeds each.

Takes hours, so it can be stopped and started: each finished cell is in the results file at once,
and a cell that is there is not computed again.
"""

import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context, parent_process
from pathlib import Path
from typing import Any, Final

from threadpoolctl import threadpool_limits

from rolecast.envs.errors import RequestError
from rolecast.platform.benchmarks.cells import ARENAS, CONTESTANTS, Cell, run_cell
from rolecast.platform.search.files import read_json, write_json

SCHEMA: Final = 1
QUICK_STEPS: Final = 20_000
FILTERS: Final = ("task", "optimizer", "seed", "env_steps")
Row = dict[str, Any]


def all_cells(seeds: int) -> list[Cell]:
    """Return the cells of the whole table: the main arena first, cheap contestants first."""
    return [
        Cell(
            arena=arena,
            contestant=contestant,
            env_steps=budget,
            seed=seed,
            test_episodes=arena.test_episodes,
        )
        for arena in ARENAS
        for contestant in CONTESTANTS
        for budget in arena.budgets
        for seed in range(seeds)
    ]


def quick_cells() -> list[Cell]:
    """Return a table of seconds that says nothing, to see that the command works."""
    return [
        Cell(
            arena=ARENAS[0],
            contestant=contestant,
            env_steps=QUICK_STEPS,
            seed=0,
            test_episodes=50,
        )
        for contestant in CONTESTANTS
        if contestant.name in {"dss_gp_ucb", "random"}
    ]


def chosen(cells: Iterable[Cell], filters: Sequence[str]) -> list[Cell]:
    """Return the cells that all filters let through.

    Args:
        cells: from which to choose.
        filters: "task=NAME", "optimizer=NAME" (as the table names them), "seed=0", "env_steps=N".
            Filters of one kind are alternatives; kinds must all agree.
    Raises:
        RequestError: a filter is of another form, or nothing is left.
    """
    wanted: dict[str, set[str]] = {}
    for word in filters:
        kind, equals, value = word.partition("=")
        if not equals or kind not in FILTERS:
            forms = ", ".join(f"{each}=VALUE" for each in FILTERS)
            raise RequestError(f"--only {word!r} is not understood; expected one of {forms}")
        wanted.setdefault(kind, set()).add(value)
    left = [
        cell
        for cell in cells
        if all(
            {
                "task": cell.arena.name,
                "optimizer": cell.contestant.name,
                "seed": str(cell.seed),
                "env_steps": str(cell.env_steps),
            }[kind]
            in values
            for kind, values in wanted.items()
        )
    ]
    if not left:
        names = [arena.name for arena in ARENAS] + [each.name for each in CONTESTANTS]
        raise RequestError(f"--only {' '.join(filters)} leaves no cell; names: {', '.join(names)}")
    return left


def read_rows(path: Path) -> list[Row]:
    """Return the finished cells of a results file; none where there is no file.

    Raises:
        RequestError: the file is something else, or of another schema.
    """
    if not path.is_file():
        return []
    results = read_json(path)
    if results.get("schema") != SCHEMA:
        raise RequestError(f"{path} has schema {results.get('schema')}; expected {SCHEMA}")
    rows: list[Row] = results["cells"]
    return rows


def run_missing(
    cells: Sequence[Cell],
    path: Path,
    *,
    processes: int,
    note: Callable[[str], None],
) -> list[Row]:
    """Run the cells that a results file lacks, in parallel, and keep each as it ends.

    Args:
        cells: what the table should have.
        path: the results file, JSON.
        processes: searches at once, each on one core.
        note: told of each cell.
    Returns:
        All rows of the file, those of other cells included.
    Raises:
        RequestError, RunError: a cell failed; those before it are kept.
    """
    rows = read_rows(path)
    done = {row["key"] for row in rows}
    missing = [cell for cell in cells if cell.key not in done]
    note(f"{len(cells) - len(missing)} of {len(cells)} cells are there; {len(missing)} to run")
    for row in _results(missing, processes):
        rows.append(row)
        rows.sort(key=_order)
        write_json(path, {"schema": SCHEMA, "cells": rows})
        note(
            f"{row['key']}: {row['episode_return_mean']:.1f} +- "
            f"{row['episode_return_stderr']:.1f} in {row['search_seconds']:.0f} s"
        )
    return rows


def _order(row: Row) -> tuple[int, int, int, int]:
    """Sort rows as the table does, whatever the order in which they ended."""
    arenas = [arena.name for arena in ARENAS]
    names = [each.name for each in CONTESTANTS]
    return (
        arenas.index(row["arena"]),
        names.index(row["contestant"]),
        row["env_steps"],
        row["seed"],
    )


def _results(cells: Sequence[Cell], processes: int) -> Iterator[Row]:
    """Yield rows as cells end; what has not begun is dropped when one fails."""
    if not cells:
        return
    pool = ProcessPoolExecutor(processes, mp_context=get_context("spawn"), initializer=_settle)
    try:
        for future in as_completed([pool.submit(run_cell, cell) for cell in cells]):
            yield future.result()
    finally:
        pool.shutdown(cancel_futures=True)


def _settle() -> None:
    """Keep a process to one core, so that searches beside each other do not wait, and mortal."""
    import torch

    torch.set_num_threads(1)
    threadpool_limits(1)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """End this process when the one that began it is gone, killed or not: none would read it."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
