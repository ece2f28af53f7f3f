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
    run_table,
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
    from rolecast.benchmarks.main_table import (
        MAIN_FILTERS,
        main_trials,
        quick_main_trials,
        run_main_table,
        write_main_table,
    )
    from rolecast.benchmarks.result_table import chosen

    folder = folder_of(out, quick=quick)
    every = quick_main_trials() if quick else main_trials(seeds)
    trials = chosen(every, only or [], MAIN_FILTERS)
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
    from rolecast.benchmarks import policy_page, policy_table
    from rolecast.benchmarks.experiment_table import TableTrial
    from rolecast.benchmarks.functions.known_page import KNOWN_TABLE, ratios
    from rolecast.benchmarks.functions.known_suite import known_runs, quick_known_runs
    from rolecast.benchmarks.functions.runs import FunctionRun
    from rolecast.benchmarks.result_table import chosen

    folder = folder_of(out, quick=quick)
    runs = quick_known_runs() if quick else known_runs(seeds)
    trials = policy_table.quick_policy_trials() if quick else policy_table.policy_trials(seeds)
    cells: list[FunctionRun | TableTrial] = chosen([*runs, *trials], only or [], KNOWN_TABLE.kinds)
    functions = KNOWN_TABLE.run_missing(
        [cell for cell in cells if isinstance(cell, FunctionRun)],
        folder,
        processes=processes,
        note=warn,
    )
    path = folder / policy_table.POLICIES_FILE
    searches = policy_table.run_policy_table(
        [cell for cell in cells if isinstance(cell, TableTrial)],
        path,
        processes=processes,
        note=warn,
    )
    written = KNOWN_TABLE.write(functions, folder)
    if searches:
        written += [path, *policy_page.write_files(searches, folder)]
    compared = {
        "ratios": ratios(functions).to_dict("records"),
        "gains": policy_page.gains(searches).to_dict("records"),
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
    from rolecast.benchmarks.ledger.trials import (
        LEDGER_FILTERS,
        ledger_trials,
        quick_ledger_trials,
        run_ledger,
    )
    from rolecast.benchmarks.result_table import chosen, finished, read_rows

    folder = folder_of(out, quick=quick)
    path = folder / "baselines.json"
    every = quick_ledger_trials() if quick else ledger_trials(seeds)
    trials = chosen(every, only or [], LEDGER_FILTERS)
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
    from rolecast.benchmarks.functions.published_page import PUBLISHED_TABLE
    from rolecast.benchmarks.functions.published_suite import published_runs, quick_published_runs

    runs = quick_published_runs() if quick else published_runs(seeds)
    run_table(
        PUBLISHED_TABLE, runs, only, folder_of(out, quick=quick), processes=processes, json=json
    )
