"""`rolecast bench faults`: schedules of faults, counted, and the failing ones made small."""

import gc
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from enum import StrEnum
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from time import perf_counter, process_time
from types import MappingProxyType
from typing import Annotated, Any, Final

import typer

from rolecast.benchmarks.options import Out, Processes, kept_results, write_results
from rolecast.core.mortal import end_with_parent
from rolecast.platform.cli.output import Json, print_json, say, warn


class Part(StrEnum):
    """What is disturbed."""

    SEARCHES = "searches"
    COMPARISONS = "comparisons"
    DAMAGE = "damage"
    SOAK = "soak"


SIMULATION_MODULES: Final[Mapping[Part, str]] = MappingProxyType(
    {
        Part.SEARCHES: "rolecast.benchmarks.faults.simulation",
        Part.COMPARISONS: "rolecast.benchmarks.faults.comparison.simulation",
    }
)
"""Module whose `run_schedule` and `run_faults` disturb it."""

CHUNK_SCHEDULES: Final = 50
"""Schedules that a process takes at once."""

SECONDS_SILENT: Final = 10.0
"""Time after which it is told how far a long run is."""

MOST_SHOWN: Final = 5
"""Failing schedules that are made small and shown."""


def fault_schedules(
    *,
    part: Annotated[Part, typer.Option(help="What is disturbed.")] = Part.SEARCHES,
    schedules: Annotated[
        int, typer.Option(min=1, metavar="N", help="How many; some 5 to 30 a second of a core.")
    ] = 300,
    hours: Annotated[
        float, typer.Option(min=0.0, help="Of the soak, which kills real processes.")
    ] = 2.0,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the first; others follow.")] = 0,
    add: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE",
            help="Figures of other seeds, printed by --json or kept by --out; repeatable.",
        ),
    ] = None,
    points: Annotated[
        bool, typer.Option("--points", help="Show the points that the first schedule passed.")
    ] = False,
    processes: Processes = 1,
    out: Out = None,
    json: Json = False,
) -> None:
    """Run searches and comparisons under faults: kills, power cuts, full disks, signals.

    Real: loop, journal, folders, checkpoints, optimiser session, trials of a comparison and its
    driver. Simulated: disk, clock, processes. One seed is one schedule; a seed that fails is run
    again by --schedules 1 --seed. The soak runs real searches and a comparison on a real cluster of
    this machine and kills their processes. Damage mutates as many times files of a run. Files are
    written where --out names a folder.
    """
    if part is Part.SOAK:
        _soak(hours, seed, add or (), out, json=json)
        return
    from rolecast.core.errors import RequestError, RunError

    if part is Part.DAMAGE:
        if add:
            raise RequestError("--add is of no use with --part damage; expected another part")
        _damage(schedules, seed, out, json=json)
        return
    from rolecast.benchmarks.faults.added import (
        ADDED_FIELDS,
        joined,
        read_added,
        require_adjoining,
    )
    from rolecast.benchmarks.faults.schedule import shrunk

    others = read_added(part, add or (), ADDED_FIELDS)
    own = {"schedules": schedules, "first_seed": seed}
    require_adjoining([*others, own])  # refused before anything is run
    began = perf_counter()
    figures, failing = Counter[str](), list[int]()
    simulation = _simulation(part)
    finished, said = 0, began
    for done, failed in _counted(part, range(seed, seed + schedules), processes):
        figures += done
        failing += failed
        finished = min(schedules, finished + CHUNK_SCHEDULES)
        if not json and perf_counter() - said > SECONDS_SILENT:
            said = perf_counter()
            say(f"{finished} of {schedules} schedules: {len(failing)} failed")
    took = perf_counter() - began
    results = joined(part, [*others, {**own, "failed": failing, **_rounded(figures, took)}])
    for each in failing[:MOST_SHOWN]:
        fails = partial(_fails, simulation, each)
        least = shrunk(simulation.run_schedule(each).faults, fails)
        shown = ", ".join(map(str, least))
        warn(f"seed {each}: {simulation.run_faults(each, least).failure} by {shown}")
    if points:  # beside what --json prints
        (warn if json else say)("\n".join(simulation.run_schedule(seed).passed))
    failed = results["failed"]
    sentence = (
        f"{results['schedules']} schedules, {results['faults']} faults, {results['lives']} "
        f"drivers: {len(failed)} failed; {results['real_time_ratio']:,} times real time on a core"
    )
    _tell(out, part, results, sentence, json=json)
    if failed:
        raise RunError(
            f"{len(failed)} of {results['schedules']} schedules failed; the first again: rolecast "
            f"bench faults --part {part} --schedules 1 --seed {failed[0]} --points"
        )


def _damage(mutations: int, seed: int, out: Path | None, *, json: bool) -> None:
    """Mutate files of a run, and tell what came of it.

    Raises:
        RunError: a mutation changed what is read, or was told of in no sentence.
    """
    from rolecast.benchmarks.faults.damage import count_mutations
    from rolecast.core.errors import RunError

    results = count_mutations(mutations, seed)
    sentence = f"{mutations} mutations: {sum(results['refused'].values())} refused"
    _tell(out, Part.DAMAGE, results, sentence, json=json)
    if results["broken"]:
        raise RunError(f"{len(results['broken'])} mutations: {results['broken'][0]}, and others")


def _soak(hours: float, seed: int, add: Sequence[Path], out: Path | None, *, json: bool) -> None:
    """Kill real processes, and tell what came of it, with the figures of other soaks.

    Raises:
        RequestError: another soak has this seed, or two have the same.
        RunError: a run came out otherwise than undisturbed, or did not end.
    """
    from rolecast.benchmarks.faults.added import SOAK_FIELDS, read_added
    from rolecast.benchmarks.faults.soak.run import added_soaks, soak
    from rolecast.core.errors import RequestError, RunError

    others = [added_soaks(read_added(Part.SOAK, add, SOAK_FIELDS))] if add else []
    if any(seed in each["seeds"] for each in others):  # refused before hours are spent
        raise RequestError(f"--seed is {seed}; expected one that no file of --add has")
    results = added_soaks([*others, soak(hours, seed)])
    finished = sum(run["finished"] for run in results["runs"])
    equal = sum(run["equal"] for run in results["runs"])
    kills = sum(results["kills"].values())
    sentence = f"{kills} kills, {finished} runs finished, {equal} of them equal"
    _tell(out, Part.SOAK, results, sentence, json=json)
    if equal < finished:
        raise RunError(f"{finished - equal} of {finished} runs differ from undisturbed ones")
    if results["hanging"]:
        raise RunError(f"{', '.join(results['hanging'])}: not at the end long after the last kill")


def _tell(
    out: Path | None, part: Part, results: Mapping[str, Any], sentence: str, *, json: bool
) -> None:
    """Add the figures of a part to those in a folder; without one, print them or a sentence."""
    if out is not None:
        from rolecast.benchmarks.commits import source_commit
        from rolecast.benchmarks.faults.page import page

        own = {**results, "commit": source_commit()}
        parts = kept_results(out, "faults") | {str(part): own}
        write_results(out, "faults", parts, page(parts), json=json)
    elif json:
        print_json(results)
    else:
        say(sentence)


def _fails(simulation: Any, seed: int, faults: list[Any]) -> bool:
    """Return whether a schedule fails by these faults alone."""
    return simulation.run_faults(seed, faults).failure is not None


def _counted(part: Part, seeds: range, processes: int) -> Iterator[tuple[Counter[str], list[int]]]:
    """Yield figures and failing seeds, chunk by chunk."""
    parts = [
        seeds[begin : begin + CHUNK_SCHEDULES] for begin in range(0, len(seeds), CHUNK_SCHEDULES)
    ]
    if processes == 1:
        yield from map(partial(count_schedules, part), parts)
        return
    with ProcessPoolExecutor(processes, initializer=end_with_parent) as pool:
        yield from pool.map(partial(count_schedules, part), parts)


def count_schedules(part: Part, seeds: range) -> tuple[Counter[str], list[int]]:
    """Run schedules; return sums over them, and the seeds that fail."""
    run_schedule = _simulation(part).run_schedule
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


@cache
def _simulation(part: Part) -> Any:
    """Return the module that simulates a part; objects until here are not swept for garbage."""
    module = import_module(SIMULATION_MODULES[part])
    gc.collect()
    gc.freeze()
    return module


def _rounded(figures: Counter[str], took: float) -> dict[str, Any]:
    """Return the sums as they are shown."""
    kinds = {name.removeprefix("kind: "): n for name, n in figures.items() if name[:4] == "kind"}
    return {
        "lives": figures["lives"],
        "faults": figures["faults"],
        "kinds": dict(sorted(kinds.items())),
        "points": figures["points"],
        "simulated_hours": round(figures["simulated_ms"] / 3.6e6, 3),
        "wall_s": round(took, 1),
        "core_s": round(figures["core_ms"] / 1000, 3),
    }
