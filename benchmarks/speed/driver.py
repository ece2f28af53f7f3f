"""What the driver of a search spends on its workers, by their number.

The real evaluator, and real dispatchers where there are many, deal chunks to stand-ins that do no
work. A few processes hold these, as this machine has no memory for 1,000.
"""

import os
import pickle
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np

from rolecast.benchmarks.result_table import keyed_table
from rolecast.benchmarks.timing import digits
from rolecast.core.threads import available_cores
from rolecast.platform.rollout.chunks import Chunk, ChunkResult
from rolecast.platform.rollout.sizes import DIRECT_WORKERS, DISPATCHED_WORKERS

DRIVER_WORKERS: Final = (1, 10, 100, 1000)
"""Stand-ins."""

DIRECT_COUNTS: Final = (1000,)
"""Stand-ins that are measured without dispatchers too, as of a task that is not compiled."""

DRIVER_CHUNKS: Final = 10_000
"""Chunks of a large batch."""

SMALL_BATCHES: Final = 20
"""Batches of a chunk a worker each."""

CANDIDATE_SIZE: Final = 353
"""Parameters of a candidate in a chunk."""

STAND_IN_PROCESSES: Final = 2
"""Processes that hold the stand-ins."""

DRIVER_COLUMNS: Final = (
    ("workers", "workers"),
    ("dispatchers", "dispatchers"),
    ("chunks", "chunks"),
    ("driver, processor ms a chunk", "driver_cpu_ms_a_chunk"),
    ("wall ms", "wall_ms_a_chunk"),
    ("bytes a chunk", "bytes_a_chunk"),
    ("driver, processor ms a small batch", "driver_cpu_ms_a_small_batch"),
    ("wall ms", "wall_ms_a_small_batch"),
)
"""Names and keys of the page's columns."""


class StandIn:
    """Answers as a rollout actor does, and computes nothing."""

    def place(self) -> tuple[Mapping[str, int], int]:
        """Return a machine and the process id."""
        return {"stand-in": 1}, os.getpid()

    def evaluate(self, chunks: bytes) -> bytes:
        """Return results of the right shapes."""
        from rolecast.platform.actors.assignment import Reply, packed, unpacked

        results = []
        for chunk in unpacked(chunks):
            zeros = np.zeros(chunk.seeds.shape)
            lengths = np.ones(chunk.seeds.shape, dtype=np.int64)
            results.append(ChunkResult(returns=zeros, observed_returns=zeros, lengths=lengths))
        return packed(Reply(results=results))


def measure_driver(
    counts: Sequence[int],
    chunks: int,
    note: Callable[[str], None],
    *,
    direct: Sequence[int] = (),
) -> list[dict[str, Any]]:
    """Return what the driver spends on a batch of chunks, by the number of workers.

    Args:
        counts: numbers of workers, as a compiled task has them.
        chunks: of a batch, each of one candidate and 16 episodes.
        note: told of each measurement.
        direct: further numbers, as any other task has them: without dispatchers.
    """
    import ray

    from rolecast.platform.actors.cluster import Cluster
    from rolecast.platform.actors.dispatcher import dispatchers
    from rolecast.platform.actors.ray_evaluator import RayEvaluator

    held: Any = ray.remote(StandIn)
    cluster = Cluster(None, available_cores())
    compiled = [example_chunk(row) for row in range(chunks)]
    others = [replace(chunk, compiled=False) for chunk in compiled]
    size = len(pickle.dumps([compiled[0]]))
    found = []
    rows = [(count, compiled) for count in counts] + [(count, others) for count in direct]
    for count, batch in rows:
        led = batch is compiled and count > DIRECT_WORKERS
        # Processes that answer on threads: the driver sees W handles with calls of their own.
        per_process = -(-count // STAND_IN_PROCESSES)
        names = [f"{count}-{led}-{index}" for index in range(min(count, STAND_IN_PROCESSES))]
        hosts = [
            held.options(num_cpus=0, max_concurrency=min(per_process, 100), name=name).remote()
            for name in names
        ]
        actors = [hosts[index % len(hosts)] for index in range(count)]
        dispatched = [names[index % len(names)] for index in range(count)]
        between = dispatchers(dispatched) if led else []
        evaluator = RayEvaluator(between or actors)
        evaluator.pids()  # all of them have started
        while evaluator.workers < count:
            evaluator.evaluate(batch[:count])
        evaluator.evaluate(batch[: 2 * count])
        large = _timed(evaluator.evaluate, [batch])
        small = _timed(evaluator.evaluate, [batch[:count]] * SMALL_BATCHES)
        found.append(
            {
                "workers": count,
                "dispatchers": len(between),
                "chunks": chunks,
                "driver_cpu_ms_a_chunk": digits(large[0] / chunks * 1e3),
                "wall_ms_a_chunk": digits(large[1] / chunks * 1e3),
                "bytes_a_chunk": size,
                "driver_cpu_ms_a_small_batch": digits(small[0] / SMALL_BATCHES * 1e3),
                "wall_ms_a_small_batch": digits(small[1] / SMALL_BATCHES * 1e3),
            }
        )
        note(
            f"{count} workers, {len(between)} dispatchers: {large[0] / chunks * 1e3:.3f} ms of "
            "the driver's processor a chunk, "
            f"{small[0] / SMALL_BATCHES * 1e3:.1f} ms a batch of one each"
        )
        for actor in (*between, *hosts):
            ray.kill(actor)
    cluster.close()
    return found


def _timed(
    evaluate: Callable[[Sequence[Chunk]], object], batches: Sequence[Sequence[Chunk]]
) -> tuple[float, float]:
    """Return seconds of processor of this process, all its threads, and of the clock."""
    cpu, wall = time.process_time(), time.perf_counter()
    for batch in batches:
        evaluate(batch)
    return time.process_time() - cpu, time.perf_counter() - wall


def example_chunk(row: int) -> Chunk:
    """Return the chunk of one row of a batch: a candidate and 16 episodes."""
    rng = np.random.default_rng(row)
    return Chunk(
        first=row,
        episode=0,
        labels=(f"evaluation {row}",),
        candidates=rng.random((1, CANDIDATE_SIZE)),
        seeds=rng.integers(0, 2**63, (1, 16)).astype(np.uint64),
        compiled=True,
    )


def markdown(found: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the lines of the page."""
    return [
        "Driver: the evaluator deals chunks to stand-ins that do no work. More than "
        f"{DIRECT_WORKERS} workers of a",
        "compiled task have dispatchers. Those of other tasks, and of asynchronous searches, have",
        "none, however many they are, as their episodes last unequally long and whoever is idle",
        "takes the next chunk. The stand-ins answer on threads of "
        f"{STAND_IN_PROCESSES} processes: connections to",
        "1,000 nodes are not in it. A small batch has a chunk for each worker, so at one a second,",
        f"10 ms are 1 % of a core. A dispatcher spends on its {DISPATCHED_WORKERS} workers what a "
        "driver without",
        "dispatchers would.",
        "",
        keyed_table(DRIVER_COLUMNS, found),
        "",
    ]
