"""`rolecast bench`: its options, and how each of its tables is written and told."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rolecast.platform.cli.output import print_json, say, warn

if TYPE_CHECKING:
    from rolecast.benchmarks.experiment_table import ExperimentTable
    from rolecast.benchmarks.result_table import Cell, ResultTable, Row
    from rolecast.benchmarks.table_trials import TableTrial

Quick = Annotated[bool, typer.Option("--quick", help="Seconds; says nothing, shows it works.")]
Seeds = Annotated[int, typer.Option(min=1, help="Seeds 0 to N - 1 of each cell.")]
Processes = Annotated[int, typer.Option(min=1, help="Cells at once, a core each.")]
Fresh = Annotated[
    bool, typer.Option("--fresh", help="Compute all chosen cells again, whatever is kept of them.")
]
TrustLearners = Annotated[
    bool,
    typer.Option(
        "--trust",
        help="Go on with learners of a folder that was not begun here, though their states can run "
        "any code.",
    ),
]
Out = Annotated[Path | None, typer.Option(metavar="DIR", help=r"\[default: docs/results]")]
RESULTS_FOLDER = Path("docs/results")
QUICK_RESULTS = Path("runs/bench")


def only_option(kinds: str) -> Any:
    """Return the option that chooses cells."""
    return typer.Option(metavar="KIND=VALUE", help=f"{kinds}; repeatable.")


def part_option(parts: str) -> Any:
    """Return the option that chooses parts of a result."""
    return typer.Option(metavar="PART", help=f"{parts}; repeatable. What else is there stays.")


SCALING_PART_NAMES = (
    "start, searches, robots, driver, forecast, unequal, batches; "
    "cuda_rollouts where there is a GPU"
)

ScalingParts = Annotated[list[str] | None, part_option(SCALING_PART_NAMES)]


def file_option(help_text: str, *names: str) -> Any:
    """Return the option that names a file; its names, where one is not the parameter's."""
    return typer.Option(*names, metavar="FILE", help=help_text)


def folder_of(out: Path | None, *, quick: bool) -> Path:
    """Return where results go."""
    return out or (QUICK_RESULTS if quick else RESULTS_FOLDER)


def kept_results(folder: Path, name: str) -> dict[str, Any]:
    """Return what NAME.json has, whose other parts stay where some are measured anew."""
    from rolecast.core.files import read_json

    kept = folder / f"{name}.json"
    return read_json(kept) if kept.is_file() else {}


def write_results(
    folder: Path, name: str, results: Mapping[str, Any], page: str | None, *, json: bool
) -> None:
    """Write NAME.json, and NAME.md where there is a page; print the results, or what is written."""
    written = result_files(folder, name, results, page)
    if json:
        print_json(results)
    else:
        say_written(written)


def result_files(
    folder: Path, name: str, results: Mapping[str, Any], page: str | None
) -> list[Path]:
    """Write NAME.json, and NAME.md where there is a page; return both."""
    from rolecast.core.files import write_bytes, write_json

    written = [folder / f"{name}.json"]
    write_json(written[0], results)
    if page is not None:
        written.append(folder / f"{name}.md")
        write_bytes(written[1], page.encode())
    return written


def say_written(written: Iterable[Path]) -> None:
    """Say which files were written."""
    say("written: " + ", ".join(map(str, written)))


def tell(
    rows: Sequence[Mapping[str, Any]], written: Sequence[Path], *, json: bool, **further: Any
) -> None:
    """Say how a table of cells ended."""
    if json:
        print_json({"cells": len(rows), **further, "written": written})
    else:
        say_written(written)


def run_table(
    table: "ResultTable[Cell]",
    cells: "Iterable[Cell]",
    only: Sequence[str] | None,
    folder: Path,
    *,
    processes: int,
    json: bool,
    fresh: bool,
) -> None:
    """Run the cells of a table that are asked for and missing, write its files, and say so."""
    from rolecast.benchmarks.result_table import chosen

    asked = chosen(cells, only or [], table.kinds)
    rows, written = filled_table(table, asked, folder, processes=processes, fresh=fresh)
    tell(rows, written, json=json)


def filled_table(
    table: "ResultTable[Cell]",
    cells: "Sequence[Cell]",
    folder: Path,
    *,
    processes: int,
    fresh: bool,
) -> "tuple[list[Row], list[Path]]":
    """Run the cells of a table that are missing and write its files; return its rows and files."""
    from rolecast.benchmarks.result_table import forget_rows

    if fresh:
        forget_rows(folder / table.file, cells, warn)
    rows = table.run_missing(cells, folder, processes=processes, note=warn)
    return rows, table.write(rows, folder)


def run_trials(
    table: "ExperimentTable",
    trials: "Iterable[TableTrial]",
    only: Sequence[str] | None,
    folder: Path,
    page: Path | None,
    *,
    processes: int,
    json: bool,
    fresh: bool,
    trust: bool = False,
) -> None:
    """Run the trials of a table that are asked for and missing, write its files, and say so."""
    from rolecast.benchmarks.experiment_table import run_missing_trials
    from rolecast.benchmarks.result_table import chosen

    asked, path = chosen(trials, only or [], table.kinds), folder / table.file
    rows = run_missing_trials(
        asked, path, table, processes=processes, note=warn, fresh=fresh, trust=trust
    )
    tell(rows, table.write(rows, folder, page), json=json)
