"""The compiled path on one core and on all: whether episodes a second grow with the cores.

Processes, as rollout actors are; each does whole batches of a search, so that little is said
between them.
"""

import multiprocessing
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from functools import lru_cache
from typing import Final

from rolecast.benchmarks.env_speed.plane_tasks import SEARCH_BATCH, TEAM_TASK, policy_steps
from rolecast.benchmarks.env_speed.timing import Group, Side
from rolecast.core.threads import available_cores

PIECE_SECONDS: Final = 0.5
"""Time for which a process works before it tells what it did."""


def all_cores(stack: ExitStack, *, quick: bool) -> Group:
    """Return the sides: `hom` on one core, and on 2, 4, ... up to all.

    Args:
        stack: ends the processes.
        quick: in short pieces.
    """
    most = available_cores()
    counts = sorted({2**power for power in range(most.bit_length()) if 2**power <= most} | {most})
    seconds = 0.05 if quick else PIECE_SECONDS
    sides = [
        Side(
            name=_name(count),
            run=_together(stack, count, seconds),
            cores=count,
            wall=True,
        )
        for count in counts
    ]
    return Group(title="Cores", sides=sides, base=_name(1), ratio="ratio_to_one_core")


def _name(count: int) -> str:
    return f"{TEAM_TASK} with hom, {count} process" + ("es" if count > 1 else "")


def _together(stack: ExitStack, count: int, seconds: float) -> Callable[[], int]:
    """Return a function that has so many processes work for some time, and counts their steps."""
    spawn = multiprocessing.get_context("spawn")
    pool = stack.enter_context(ProcessPoolExecutor(count, mp_context=spawn))

    def run() -> int:
        return sum(pool.map(_work, [seconds] * count))

    run()  # starts the processes, which load what was compiled before
    return run


def _work(seconds: float) -> int:
    """Run batches of a search for so long; return the env steps."""
    run, steps, start = _batch(), 0, time.perf_counter()
    while time.perf_counter() - start < seconds:
        steps += run()
    return steps


@lru_cache(maxsize=1)
def _batch() -> Callable[[], int]:
    """Return what runs one batch, prepared once a process."""
    return policy_steps(TEAM_TASK, "hom", *SEARCH_BATCH)
