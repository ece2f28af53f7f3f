"""The optimisers' table: every optimiser on functions of known structure, and on policies.

Resumable as the table of searches is: each finished cell is in a results file at once, and a cell
that is there is not computed again.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

from rolecast.benchmarks import resumable
from rolecast.benchmarks.experiment_table import TableTrial
from rolecast.benchmarks.optimizers import files as functions_files
from rolecast.benchmarks.optimizers import policies
from rolecast.benchmarks.optimizers import policy_files as policies_files
from rolecast.benchmarks.optimizers.cells import (
    CONTESTANTS,
    PROBLEMS,
    Cell,
    function_cells,
    quick_function_cells,
    run_cell,
)
from rolecast.benchmarks.resumable import Row, by_table

OPTIMIZER_FILTERS: Final = ("problem", "kind", "contestant", "seed")
FUNCTIONS_FILE: Final = "optimizers.json"
POLICIES_FILE: Final = "optimizers_policies.json"


def all_cells(seeds: int) -> list[Cell | TableTrial]:
    """Return the cells of the whole table, functions first."""
    return [*function_cells(seeds), *policies.policy_trials(seeds)]


def quick_cells() -> list[Cell | TableTrial]:
    """Return a table of seconds that says nothing, to see that the command works."""
    return [*quick_function_cells(), *policies.quick_policy_trials()]


def chosen(cells: Iterable[Cell | TableTrial], filters: Sequence[str]) -> list[Cell | TableTrial]:
    """Return the cells that all filters let through; see `resumable.chosen`.

    Args:
        cells: from which to choose.
        filters: "problem=NAME", "kind=NAME", "contestant=NAME" or "seed=0".
    """
    return resumable.chosen(cells, filters, kinds=OPTIMIZER_FILTERS, named=_named)


def _named(cell: Cell | TableTrial) -> Mapping[str, str]:
    if isinstance(cell, TableTrial):
        return cell.names
    return {
        "problem": cell.problem.name,
        "kind": cell.problem.kind,
        "contestant": cell.contestant.name,
        "seed": str(cell.seed),
    }


def run_missing(
    cells: Sequence[Cell | TableTrial],
    folder: Path,
    *,
    processes: int,
    note: Callable[[str], None],
) -> tuple[list[Row], list[Row]]:
    """Run the cells that the results files of a folder lack.

    See `resumable.run_missing`.

    Returns:
        All rows of the files in the table's order: of functions, and of policies.
    """
    problems = [problem.name for problem in PROBLEMS]
    contestants = [contestant.name for contestant in CONTESTANTS]
    functions = resumable.run_missing(
        [cell for cell in cells if isinstance(cell, Cell)],
        folder / FUNCTIONS_FILE,
        run=run_cell,
        order=by_table(problems, contestants),
        line=lambda row: f"regret {row['regrets'][-1]} in {row['seconds'][-1]:.1f} s",
        processes=processes,
        note=note,
    )
    searches = policies.run_policy_table(
        [cell for cell in cells if isinstance(cell, TableTrial)],
        folder / POLICIES_FILE,
        processes=processes,
        note=note,
    )
    return functions, searches


def write_files(functions: Sequence[Row], searches: Sequence[Row], folder: Path) -> list[Path]:
    """Write tables and pictures beside the results files; nothing of a part without rows."""
    written = [folder / FUNCTIONS_FILE] if functions else []
    written += functions_files.write_files(functions, folder) if functions else []
    written += [folder / POLICIES_FILE] if searches else []
    written += policies_files.write_files(searches, folder) if searches else []
    return written
