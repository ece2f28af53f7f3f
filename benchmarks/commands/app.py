"""`rolecast bench`: the measurements that the documentation quotes."""

from pathlib import Path
from typing import Annotated

import typer

from rolecast.benchmarks.commands import speed as command_speed
from rolecast.benchmarks.commands.options import (
    Out,
    Processes,
    Quick,
    Seeds,
    folder_of,
    kept_results,
    only_option,
    say_written,
    tell,
    write_results,
)
from rolecast.platform.cli.output import Json, print_json, say, warn

app = typer.Typer(help="Make the result tables of docs/results again.", no_args_is_help=True)
for name, command in (
    ("envs", command_speed.envs_speed),
    ("surrogate", command_speed.surrogate_speed),
    ("learners", command_speed.learners_speed),
    ("proposals", command_speed.proposals_table),
):
    app.command(name)(command)


@app.command("main")
def main_table(
    *,
    seeds: Seeds = 5,
    quick: Quick = False,
    only: Annotated[list[str] | None, only_option("task=, optimizer=, seed= or env_steps=")] = None,
    processes: Processes = 2,
    out: Out = None,
    readme: Annotated[
        Path | None, typer.Option(metavar="FILE", help="README whose result region is filled.")
    ] = None,
    json: Json = False,
) -> None:
    """Run every optimiser on every task at every budget; hours, in pieces as you like.

    A finished search is kept and not computed again, one that is stopped goes on where it was;
    tables and pictures are written anew at the end of each call.
    """
    from rolecast.benchmarks.experiment_table import chosen_trials
    from rolecast.benchmarks.main_table import (
        MAIN_FILTERS,
        main_trials,
        quick_main_trials,
        run_main_table,
        write_main_table,
    )

    folder = folder_of(out, quick=quick)
    every = quick_main_trials() if quick else main_trials(seeds)
    trials = chosen_trials(every, only or [], MAIN_FILTERS)
    rows = run_main_table(trials, folder / "main.json", processes=processes, note=warn)
    written = write_main_table(rows, folder, readme=readme)
    tell(rows, written, json=json)


@app.command("structure")
def structure_found(
    *,
    part: Annotated[
        list[str] | None,
        typer.Option(metavar="PART", help="stability or recovery; many. What else is there stays."),
    ] = None,
    seeds: Seeds = 5,
    quick: Quick = False,
    out: Out = None,
    json: Json = False,
) -> None:
    """Compare the edges that searches find with each other and with true ones; minutes.

    Stability: edges of the policy's Hessian, by seeds and numbers of policies. Recovery: pairs
    found in the returns of functions whose graph is known.
    """
    from rolecast.benchmarks.structure import recovery, stability
    from rolecast.core.errors import unknown_name

    parts = {"stability": stability.measure_all, "recovery": recovery.measure_recovery}
    for name in part or ():
        if name not in parts:
            raise unknown_name("--part", name, parts)
    folder = folder_of(out, quick=quick)
    results = kept_results(folder, "structure", part)
    for name in part or parts:
        results |= parts[name](quick=quick, seeds=seeds, note=warn)
    page = stability.markdown(results) if "rows" in results else ""
    page += recovery.markdown(results["recovery"]) if "recovery" in results else ""
    written = write_results(folder, "structure", results, page)
    if json:
        print_json(results)
    else:
        say_written(written)


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
    from rolecast.benchmarks.tasks import DRAWN_TASKS, draw_all, measure_all, write_page

    if pictures is not None:
        draw_all(pictures, DRAWN_TASKS, warn)
    target = folder_of(out, quick=quick) / "tasks.json"
    results = measure_all(target, quick=quick, note=warn)
    if page is not None:
        write_page(results, page)
    if json:
        print_json(results)
    else:
        say_written([target] if page is None else [target, page])


@app.command("optimizers")
def optimizers_table(
    *,
    seeds: Seeds = 5,
    quick: Quick = False,
    only: Annotated[list[str] | None, only_option("problem=, kind=, contestant= or seed=")] = None,
    processes: Processes = 2,
    out: Out = None,
    json: Json = False,
) -> None:
    """Run every optimiser, with and without structure, on functions of known optimum and policies.

    Some two hours of one core, in pieces as you like (`--only kind=policy`, say): a finished cell
    is kept at once, in optimizers.json or optimizers_policies.json.
    """
    from rolecast.benchmarks.optimizers.files import ratios
    from rolecast.benchmarks.optimizers.policy_files import gains
    from rolecast.benchmarks.optimizers.run import (
        all_cells,
        chosen,
        quick_cells,
        run_missing,
        write_files,
    )

    folder = folder_of(out, quick=quick)
    cells = chosen(quick_cells() if quick else all_cells(seeds), only or [])
    functions, searches = run_missing(cells, folder, processes=processes, note=warn)
    written = write_files(functions, searches, folder)
    compared = {
        "ratios": ratios(functions).to_dict("records"),
        "gains": gains(searches).to_dict("records"),
    }
    tell([*functions, *searches], written, json=json, **(compared if json else {}))


@app.command("baselines")
def baselines_ledger(
    *,
    seeds: Seeds = 3,
    quick: Quick = False,
    only: Annotated[list[str] | None, only_option("arena=, contestant= or seed=")] = None,
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

    A finished training is kept in baselines.json and not run again; one that is stopped
    goes on from its last point. Pictures, and the page if one is given, are written anew at the
    end of each call.
    """
    from rolecast.benchmarks.experiment_table import chosen_trials
    from rolecast.benchmarks.ledger.trials import (
        LEDGER_FILTERS,
        ledger_trials,
        quick_ledger_trials,
        run_ledger,
    )
    from rolecast.benchmarks.resumable import finished, read_rows

    folder = folder_of(out, quick=quick)
    path = folder / "baselines.json"
    every = quick_ledger_trials() if quick else ledger_trials(seeds)
    trials = chosen_trials(every, only or [], LEDGER_FILTERS)
    if listed:
        done = finished(read_rows(path))
        if json:
            print_json({trial.key: trial.key in done for trial in trials})
        else:
            for trial in trials:
                say(f"{'there ' if trial.key in done else 'to run'}  {trial.key}")
        return
    from rolecast.benchmarks.ledger.page import write_files

    rows = run_ledger(trials, path, processes=processes, note=warn)
    searches = read_rows(folder / "main.json")
    written = [path, *write_files(rows, folder, page=page, searches=searches)]
    tell(rows, written, json=json)


@app.command("competitors")
def competitors_table(
    *,
    seeds: Seeds = 3,
    quick: Quick = False,
    only: Annotated[list[str] | None, only_option("problem=, contestant= or seed=")] = None,
    processes: Processes = 2,
    out: Out = None,
    json: Json = False,
) -> None:
    """Run every optimiser on functions with published results; hours, in pieces as you like.

    A finished cell is kept in competitors.json at once and not computed again.
    """
    from rolecast.benchmarks.competitors.cells import all_cells, quick_cells
    from rolecast.benchmarks.competitors.files import write_files
    from rolecast.benchmarks.competitors.run import chosen, run_missing

    folder = folder_of(out, quick=quick)
    cells = chosen(quick_cells() if quick else all_cells(seeds), only or [])
    path = folder / "competitors.json"
    rows = run_missing(cells, path, processes=processes, note=warn)
    written = [path, *write_files(rows, folder)]
    tell(rows, written, json=json)
