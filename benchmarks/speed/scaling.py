"""Speed of searches by workers, the cost of a driver by workers, and the error of the forecast.

Four parts. Searches: whole searches with one thread, with threads, and with Ray workers, in
processes of their own. Driver: the real evaluator deals chunks to W stand-ins that do no work, held
by a few processes, as this machine has no memory for 1,000. Forecast: `rolecast plan` beside what
the searches took. Unequal: asynchronous searches beside synchronous ones, where time is simulated.
"""

import json
import os
import pickle
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from rolecast.benchmarks.speed import asynchronous
from rolecast.benchmarks.timing import digits, machine
from rolecast.core.errors import unknown_name
from rolecast.core.threads import THREADS_VARIABLE, available_cores
from rolecast.platform.deployment.compiler import run_program
from rolecast.platform.rollout.chunks import Chunk, ChunkResult

SCALING_PARTS: Final = ("searches", "driver", "forecast", "unequal")
"""Parts of the result."""

SEARCH_SEED: Final = 9
"""Root of all randomness of the searches."""

DRIVER_WORKERS: Final = (1, 10, 100, 1000)
"""Stand-ins of the driver's part."""

DRIVER_CHUNKS: Final = 10_000
"""Chunks of a batch there."""

CANDIDATE_SIZE: Final = 353
"""Parameters of a candidate in a chunk there."""

STAND_IN_PROCESSES: Final = 2
"""Processes that hold the stand-ins."""


@dataclass(frozen=True, kw_only=True)
class SearchRow:
    """One search that is timed."""

    name: str
    task: str
    options: tuple[str, ...]
    """Of `rolecast search`."""

    quick: tuple[str, ...]
    """Of a search of seconds."""


SEARCH_ROWS: Final = (
    SearchRow(
        name="pred_prey_3, local_gp",
        task="pred_prey_3",
        options=("--optimizer", "local_gp", "--env-steps", "800000"),
        quick=("--optimizer", "local_gp", "--env-steps", "20000"),
    ),
    SearchRow(
        name="pred_prey_3, dss_gp_ucb",
        task="pred_prey_3",
        options=("--env-steps", "800000"),
        quick=("--env-steps", "20000"),
    ),
    SearchRow(
        name="drone_delivery_3, 256 episodes",
        task="drone_delivery_3",
        options=("--evaluations", "1500", "--episodes", "256"),
        quick=("--evaluations", "60", "--episodes", "64"),
    ),
    SearchRow(
        name="ant, mlp, 2 episodes",
        task="ant",
        options=("--policy", "mlp", "--evaluations", "60", "--episodes", "2"),
        quick=("--policy", "mlp", "--evaluations", "4", "--episodes", "1"),
    ),
)


def measure_all(
    parts: Sequence[str], *, quick: bool, note: Callable[[str], None]
) -> dict[str, Any]:
    """Return the results of some parts, as JSON values.

    Args:
        parts: of `SCALING_PARTS`.
        quick: seconds instead of minutes.
        note: told of each measurement.
    Raises:
        RequestError: a part is unknown.
    """
    for name in parts:
        if name not in SCALING_PARTS:
            raise unknown_name("--part", name, SCALING_PARTS)
    found: dict[str, Any] = {
        "machine": machine({"ray": "ray", "numpy": "numpy", "numba": "numba", "mujoco": "mujoco"})
    }
    if "searches" in parts:
        found["searches"] = [
            timed
            for row in SEARCH_ROWS
            for timed in _ways(row, row.quick if quick else row.options, note)
        ]
    if "driver" in parts:
        counts = DRIVER_WORKERS[:2] if quick else DRIVER_WORKERS
        found["driver"] = measure_driver(counts, 200 if quick else DRIVER_CHUNKS, note)
    if "forecast" in parts:
        found["forecast"] = [
            _forecast(row, row.quick if quick else row.options, note) for row in SEARCH_ROWS
        ]
    if "unequal" in parts:
        found["unequal"] = asynchronous.compare_modes(quick=quick, note=note)
    return found


def _ways(
    row: SearchRow, options: Sequence[str], note: Callable[[str], None]
) -> list[dict[str, Any]]:
    """Time one search with one thread, with all threads, by default, and with a worker per core."""
    cores = available_cores()
    ways: Mapping[str, tuple[Sequence[str], bool]] = {
        "one thread": (("--workers", "0", "--threads", "1"), True),
        "threads": (("--workers", "0"), False),
        "by default": ((), False),
        f"{cores} workers": (("--workers", str(cores)), False),
    }
    found: list[dict[str, Any]] = []
    for name, (given, single) in ways.items():
        timed = _search(row, (*options, *given), single=single)
        speed_up = found[0]["search_s"] / timed["search_s"] if found else 1.0
        found.append({"search": row.name, "way": name, "speed_up": digits(speed_up), **timed})
        note(f"{row.name}, {name}: {timed['search_s']:.1f} s, {speed_up:.2f} times one thread")
    return found


def _search(row: SearchRow, options: Sequence[str], *, single: bool) -> dict[str, Any]:
    """Run one search in a process of its own; return its times.

    Args:
        row: the search.
        options: of `rolecast search`.
        single: with one thread in the simulator too, which has its own.
    """
    environment = dict(os.environ)
    if single:
        environment[THREADS_VARIABLE] = "1"
    with tempfile.TemporaryDirectory() as folder:
        out = ["--seed", str(SEARCH_SEED), "--out", str(Path(folder) / "run"), "--json"]
        start = time.monotonic()
        answer = _rolecast(["search", row.task, *options, *out], environment)
        whole = time.monotonic() - start
    return {
        "search_s": digits(answer["wall_time_s"]),
        "whole_s": digits(whole),
        "workers": answer["workers"],
        "test_return": digits(answer["test_return"]),
        "time_shares": {name: digits(share) for name, share in answer["time_shares"].items()},
    }


def _rolecast(words: Sequence[str], environment: Mapping[str, str]) -> dict[str, Any]:
    """Return what a command prints as JSON.

    Raises:
        RunError: it failed; says what it said.
    """
    command = [sys.executable, "-m", "rolecast.platform.cli.app", *words]
    found: dict[str, Any] = json.loads(run_program(command, Path.cwd(), environment))
    return found


def _forecast(
    row: SearchRow, options: Sequence[str], note: Callable[[str], None]
) -> dict[str, Any]:
    """Return the forecast of one search for one thread and for a worker per core."""
    workers = [word for count in (0, available_cores()) for word in ("--workers", str(count))]
    answer = _rolecast(["plan", row.task, *options, *workers, "--json"], os.environ)
    alone, shared = answer["forecasts"]
    note(f"{row.name}: {alone['total_s']:.1f} s and {shared['total_s']:.1f} s are expected")
    return {
        "search": row.name,
        "one_thread_s": digits(alone["total_s"]),
        "workers_s": digits(shared["total_s"]),
    }


class StandIn:
    """Answers as a rollout actor does, and computes nothing."""

    def place(self) -> tuple[str, int]:
        """Return a name and the process id."""
        return "stand-in", os.getpid()

    def evaluate(self, chunks: Sequence[Chunk]) -> list[ChunkResult]:
        """Return results of the right shapes."""
        results = []
        for chunk in chunks:
            zeros = np.zeros(chunk.seeds.shape)
            lengths = np.ones(chunk.seeds.shape, dtype=np.int64)
            results.append(ChunkResult(returns=zeros, observed_returns=zeros, lengths=lengths))
        return results


def measure_driver(
    counts: Sequence[int], chunks: int, note: Callable[[str], None]
) -> list[dict[str, Any]]:
    """Return what the driver spends on a batch of chunks, by the number of workers.

    Args:
        counts: numbers of workers.
        chunks: of a batch, each of one candidate and 16 episodes.
        note: told of each measurement.
    """
    import ray

    from rolecast.platform.actors.cluster import Cluster
    from rolecast.platform.actors.ray_evaluator import RayEvaluator

    cluster = Cluster(None, available_cores())
    batch = [_chunk(row) for row in range(chunks)]
    size = len(pickle.dumps([batch[0]]))
    found = []
    for count in counts:
        # Processes that answer on threads: the driver sees W handles with calls of their own.
        held: Any = ray.remote(StandIn)
        per_process = -(-count // STAND_IN_PROCESSES)
        hosts = [
            held.options(num_cpus=0, max_concurrency=min(per_process, 100)).remote()
            for _ in range(min(count, STAND_IN_PROCESSES))
        ]
        evaluator = RayEvaluator([hosts[index % len(hosts)] for index in range(count)])
        evaluator.pids()  # all of them have started
        evaluator.evaluate(batch[: 2 * count])
        cpu, wall = time.process_time(), time.perf_counter()
        evaluator.evaluate(batch)
        cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
        found.append(
            {
                "workers": count,
                "chunks": chunks,
                "driver_cpu_ms_a_chunk": digits(cpu / chunks * 1e3),
                "wall_ms_a_chunk": digits(wall / chunks * 1e3),
                "bytes_a_chunk": size,
                "driver_cpu_s_a_batch_of_two_chunks_a_worker": digits(2 * count * cpu / chunks),
            }
        )
        note(f"{count} workers: {cpu / chunks * 1e3:.2f} ms of the driver's processor a chunk")
        for host in hosts:
            ray.kill(host)
    cluster.close()
    return found


def _chunk(row: int) -> Chunk:
    rng = np.random.default_rng(row)
    return Chunk(
        first=row,
        episode=0,
        labels=(f"evaluation {row}",),
        candidates=rng.random((1, CANDIDATE_SIZE)),
        seeds=rng.integers(0, 2**63, (1, 16)).astype(np.uint64),
        compiled=True,
    )


def markdown(found: Mapping[str, Any]) -> str:
    """Return the page."""
    lines = [
        "# Searches by workers",
        "",
        "`rolecast bench scaling`, on "
        f"{found['machine']['processor']}, {found['machine']['cores']} cores. Seed {SEARCH_SEED}; "
        "one run of each, so differences of less than a fifth say nothing.",
        "",
    ]
    if "searches" in found:
        lines += [
            "`search` is the time of searching, `whole` that of the command with its start and its",
            "held-out test. `waiting` is the share of searching in which no episode ran.",
            "",
            "| search | way | search, s | whole, s | times one thread | waiting | optimiser |",
            "|---|---|---|---|---|---|---|",
        ]
        lines += [
            f"| {row['search']} | {row['way']} | {row['search_s']} | {row['whole_s']} | "
            f"{row['speed_up']} | {row['time_shares']['workers_wait']:.0%} | "
            f"{row['time_shares']['optimizer']:.0%} |"
            for row in found["searches"]
        ]
        lines.append("")
    if "driver" in found:
        lines += [
            "Driver: the evaluator deals chunks to stand-ins that do no work. They answer on",
            f"threads of {STAND_IN_PROCESSES} processes: connections to 1,000 nodes are not in it.",
            "",
            "| workers | chunks | driver, processor ms a chunk | wall ms | bytes a chunk |",
            "|---|---|---|---|---|",
        ]
        lines += [
            f"| {row['workers']} | {row['chunks']} | {row['driver_cpu_ms_a_chunk']} | "
            f"{row['wall_ms_a_chunk']} | {row['bytes_a_chunk']} |"
            for row in found["driver"]
        ]
        lines.append("")
    if "forecast" in found:
        lines += [
            "Forecast: seconds of searching that `rolecast plan` expects. It times episodes of",
            "random policies: where those end early, as on ant, a search takes longer.",
            "",
            "| search | one thread | a worker per core |",
            "|---|---|---|",
        ]
        lines += [
            f"| {row['search']} | {row['one_thread_s']} | {row['workers_s']} |"
            for row in found["forecast"]
        ]
        lines.append("")
    if "unequal" in found:
        lines += asynchronous.markdown(found["unequal"])
    return "\n".join(lines)
