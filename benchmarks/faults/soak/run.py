"""Runs jobs, kills their processes at random from one seed, and counts what came out equal."""

import os
import signal
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from rolecast.benchmarks.faults.soak.cluster import LocalCluster, Victim
from rolecast.benchmarks.faults.soak.jobs import Job, make_jobs
from rolecast.core.errors import RequestError, RunError
from rolecast.platform.cli.output import warn

SOAK_FAMILY: Final = 0x736F616B
"""Keeps its seeds apart from others."""

MEAN_PAUSE_S: Final = 4.0
"""Mean time from one kill to the next, exponentially distributed."""

LOOK_PAUSE_S: Final = 0.2

COUNTED_RUNS: Final = ("finished", "equal", "resumed")
"""Figures of a run that add up over soaks."""

SAID_EVERY_S: Final = 60.0
"""Time from one line about the soak to the next."""

LAST_RUNS_S: Final = 400.0
"""Time after the last kill in which all that runs has to end."""


def soak(hours: float, seed: int) -> dict[str, Any]:
    """Kill processes for a time; return what was killed and what came of it.

    The seed draws kinds and pauses; which process of a kind there is depends on the machine.
    """
    with tempfile.TemporaryDirectory(prefix="soak", ignore_cleanup_errors=True) as name:
        cluster = LocalCluster()
        jobs = make_jobs(Path(name), cluster.address)
        try:
            _undisturbed(jobs)
            kills, seconds = _disturbed(jobs, cluster, hours, seed)
            hanging = _last_runs(jobs, cluster)
        finally:
            for job in jobs:
                job.end()
            cluster.close()
    took = round(seconds / 3600, 3)
    return {
        "hours": took,
        "longest_hours": took,
        "seeds": [seed],
        "kills": {str(kind): kills[kind] for kind in Victim},
        "runs": [
            {
                "run": job.name,
                "finished": job.finished,
                "equal": job.equal,
                "resumed": job.resumed,
                "said": sorted(set(job.said)),
            }
            for job in jobs
        ],
        "hanging": hanging,
        "commands": [f"rolecast bench faults --part soak --hours {hours:g} --seed {seed}"],
    }


def added_soaks(soaks: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the figures of several soaks of different seeds together.

    Raises:
        RequestError: two have the same seed.
    """
    seeds = [seed for each in soaks for seed in each["seeds"]]
    if len(set(seeds)) < len(seeds):
        raise RequestError(f"soaks of seeds {seeds}; expected seeds that differ")
    runs: dict[str, dict[str, Any]] = {}
    for run in (run for each in soaks for run in each["runs"]):
        before = runs.get(run["run"], {"run": run["run"], "said": []})
        counts = {name: before.get(name, 0) + run[name] for name in COUNTED_RUNS}
        said = sorted({*before["said"], *run["said"]})
        runs[run["run"]] = {"run": run["run"], **counts, "said": said}
    return {
        "hours": round(sum(each["hours"] for each in soaks), 3),
        "longest_hours": max(each["longest_hours"] for each in soaks),
        "seeds": seeds,
        "kills": {kind: sum(each["kills"][kind] for each in soaks) for kind in soaks[0]["kills"]},
        "runs": list(runs.values()),
        "hanging": [name for each in soaks for name in each["hanging"]],
        "commands": [command for each in soaks for command in each["commands"]],
    }


def _undisturbed(jobs: list[Job]) -> None:
    """Run each job to its end, for what the others are compared with."""
    warn(f"soak: {len(jobs)} runs undisturbed, which the others are compared with")
    for job in jobs:
        job.start()
    for job in jobs:
        assert job.process is not None
        if job.process.wait() != 0:
            raise RunError(f"{job.name} fails undisturbed: {job.log.read_text()[-300:]}")
        job.expected = job.digest(job.out)
        job.tend(more=False)
        job.finished = job.equal = 0


def _disturbed(
    jobs: list[Job], cluster: LocalCluster, hours: float, seed: int
) -> tuple[Counter[Victim], float]:
    """Kill one process after the other; return how many of each kind, and the seconds it took."""
    rng = np.random.default_rng([SOAK_FAMILY, seed])
    kills, kinds = Counter[Victim](), list(Victim)
    for job in jobs:
        job.start()
    began = next_kill = told = time.monotonic()
    while time.monotonic() < began + 3600 * hours:
        if time.monotonic() >= told + SAID_EVERY_S:
            told = time.monotonic()
            warn(f"soak: {_so_far(told - began, kills, jobs)}")
        time.sleep(LOOK_PAUSE_S)
        cluster.tend()
        for job in jobs:
            job.tend(more=True)
        if time.monotonic() < next_kill:
            continue
        next_kill = time.monotonic() + float(rng.exponential(MEAN_PAUSE_S))
        kind = kinds[int(rng.integers(0, len(kinds)))]
        kills[kind] += _kill(kind, jobs, cluster, rng)
    return kills, time.monotonic() - began


def _so_far(seconds: float, kills: Counter[Victim], jobs: list[Job]) -> str:
    """Return what came of it so far, in words."""
    finished, equal = sum(job.finished for job in jobs), sum(job.equal for job in jobs)
    return f"{seconds / 60:.0f} min, {kills.total()} kills, {finished} runs ended, {equal} equal"


def _kill(kind: Victim, jobs: list[Job], cluster: LocalCluster, rng: np.random.Generator) -> int:
    """Kill a process of a kind; return 0 where there is none now."""
    if kind in {Victim.DRIVER, Victim.COMPARE}:
        of_kind = [job for job in jobs if (job.record == "run.json") == (kind is Victim.DRIVER)]
        running = [job for job in of_kind if job.process is not None]
        if not running:
            return 0
        job = running[int(rng.integers(0, len(running)))]
        assert job.process is not None
        job.killed = True
        job.process.kill()
        return 1
    found = cluster.processes(kind)
    if not found:
        return 0
    victim = found[int(rng.integers(0, len(found)))]
    if kind is Victim.RAYLET:
        cluster.lose_node(victim, rng)
        return 1
    try:
        os.kill(victim, signal.SIGKILL)
    except ProcessLookupError:
        return 0  # it has ended by itself
    return 1


def _last_runs(jobs: list[Job], cluster: LocalCluster) -> list[str]:
    """Let what runs end undisturbed; return the names of jobs that do not."""
    end = time.monotonic() + LAST_RUNS_S
    while time.monotonic() < end and any(job.process is not None for job in jobs):
        time.sleep(LOOK_PAUSE_S)
        cluster.tend()
        for job in jobs:
            job.tend(more=False)
    hanging = [job.name for job in jobs if job.process is not None]
    if hanging:
        warn(f"not at their end {LAST_RUNS_S:.0f} s after the last kill: {', '.join(hanging)}")
    return hanging
