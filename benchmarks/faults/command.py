"""`rolecast bench faults`: schedules of faults, counted, and the failing ones made small."""

from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from time import perf_counter, process_time
from typing import Annotated, Any, Final

import typer

from rolecast.benchmarks.options import Out, Processes, write_results
from rolecast.platform.cli.output import Json, print_json, say, warn

CHUNK_SCHEDULES: Final = 50
"""Schedules that a process takes at once."""

MOST_SHOWN: Final = 5
"""Failing schedules that are made small and shown."""


def fault_schedules(
    *,
    schedules: Annotated[
        int, typer.Option(min=1, metavar="N", help="How many; 40 a second of a core.")
    ] = 300,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the first; others follow.")] = 0,
    points: Annotated[
        bool, typer.Option("--points", help="Show the points that the first schedule passed.")
    ] = False,
    processes: Processes = 1,
    out: Out = None,
    json: Json = False,
) -> None:
    """Run searches under simulated faults: kills, power cuts, full disks, clock jumps, signals.

    Real: loop, journal, run folder, checkpoints, optimiser session. Simulated: disk, clock,
    processes. One seed is one schedule; a seed that fails is run again by --schedules 1 --seed.
    Files are written where --out names a folder.
    """
    from rolecast.benchmarks.faults.schedule import shrunk
    from rolecast.benchmarks.faults.simulation import run_faults, run_schedule
    from rolecast.core.errors import RunError

    began = perf_counter()
    figures, failing = Counter[str](), list[int]()
    for done, failed in _counted(range(seed, seed + schedules), processes):
        figures += done
        failing += failed
    took = perf_counter() - began
    results: dict[str, Any] = {
        "schedules": schedules,
        "first_seed": seed,
        "failed": failing,
        **_rounded(figures, took),
        "command": f"rolecast bench faults --schedules {schedules} --seed {seed}",
    }
    for each in failing[:MOST_SHOWN]:
        outcome = run_schedule(each)
        least = shrunk(outcome.faults, lambda few: run_faults(each, few).failure is not None)  # noqa: B023 - called at once
        shown = ", ".join(map(str, least))
        warn(f"seed {each}: {run_faults(each, least).failure} by {shown}")
    if points:
        say("\n".join(run_schedule(seed).passed))
    if out is not None:
        from rolecast.benchmarks.faults.page import page

        write_results(out, "faults", results, page(results), json=json)
    elif json:
        print_json(results)
    else:
        say(
            f"{schedules} schedules, {results['faults']} faults, {results['lives']} drivers: "
            f"{len(failing)} failed; {results['real_time_ratio']:,} times real time on a core"
        )
    if failing:
        raise RunError(
            f"{len(failing)} of {schedules} schedules failed; the first again: rolecast bench "
            f"faults --schedules 1 --seed {failing[0]} --points"
        )


def _counted(seeds: range, processes: int) -> Iterator[tuple[Counter[str], list[int]]]:
    """Yield figures and failing seeds, chunk by chunk."""
    parts = [
        seeds[begin : begin + CHUNK_SCHEDULES] for begin in range(0, len(seeds), CHUNK_SCHEDULES)
    ]
    if processes == 1:
        yield from map(count_schedules, parts)
        return
    with ProcessPoolExecutor(processes) as pool:
        yield from pool.map(count_schedules, parts)


def count_schedules(seeds: range) -> tuple[Counter[str], list[int]]:
    """Run schedules; return sums over them, and the seeds that fail."""
    from rolecast.benchmarks.faults.simulation import run_schedule

    figures, failing = Counter[str](), []
    began = process_time()
    for seed in seeds:
        outcome = run_schedule(seed)
        figures["lives"] += outcome.lives
        figures["simulated_ms"] += round(1000 * outcome.simulated_s)
        figures["points"] += len(outcome.passed)
        for fault in outcome.struck:
            figures["faults"] += 1
            figures[f"kind: {fault.kind}"] += 1
        if outcome.failure is not None:
            failing.append(seed)
    figures["core_ms"] = round(1000 * (process_time() - began))
    return figures, failing


def _rounded(figures: Counter[str], took: float) -> dict[str, Any]:
    """Return the sums as they are shown."""
    kinds = {name.removeprefix("kind: "): n for name, n in figures.items() if name[:4] == "kind"}
    return {
        "lives": figures["lives"],
        "faults": figures["faults"],
        "kinds": dict(sorted(kinds.items())),
        "points": figures["points"],
        "simulated_hours": round(figures["simulated_ms"] / 3.6e6, 1),
        "wall_s": round(took, 1),
        "core_s": round(figures["core_ms"] / 1000, 1),
        "real_time_ratio": round(figures["simulated_ms"] / max(1, figures["core_ms"])),
    }
