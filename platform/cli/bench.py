"""`rolecast bench`: the measurements that the documentation quotes."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from rolecast.platform.cli.output import Json, print_json, print_table, say, warn

app = typer.Typer(help="Make the result tables of docs/results again.", no_args_is_help=True)

Quick = Annotated[bool, typer.Option("--quick", help="Seconds; says nothing, shows it works.")]
Seeds = Annotated[int, typer.Option(min=1, help="Seeds 0 to N - 1 of each cell.")]
Processes = Annotated[int, typer.Option(min=1, help="Cells at once, a core each.")]
Out = Annotated[Path | None, typer.Option(metavar="DIR", help=r"\[default: docs/results]")]
RESULTS = Path("docs/results")
QUICK_RESULTS = Path("runs/bench")


def _only(kinds: str) -> Any:
    """Return the option that chooses cells."""
    return typer.Option(metavar="KIND=VALUE", help=f"{kinds}; many.")


def _folder(out: Path | None, *, quick: bool) -> Path:
    """Return where results go."""
    return out or (QUICK_RESULTS if quick else RESULTS)


def _write(folder: Path, name: str, results: Mapping[str, Any], page: str | None) -> list[Path]:
    """Write NAME.json, and NAME.md where there is a page; return the paths."""
    from rolecast.platform.search.files import write_bytes, write_json

    written = [folder / f"{name}.json"]
    write_json(written[0], results)
    if page is not None:
        written.append(folder / f"{name}.md")
        write_bytes(written[1], page.encode())
    return written


def _say_written(written: Iterable[Path]) -> None:
    say("written: " + ", ".join(map(str, written)))


def _tell(
    rows: Sequence[Mapping[str, Any]], written: Sequence[Path], *, json: bool, **further: Any
) -> None:
    """Say how a table of cells ended."""
    if json:
        print_json({"cells": len(rows), **further, "written": written})
    else:
        _say_written(written)


@app.command("main")
def main_table(
    *,
    seeds: Seeds = 5,
    quick: Quick = False,
    only: Annotated[list[str] | None, _only("task=, optimizer=, seed= or env_steps=")] = None,
    processes: Processes = 2,
    out: Out = None,
    readme: Annotated[
        Path | None, typer.Option(metavar="FILE", help="README whose result region is filled.")
    ] = None,
    json: Json = False,
) -> None:
    """Run every optimiser on every task at every budget; hours, in pieces as you like.

    A finished cell is kept in main.json at once and not computed again; tables and pictures are
    written anew at the end of each call.
    """
    from rolecast.platform.benchmarks.main_table import (
        all_cells,
        chosen,
        quick_cells,
        run_missing,
    )
    from rolecast.platform.benchmarks.table_files import write_table

    folder = _folder(out, quick=quick)
    cells = chosen(quick_cells() if quick else all_cells(seeds), only or [])
    rows = run_missing(cells, folder / "main.json", processes=processes, note=warn)
    written = write_table(rows, folder, readme=readme)
    _tell(rows, written, json=json)


@app.command("envs")
def envs_speed(*, quick: Quick = False, out: Out = None, json: Json = False) -> None:
    """Measure env-steps/s of the tasks against mpe2, Gymnasium and gymnasium-robotics; minutes."""
    from rolecast.platform.benchmarks.envs_speed import measure_all
    from rolecast.platform.benchmarks.envs_table import HEAD, compared, markdown, rows

    results = measure_all(quick=quick, note=warn)
    written = _write(_folder(out, quick=quick), "envs", results, markdown(results))
    if json:
        print_json(results)
    else:
        for group in results["groups"]:
            say(f"\n{group['title']}. {compared(results, group)}")
            print_table(HEAD, rows(results, group))
        _say_written(written)


@app.command("surrogate")
def surrogate_speed(
    *,
    part: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PART", help="kernels, cores or iterations; many. What else is there stays."
        ),
    ] = None,
    quick: Quick = False,
    out: Out = None,
    json: Json = False,
) -> None:
    """Measure the fused sum over cliques against GPyTorch's, and whole iterations; half an hour."""
    from rolecast.platform.benchmarks.surrogate import PARTS, measure_all
    from rolecast.platform.search.files import read_json

    folder = _folder(out, quick=quick)
    kept = folder / "surrogate.json"
    before = read_json(kept) if part and kept.is_file() else {}
    results = before | measure_all(quick=quick, note=warn, parts=part or PARTS)
    written = _write(folder, "surrogate", results, None)
    if json:
        print_json(results)
        return
    for precision, ratios in results.get("ratio_to_gpytorch", {}).items():
        times = ", ".join(f"{name} {ratio:,.1f} times" for name, ratio in ratios.items())
        say(f"as fast as GPyTorch, {precision}: {times}")
    if ratio := results.get("iteration_ratio_to_botorch"):
        say(f"a whole iteration as fast as BoTorch's: {ratio} times")
    _say_written(written)


@app.command("structure")
def structure_stability(
    *, seeds: Seeds = 5, quick: Quick = False, out: Out = None, json: Json = False
) -> None:
    """Compare the edges that searches of different seeds and numbers of policies find; minutes."""
    from rolecast.platform.benchmarks.stability import markdown, measure_all

    results = measure_all(quick=quick, seeds=seeds, note=warn)
    written = _write(_folder(out, quick=quick), "structure", results, markdown(results))
    if json:
        print_json(results)
    else:
        _say_written(written)


@app.command("tasks")
def task_returns(
    *,
    quick: Quick = False,
    out: Out = None,
    page: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Page whose table is filled: docs/tasks.md.")
    ] = None,
    pictures: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Draw tasks into this: docs/tasks.")
    ] = None,
    json: Json = False,
) -> None:
    """Evaluate the scripted policies in every task that they can play; minutes.

    A finished task is kept in tasks.json at once and not played again.
    """
    from rolecast.platform.benchmarks.tasks import PICTURES, draw_all, measure_all, write_page

    if pictures is not None:
        draw_all(pictures, PICTURES, warn)
    target = _folder(out, quick=quick) / "tasks.json"
    results = measure_all(target, quick=quick, note=warn)
    if page is not None:
        write_page(results, page)
    if json:
        print_json(results)
    else:
        _say_written([target] if page is None else [target, page])


@app.command("optimizers")
def optimizers_table(
    *,
    seeds: Seeds = 5,
    quick: Quick = False,
    only: Annotated[list[str] | None, _only("problem=, kind=, contestant= or seed=")] = None,
    processes: Processes = 2,
    out: Out = None,
    json: Json = False,
) -> None:
    """Run every optimiser, with and without structure, on functions of known optimum and policies.

    Some two hours of one core, in pieces as you like (`--only kind=policy`, say): a finished cell
    is kept at once, in optimizers.json or optimizers_policies.json.
    """
    from rolecast.platform.benchmarks.optimizers import (
        all_cells,
        chosen,
        quick_cells,
        run_missing,
        write_files,
    )
    from rolecast.platform.benchmarks.optimizers_files import ratios
    from rolecast.platform.benchmarks.optimizers_policies_files import gains

    folder = _folder(out, quick=quick)
    cells = chosen(quick_cells() if quick else all_cells(seeds), only or [])
    functions, searches = run_missing(cells, folder, processes=processes, note=warn)
    written = write_files(functions, searches, folder)
    compared = {
        "ratios": ratios(functions).to_dict("records"),
        "gains": gains(searches).to_dict("records"),
    }
    _tell([*functions, *searches], written, json=json, **(compared if json else {}))


@app.command("baselines")
def baselines_ledger(
    *,
    seeds: Seeds = 3,
    quick: Quick = False,
    only: Annotated[list[str] | None, _only("arena=, contestant= or seed=")] = None,
    listed: Annotated[
        bool, typer.Option("--list", help="Name the cells, and say which are there; run nothing.")
    ] = False,
    processes: Processes = 1,
    out: Out = None,
    page: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Page whose ledger is filled: docs/baselines.md."),
    ] = None,
    json: Json = False,
) -> None:
    """Train every baseline where it is known what it should reach; hours, in pieces as you like.

    A finished training is kept in baselines.json at once and not run again; one that is stopped
    goes on from its last point. Pictures, and the page if one is given, are written anew at the
    end of each call.
    """
    from rolecast.platform.benchmarks.baselines import chosen, run_missing
    from rolecast.platform.benchmarks.baselines_cells import all_cells, quick_cells
    from rolecast.platform.benchmarks.resumable import finished, read_rows

    folder = _folder(out, quick=quick)
    path = folder / "baselines.json"
    cells = chosen(quick_cells() if quick else all_cells(seeds), only or [])
    if listed:
        done = finished(read_rows(path))
        if json:
            print_json({cell.key: cell.key in done for cell in cells})
        else:
            for cell in cells:
                say(f"{'there ' if cell.key in done else 'to run'}  {cell.key}")
        return
    from rolecast.platform.benchmarks.baselines_files import write_files

    rows = run_missing(cells, path, processes=processes, note=warn)
    searches = read_rows(folder / "main.json")
    written = [path, *write_files(rows, folder, page=page, searches=searches)]
    _tell(rows, written, json=json)


@app.command("learners")
def learners_speed(*, quick: Quick = False, out: Out = None, json: Json = False) -> None:
    """Measure updates/s of the learners against RLlib's SAC and bare torch loops; 10 minutes."""
    from rolecast.platform.benchmarks.learners import measure_all
    from rolecast.platform.benchmarks.learners_table import RATIO_HEAD, markdown, ratio_rows

    results = measure_all(quick=quick, note=warn)
    written = _write(_folder(out, quick=quick), "learners", results, markdown(results))
    if json:
        print_json(results)
    else:
        print_table(RATIO_HEAD, ratio_rows(results))
        _say_written(written)


@app.command("competitors")
def competitors_table(
    *,
    seeds: Seeds = 3,
    quick: Quick = False,
    only: Annotated[list[str] | None, _only("problem=, contestant= or seed=")] = None,
    processes: Processes = 2,
    out: Out = None,
    json: Json = False,
) -> None:
    """Run every optimiser on functions with published results; hours, in pieces as you like.

    A finished cell is kept in competitors.json at once and not computed again.
    """
    from rolecast.platform.benchmarks.competitors import chosen, run_missing
    from rolecast.platform.benchmarks.competitors_cells import all_cells, quick_cells
    from rolecast.platform.benchmarks.competitors_files import write_files

    folder = _folder(out, quick=quick)
    cells = chosen(quick_cells() if quick else all_cells(seeds), only or [])
    path = folder / "competitors.json"
    rows = run_missing(cells, path, processes=processes, note=warn)
    written = [path, *write_files(rows, folder)]
    _tell(rows, written, json=json)


@app.command("proposals")
def proposals_table(
    *,
    quick: Quick = False,
    only: Annotated[list[str] | None, _only("optimizer= or dimension=")] = None,
    processes: Processes = 1,
    out: Out = None,
    json: Json = False,
) -> None:
    """Measure how long every optimiser thinks, and in how much memory; an hour or two of one core.

    A finished optimiser and number of dimensions is kept in proposals.json and not measured again.
    """
    from rolecast.platform.benchmarks.proposals import chosen, run_missing, write_files
    from rolecast.platform.benchmarks.proposals_cells import all_cells, quick_cells

    folder = _folder(out, quick=quick)
    cells = chosen(quick_cells() if quick else all_cells(), only or [])
    path = folder / "proposals.json"
    rows = run_missing(cells, path, processes=processes, note=warn)
    written = [path, *write_files(rows, folder)]
    _tell(rows, written, json=json)
