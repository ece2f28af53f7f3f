"""The result table: every optimiser on every task at every budget, five seeds each.

Takes hours, so it can be stopped and started: each finished cell is in the results file at once,
and a cell that is there is not computed again.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

from rolecast.benchmarks import resumable
from rolecast.benchmarks.main_table.cells import ARENAS, CONTESTANTS, Cell, run_cell
from rolecast.benchmarks.resumable import Row

QUICK_STEPS: Final = 20_000
FILTERS: Final = ("task", "optimizer", "seed", "env_steps")


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
    """Return the cells that all filters let through; see `resumable.chosen`.

    Args:
        cells: from which to choose.
        filters: "task=NAME", "optimizer=NAME" (as the table names them), "seed=0", "env_steps=N".
    """
    return resumable.chosen(cells, filters, kinds=FILTERS, named=_named)


def _named(cell: Cell) -> Mapping[str, str]:
    return {
        "task": cell.arena.name,
        "optimizer": cell.contestant.name,
        "seed": str(cell.seed),
        "env_steps": str(cell.env_steps),
    }


def run_missing(
    cells: Sequence[Cell], path: Path, *, processes: int, note: Callable[[str], None]
) -> list[Row]:
    """Run the cells that a results file lacks; return all its rows; see `resumable.run_missing`."""
    return resumable.run_missing(
        cells,
        path,
        run=run_cell,
        order=_order,
        line=_line,
        processes=processes,
        note=note,
    )


def _line(row: Row) -> str:
    found = f"{row['episode_return_mean']:.1f} +- {row['episode_return_stderr']:.1f}"
    return f"{found} in {row['search_seconds']:.0f} s"


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
