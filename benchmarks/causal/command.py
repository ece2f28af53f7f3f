"""`rolecast bench causal`: what causal searches find, and how fast their acquisition is."""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from rolecast.benchmarks.options import (
    Fresh,
    Out,
    Processes,
    Quick,
    Seeds,
    filled_table,
    folder_of,
    only_option,
    part_option,
    result_files,
    tell,
)
from rolecast.platform.cli.output import Json, print_table, say, warn

CAUSAL_PARTS: Final = ("figures", "acquisition", "team")
CUDA_ACQUISITION: Final = "cuda_acquisition"
"""A part that is measured only if it is named: it needs a device."""

AUTHORS_PART: Final = "authors"
"""A part that is run only if it is named: it needs the authors' code."""

TIMED_PARTS: Final = (CUDA_ACQUISITION, "acquisition")
"""Parts without cells, which `--only` says nothing of."""


def causal_results(
    *,
    part: Annotated[
        list[str] | None, part_option("figures, acquisition, team, cuda_acquisition or authors")
    ] = None,
    seeds: Seeds = 5,
    rounds: Annotated[
        int | None,
        typer.Option(
            min=1, help=r"Rounds of each search. \[default: 100; of authors what minutes allow]"
        ),
    ] = None,
    quick: Quick = False,
    fresh: Fresh = False,
    only: Annotated[list[str] | None, only_option("task=, method= or seed=")] = None,
    repository: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Of authors: a clone of github.com/ssethz/mcbo."),
    ] = None,
    interpreter: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Of authors: a Python that can run their code."),
    ] = None,
    processes: Processes = 1,
    out: Out = None,
    json: Json = False,
) -> None:
    """Run causal searches side by side, and time the batched acquisition; hours, in pieces.

    A finished search is kept in causal.json, causal_team.json or causal_authors.json and not run
    again. With `--only` and no part, searches alone are run.
    """
    from rolecast.benchmarks.causal import authors, figures, team
    from rolecast.benchmarks.result_table import ResultTable, chosen
    from rolecast.core.errors import RequestError, require_known

    require_known("--part", part or (), (*CAUSAL_PARTS, CUDA_ACQUISITION, AUTHORS_PART))
    if quick and part and "team" in part:
        raise RequestError("--part team is not quick; expected other parts, or no --quick")
    parts = part or [name for name in CAUSAL_PARTS if not (quick and name == "team")]
    searches: list[figures.FigureRun | team.TeamRun | authors.AuthorsRun] = []
    if "figures" in parts:
        every = figures.quick_figure_runs() if quick else figures.figure_runs(seeds, rounds or 100)
        searches += every
    if "team" in parts:
        searches += team.team_runs(seeds)
    if AUTHORS_PART in parts:
        searches += authors.authors_runs(seeds, rounds, repository, interpreter)
    asked = chosen(searches, only or [], figures.FIGURE_TABLE.kinds) if searches else []
    folder = folder_of(out, quick=quick)
    timed = [name for name in TIMED_PARTS if name in parts and (part or not only)]
    written, told = _measured(timed, folder, 1 if quick else seeds, quick=quick, json=json)
    fill = partial(filled_table, folder=folder, processes=processes, fresh=fresh)
    rows: list[Mapping[str, Any]] = []
    tables: tuple[tuple[type[Any], ResultTable[Any]], ...] = (
        (figures.FigureRun, figures.FIGURE_TABLE),
        (team.TeamRun, team.TEAM_TABLE),
        (authors.AuthorsRun, authors.AUTHORS_TABLE),
    )
    for kind, table in tables:
        if cells := [each for each in asked if isinstance(each, kind)]:
            found, files = fill(table, cells)
            rows, written = [*rows, *found], [*written, *files]
    tell(rows, written, json=json, **told)


def _measured(
    parts: Sequence[str], folder: Path, seeds: int, *, quick: bool, json: bool
) -> tuple[list[Path], dict[str, Any]]:
    """Time acquisitions; return the files written, and the results by part."""
    from rolecast.benchmarks.causal import acquisition

    written: list[Path] = []
    told: dict[str, Any] = {}
    if CUDA_ACQUISITION in parts:
        from rolecast.benchmarks.speed.cuda import CUDA_DEVICE, machine, require_cuda

        require_cuda()
        timed = acquisition.measure_device(CUDA_DEVICE, quick=quick, note=warn if json else say)
        told[CUDA_ACQUISITION] = machine() | {"rows": timed}
        written += result_files(folder, "causal_cuda", told[CUDA_ACQUISITION], None)
    if "acquisition" in parts:
        results = acquisition.measure_all(seeds, quick=quick)
        if not json:
            rows = [
                (task, *(f"{each[name]:.4g}" for name in each))
                for task, measured in results.items()
                for each in measured
            ]
            first = next(iter(results.values()))[0]
            print_table(("task", *(name.replace("_", " ") for name in first)), rows)
        told["acquisition"] = results
        written += result_files(folder, "causal_acquisition", results, None)
    return written, told
