"""The competitors' table: every optimiser of the registry on functions with published results.

Resumable: each finished cell is in the results file at once, and is not computed again.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

from rolecast.benchmarks import resumable
from rolecast.benchmarks.competitors.cells import PROBLEMS, Cell, contestants, run_cell
from rolecast.benchmarks.resumable import Row, by_table

COMPETITOR_FILTERS: Final = ("problem", "contestant", "seed")


def chosen(cells: Iterable[Cell], filters: Sequence[str]) -> list[Cell]:
    """Return the cells that all filters let through; see `resumable.chosen`."""
    return resumable.chosen(cells, filters, kinds=COMPETITOR_FILTERS, named=_named)


def _named(cell: Cell) -> Mapping[str, str]:
    return {
        "problem": cell.problem.name,
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
    names = [contestant.name for contestant in contestants()]

    return resumable.run_missing(
        cells,
        path,
        run=run_cell,
        order=by_table(problems, names),
        line=lambda row: f"regret {row['observed'][-1]} in {row['seconds'][-1]:.1f} s",
        processes=processes,
        note=note,
    )
