"""`rolecast bench` of time and memory: tasks, the surrogate, learners, proposals."""

from typing import Annotated

import typer

from rolecast.benchmarks.commands.options import (
    Out,
    Processes,
    Quick,
    folder_of,
    kept_results,
    only_option,
    run_table,
    say_written,
    write_results,
)
from rolecast.platform.cli.output import Json, print_json, print_table, say, warn


def envs_speed(*, quick: Quick = False, out: Out = None, json: Json = False) -> None:
    """Measure env-steps/s of the tasks against mpe2, Gymnasium and gymnasium-robotics; minutes."""
    from rolecast.benchmarks.env_speed.run import measure_all
    from rolecast.benchmarks.env_speed.table import TABLE_HEAD, compared, markdown, rows

    results = measure_all(quick=quick, note=warn)
    written = write_results(folder_of(out, quick=quick), "envs", results, markdown(results))
    if json:
        print_json(results)
    else:
        for group in results["groups"]:
            say(f"\n{group['title']}. {compared(results, group)}")
            print_table(TABLE_HEAD, rows(results, group))
        say_written(written)


def surrogate_speed(
    *,
    part: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PART",
            help="kernels, cores, iterations; cuda_kernels, cuda_search where there is a GPU; "
            "many. What else is there stays.",
        ),
    ] = None,
    quick: Quick = False,
    out: Out = None,
    json: Json = False,
) -> None:
    """Measure the fused sum over cliques against GPyTorch's, and whole iterations; half an hour."""
    from rolecast.benchmarks.surrogate_speed.run import BENCHMARK_PARTS, measure_all

    folder = folder_of(out, quick=quick)
    before = kept_results(folder, "surrogate", part or list(BENCHMARK_PARTS))
    results = before | measure_all(quick=quick, note=warn, parts=part or BENCHMARK_PARTS)
    written = write_results(folder, "surrogate", results, None)
    if json:
        print_json(results)
        return
    for precision, ratios in results.get("ratio_to_gpytorch", {}).items():
        times = ", ".join(f"{name} {ratio:,.1f} times" for name, ratio in ratios.items())
        say(f"as fast as GPyTorch, {precision}: {times}")
    if ratio := results.get("iteration_ratio_to_botorch"):
        say(f"a whole iteration as fast as BoTorch's: {ratio} times")
    say_written(written)


def learners_speed(*, quick: Quick = False, out: Out = None, json: Json = False) -> None:
    """Measure updates/s of the learners against RLlib's SAC and bare torch loops; 10 minutes."""
    from rolecast.benchmarks.learner_speed.run import measure_all
    from rolecast.benchmarks.learner_speed.table import RATIO_HEAD, markdown, ratio_rows

    results = measure_all(quick=quick, note=warn)
    written = write_results(folder_of(out, quick=quick), "learners", results, markdown(results))
    if json:
        print_json(results)
    else:
        print_table(RATIO_HEAD, ratio_rows(results))
        say_written(written)


def proposals_table(
    *,
    quick: Quick = False,
    only: Annotated[list[str] | None, only_option("optimizer= or dimension=")] = None,
    processes: Processes = 1,
    out: Out = None,
    json: Json = False,
) -> None:
    """Measure how long every optimiser thinks, and in how much memory; an hour or two of one core.

    A finished optimiser and number of dimensions is kept in proposals.json and not measured again.
    """
    from rolecast.benchmarks.proposals import proposal_runs, quick_proposal_runs
    from rolecast.benchmarks.proposals_page import PROPOSALS_TABLE

    runs = quick_proposal_runs() if quick else proposal_runs()
    run_table(
        PROPOSALS_TABLE, runs, only, folder_of(out, quick=quick), processes=processes, json=json
    )
