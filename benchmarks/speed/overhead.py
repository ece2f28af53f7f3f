"""What Ray costs a search whose calls last as long as chunks are aimed at.

Real actors sleep where others compute, and the real evaluator deals chunks to them: whatever their
batch takes beyond the calls themselves are messages and the driver.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from rolecast.benchmarks.result_table import keyed_table
from rolecast.benchmarks.speed.driver import StandIn, example_chunk
from rolecast.benchmarks.timing import digits
from rolecast.platform.rollout.sizes import CALL_SECONDS

OVERHEAD_WORKERS: Final = 2
"""Actors, a process each."""

OVERHEAD_CHUNKS: Final = 400
"""Chunks of the batch, a call each."""

OVERHEAD_GOAL: Final = 0.05
"""What Ray may cost at most, as a share of the calls."""

OVERHEAD_COLUMNS: Final = (
    ("task", "task"),
    ("workers", "workers"),
    ("calls", "chunks"),
    ("calls alone, s", "calls_s"),
    ("batch, s", "batch_s"),
    ("overhead", "overhead"),
    ("goal", "goal"),
    ("", "verdict"),
)
"""Names and keys of the page's columns."""


class Sleeper(StandIn):
    """Sleeps for as long as a call is to last."""

    def evaluate(self, chunks: bytes) -> bytes:
        """Return results of the right shapes."""
        time.sleep(CALL_SECONDS)
        return super().evaluate(chunks)


def measure_overhead(chunks: int, note: Callable[[str], None]) -> list[dict[str, Any]]:
    """Return what a batch takes beyond its calls, of a compiled task and of any other.

    Args:
        chunks: of the batch.
        note: told of each measurement.
    """
    import ray

    from rolecast.platform.actors.cluster import Cluster
    from rolecast.platform.actors.ray_evaluator import RayEvaluator

    remote: Any = ray.remote(Sleeper)
    cluster = Cluster(None, OVERHEAD_WORKERS)
    actors = [remote.options(num_cpus=0).remote() for _ in range(OVERHEAD_WORKERS)]
    evaluator = RayEvaluator(actors)
    evaluator.pids()
    found = []
    for task in ("compiled", "other"):
        compiled = task == "compiled"
        batch = [replace(example_chunk(row), compiled=compiled) for row in range(chunks)]
        evaluator.evaluate(batch[: 2 * OVERHEAD_WORKERS])
        begun = time.perf_counter()
        evaluator.evaluate(batch)
        took = time.perf_counter() - begun
        calls_s = -(-chunks // OVERHEAD_WORKERS) * CALL_SECONDS
        overhead = took / calls_s - 1.0
        found.append(
            {
                "task": task,
                "workers": OVERHEAD_WORKERS,
                "chunks": chunks,
                "calls_s": digits(calls_s),
                "batch_s": digits(took),
                "overhead": digits(overhead),
            }
        )
        note(f"{task} task: {overhead:.1%} beyond calls of {CALL_SECONDS * 1e3:.0f} ms")
    evaluator.close()
    cluster.close()
    return found


def markdown(found: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the lines of the page."""
    rows = [
        {
            **row,
            "overhead": f"{row['overhead']:.1%}",
            "goal": f"{OVERHEAD_GOAL:.0%}",
            "verdict": "met" if row["overhead"] < OVERHEAD_GOAL else "missed",
        }
        for row in found
    ]
    return [
        f"Ray's overhead: actors that sleep {CALL_SECONDS * 1e3:.0f} ms a call, and what a batch "
        "takes beyond its",
        "calls. An actor has the next call beside the one that it computes; of a task that is not",
        "compiled, only where calls are short and as many chunks are left as there are actors.",
        "",
        keyed_table(OVERHEAD_COLUMNS, rows),
        "",
    ]
