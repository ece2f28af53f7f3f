"""The optimisers' table: every optimiser on functions of known optimum and structure.

Resumable as the table of searches is: each finished cell is in the results file at once, and a cell
that is there is not computed again.
"""

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Final

from rolecast.envs.errors import RequestError
from rolecast.platform.benchmarks.main_table import SCHEMA, _settle, read_rows
from rolecast.platform.benchmarks.optimizers_cells import CONTESTANTS, PROBLEMS, Cell, run_cell
from rolecast.platform.search.files import write_json

FILTERS: Final = ("problem", "kind", "contestant", "seed")
Row = dict[str, Any]


def chosen(cells: Iterable[Cell], filters: Sequence[str]) -> list[Cell]:
    """Return the cells that all filters let through.

    Args:
        cells: from which to choose.
        filters: "problem=NAME", "kind=NAME", "contestant=NAME" or "seed=0". Filters of one kind
            are alternatives; kinds must all agree.

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
    left = [cell for cell in cells if all(_named(cell)[kind] in wanted[kind] for kind in wanted)]
    if not left:
        names = [each.name for each in (*PROBLEMS, *CONTESTANTS)]
        raise RequestError(f"--only {' '.join(filters)} leaves no cell; names: {'; '.join(names)}")
    return left


def _named(cell: Cell) -> dict[str, str]:
    return {
        "problem": cell.problem.name,
        "kind": cell.problem.kind,
        "contestant": cell.contestant.name,
        "seed": str(cell.seed),
    }


def run_missing(
    cells: Sequence[Cell], path: Path, *, processes: int, note: Callable[[str], None]
) -> list[Row]:
    """Run the cells that a results file lacks, in parallel, and keep each as it ends.

    Args:
        cells: what the table should have.
        path: the results file, JSON.
        processes: cells at once, each on one core.
        note: told of each cell.

    Returns:
        The rows of these cells, in their order.
    """
    rows = {row["key"]: row for row in read_rows(path)}
    missing = [cell for cell in cells if cell.key not in rows]
    note(f"{len(cells) - len(missing)} of {len(cells)} cells are there; {len(missing)} to run")
    if missing:
        context = get_context("spawn")
        pool = ProcessPoolExecutor(processes, mp_context=context, initializer=_settle)
        try:
            for future in as_completed([pool.submit(run_cell, cell) for cell in missing]):
                row = future.result()
                rows[row["key"]] = row
                write_json(path, {"schema": SCHEMA, "cells": list(rows.values())})
                note(f"{row['key']}: regret {row['regrets'][-1]} in {row['seconds'][-1]:.1f} s")
        finally:
            pool.shutdown(cancel_futures=True)
    return [rows[cell.key] for cell in cells]
