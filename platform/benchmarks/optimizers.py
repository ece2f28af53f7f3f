"""The optimisers' table: every optimiser on functions of known optimum and structure.

Resumable as the table of searches is: each finished cell is in the results file at once, and a cell
that is there is not computed again.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

from rolecast.platform.benchmarks import resumable
from rolecast.platform.benchmarks.optimizers_cells import CONTESTANTS, PROBLEMS, Cell, run_cell
from rolecast.platform.benchmarks.resumable import Row, place

FILTERS: Final = ("problem", "kind", "contestant", "seed")


def chosen(cells: Iterable[Cell], filters: Sequence[str]) -> list[Cell]:
    """Return the cells that all filters let through; see `resumable.chosen`.

    Args:
        cells: from which to choose.
        filters: "problem=NAME", "kind=NAME", "contestant=NAME" or "seed=0".
    """
    return resumable.chosen(cells, filters, kinds=FILTERS, named=_named)


def _named(cell: Cell) -> Mapping[str, str]:
    return {
        "problem": cell.problem.name,
        "kind": cell.problem.kind,
        "contestant": cell.contestant.name,
        "seed": str(cell.seed),
    }


def run_missing(
    cells: Sequence[Cell], path: Path, *, processes: int, note: Callable[[str], None]
) -> list[Row]:
    """Run the cells that a results file lacks; return all rows of the file, in the table's order.

    See `resumable.run_missing`.
    """
    problems = [problem.name for problem in PROBLEMS]
    contestants = [contestant.name for contestant in CONTESTANTS]
    return resumable.run_missing(
        cells,
        path,
        run=run_cell,
        order=lambda row: (
            place(row["problem"], problems),
            row["problem"],
            place(row["contestant"], contestants),
            row["seed"],
        ),
        line=lambda row: f"regret {row['regrets'][-1]} in {row['seconds'][-1]:.1f} s",
        processes=processes,
        note=note,
    )
