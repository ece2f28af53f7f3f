"""`rolecast bench`: the measurements that the documentation quotes."""

from pathlib import Path
from typing import Annotated

import typer

from rolecast.benchmarks.bandits.command import duets_table
from rolecast.benchmarks.causal.command import causal_results
from rolecast.benchmarks.device.command import device_costs, service_speed
from rolecast.benchmarks.dial.command import dial_table
from rolecast.benchmarks.faults.command import fault_schedules
from rolecast.benchmarks.functions.command import competitors_table, optimizers_table
from rolecast.benchmarks.options import (
    Fresh,
    Out,
    Processes,
    Quick,
    ScalingParts,
    Seeds,
    TrustLearners,
    file_option,
    filled_table,
    folder_of,
    kept_results,
    only_option,
    part_option,
    run_table,
    run_trials,
    tell,
    write_results,
)
from rolecast.platform.cli.output import Json, print_json, print_table, say, warn

app = typer.Typer(help="Make the result tables of docs/results again.", no_args_is_help=True)
app.command("dial")(dial_table)
app.command("causal")(causal_results)
app.command("export")(device_costs)
app.command("serve")(service_speed)
app.command("duets")(duets_table)
app.command("faults")(fault_schedules)
app.command("optimizers")(optimizers_table)
app.command("competitors")(competitors_table)


@app.command("main")
def main_table(
    *,
    seeds: Seeds = 5,
    quick: Quick = False,
    fresh: Fresh = False,
    only: Annotated[list[str] | None, only_option("task=, optimizer=, seed= or env_steps=")] = None,
    processes: Processes = 2,
    out: Out = None,
    page: Annotated[
        Path | None, file_option("Page whose result region is filled.", "--page", "--readme")
    ] = None,
    json: Json = False,
) -> None:
    """Run every optimiser on every task at every budget; hours, in pieces as you like.

    A finished search is kept and not computed again, one that is stopped goes on where it was;
    tables and pictures are written anew at the end of each call.
    """
    from rolecast.benchmarks import main_table as table

    trials = table.quick_main_trials() if quick else table.main_trials(seeds)
    folder = folder_of(out, quick=quick)
    run_trials(
        table.MAIN_TABLE, trials, only, folder, page, processes=processes, json=json, fresh=fresh
    )


@app.command("structure")
def structure_found(
    *,
    part: Annotated[list[str] | None, part_option("stability or recovery")] = None,
    seeds: Seeds = 5,
    quick: Quick = False,
    fresh: Fresh = False,
    out: Out = None,
    json: Json = False,
) -> None:
    """Compare the edges that searches find with each other and with true ones; minutes.

    Stability: edges of the policy's Hessian, by seeds and numbers of policies. Recovery: pairs
    found in the returns of functions whose graph is known.
    """
    from rolecast.benchmarks import structure as table
    from rolecast.core.errors import require_known

    require_known("--part", part or (), table.PART_PAGES)
    runs = table.quick_structure_runs(seeds) if quick else table.structure_runs(seeds)
    only = [f"part={name}" for name in part or ()]
    folder = folder_of(out, quick=quick)
    run_table(table.STRUCTURE_TABLE, runs, only, folder, processes=1, json=json, fresh=fresh)


@app.command("tasks")
def task_returns(
    *,
    quick: Quick = False,
    fresh: Fresh = False,
    out: Out = None,
    page: Annotated[
        Path | None, file_option("Page whose table is filled: docs/results/tasks.md.")
    ] = None,
    pictures: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Draw tasks into this: docs/tasks.")
    ] = None,
    json: Json = False,
) -> None:
    """Evaluate the scripted policies in every task that they can play; minutes.

    A finished policy in a task is kept in tasks.json at once and not played again.
    """
    from rolecast.benchmarks import tasks as table

    if pictures is not None:
        table.draw_all(pictures, table.DRAWN_TASKS, warn)
    folder = folder_of(out, quick=quick)
    runs = table.quick_scripted_runs() if quick else table.scripted_runs()
    rows, written = filled_table(table.SCRIPTED_TABLE, runs, folder, processes=1, fresh=fresh)
    if page is not None:
        table.write_page(rows, page)
    tell(rows, [*written, *filter(None, [page])], json=json)


@app.command("baselines")
def baselines_ledger(
    *,
    seeds: Seeds = 3,
    quick: Quick = False,
    fresh: Fresh = False,
    only: Annotated[list[str] | None, only_option("arena=, contestant= or seed=")] = None,
    listed: Annotated[
        bool, typer.Option("--list", help="Name the cells, and say which are there; run nothing.")
    ] = False,
    processes: Processes = 1,
    out: Out = None,
    trust: TrustLearners = False,
    page: Annotated[
        Path | None, file_option("Page whose ledger is filled: docs/results/baselines.md.")
    ] = None,
    json: Json = False,
) -> None:
    """Train every baseline where it is known what it should reach; hours, in pieces as you like.

    A finished training is kept in baselines.json and not run again; one that is stopped
    goes on from its last point. Pictures, and the page if one is given, are written anew at the
    end of each call.
    """
    from rolecast.benchmarks import ledger
    from rolecast.benchmarks.result_table import chosen, finished, read_rows

    table, folder = ledger.LEDGER_TABLE, folder_of(out, quick=quick)
    trials = ledger.quick_ledger_trials() if quick else ledger.ledger_trials(seeds)
    if listed:
        done = finished(read_rows(folder / table.file))
        there = {each.key: each.key in done for each in chosen(trials, only or [], table.kinds)}
        if json:
            print_json(there)
        else:
            for key, known in there.items():
                say(f"{'there ' if known else 'to run'}  {key}")
        return
    run_trials(
        table, trials, only, folder, page, processes=processes, json=json, fresh=fresh, trust=trust
    )


@app.command("envs")
def envs_speed(*, quick: Quick = False, out: Out = None, json: Json = False) -> None:
    """Measure env-steps/s of the tasks against mpe2, Gymnasium and gymnasium-robotics; minutes."""
    from rolecast.benchmarks.speed import envs

    results = envs.measure_all(quick=quick, note=warn)
    page = envs.markdown(results)
    for group in () if json else results["groups"]:
        say(f"\n{group['title']}. {envs.compared(results, group)}")
        print_table(envs.TABLE_HEAD, envs.rows(results, group))
    write_results(folder_of(out, quick=quick), "envs", results, page, json=json)


@app.command("surrogate")
def surrogate_speed(
    *,
    part: Annotated[
        list[str] | None,
        part_option("kernels, cores, iterations; cuda_kernels, cuda_search where there is a GPU"),
    ] = None,
    quick: Quick = False,
    out: Out = None,
    json: Json = False,
) -> None:
    """Measure the fused sum over cliques against GPyTorch's, and whole iterations; half an hour."""
    from rolecast.benchmarks.speed.surrogate import BENCHMARK_PARTS, measure_all

    folder = folder_of(out, quick=quick)
    results = kept_results(folder, "surrogate") | measure_all(
        quick=quick, note=warn, parts=part or BENCHMARK_PARTS
    )
    for precision, ratios in () if json else results.get("ratio_to_gpytorch", {}).items():
        times = ", ".join(f"{name} {ratio:,.1f} times" for name, ratio in ratios.items())
        say(f"as fast as GPyTorch, {precision}: {times}")
    if (ratio := results.get("iteration_ratio_to_botorch")) and not json:
        say(f"a whole iteration as fast as BoTorch's: {ratio} times")
    write_results(folder, "surrogate", results, None, json=json)


@app.command("scaling")
def scaling(
    *, part: ScalingParts = None, quick: Quick = False, out: Out = None, json: Json = False
) -> None:
    """Measure start and searches by workers, driver, forecast, and --asynchronous; an hour."""
    from rolecast.benchmarks.speed.scaling import SCALING_PARTS, markdown, measure_all

    folder, parts = folder_of(out, quick=quick), part or list(SCALING_PARTS)
    results = kept_results(folder, "scaling")
    measure_all(parts, results, folder / "scaling.json", quick=quick, note=warn)
    write_results(folder, "scaling", results, markdown(results), json=json)


@app.command("learners")
def learners_speed(*, quick: Quick = False, out: Out = None, json: Json = False) -> None:
    """Measure updates/s of the learners against RLlib's SAC and bare torch loops; 10 minutes."""
    from rolecast.benchmarks.speed import learners

    results = learners.measure_all(quick=quick, note=warn)
    page = learners.markdown(results)
    if not json:
        print_table(learners.RATIO_HEAD, learners.ratio_rows(results))
    write_results(folder_of(out, quick=quick), "learners", results, page, json=json)


@app.command("proposals")
def proposals_table(
    *,
    quick: Quick = False,
    fresh: Fresh = False,
    only: Annotated[list[str] | None, only_option("optimizer= or dimension=")] = None,
    processes: Processes = 1,
    out: Out = None,
    json: Json = False,
) -> None:
    """Measure time and memory of every optimiser's proposals; an hour or two of one core.

    A finished optimiser and number of dimensions is kept in proposals.json and not measured again.
    """
    from rolecast.benchmarks import proposals as table

    runs = table.quick_proposal_runs() if quick else table.proposal_runs()
    folder = folder_of(out, quick=quick)
    run_table(
        table.PROPOSALS_TABLE, runs, only, folder, processes=processes, json=json, fresh=fresh
    )
