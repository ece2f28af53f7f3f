"""How many times as fast the fused sum over cliques is on all cores as on one, by the clock."""

import os
import time
from dataclasses import replace
from statistics import median
from typing import Any, Final

import numpy as np
import torch

from rolecast.benchmarks.surrogate_speed.kernel_case import FUSED_SIDE, Case, fused, inputs, timed
from rolecast.core.threads import available_cores

TIMING_ROUNDS: Final = 5


def cores_cases(*, quick: bool) -> list[Case]:
    """Return the cases of the table; quick ones say nothing, and show that it works."""
    case = Case(kernel=FUSED_SIDE, precision="float32", dimensions=478, points=500, cliques=1500)
    if quick:
        return [replace(case, dimensions=40, points=60, cliques=100)]
    return [replace(case, precision=precision) for precision in ("float32", "float64")]


def measure_cores(case: Case) -> dict[str, Any]:
    """Return medians over rounds, in each of which one core and all take their turn.

    Returns:
        JSON values: threads, seconds of value and gradient by the clock on one thread and
        on all, and how many times as fast all are. Only on an idle machine does that say something:
        `load` is how many processes wanted a core in the minute before.
    """
    load, threads = os.getloadavg()[0], available_cores()
    rng, before = np.random.default_rng(0), torch.get_num_threads()
    kernel = fused(case, rng)
    points, factors = inputs(case, rng)
    kernel.to(points.dtype)
    seconds: dict[int, list[tuple[float, float]]] = {1: [], threads: []}
    try:
        for turn in range(TIMING_ROUNDS + 1):
            for count, taken in seconds.items():
                torch.set_num_threads(count)
                found = timed(kernel, points, factors, time.perf_counter)
                if turn:  # the first compiles
                    taken.append(found)
    finally:
        torch.set_num_threads(before)
    one, all_of_them = np.array(seconds[1]), np.array(seconds[threads])
    result: dict[str, Any] = {"threads": threads, "load": round(load, 2)}
    for column, name in enumerate(("value", "gradient")):
        result[f"{name}_one_s"] = round(median(one[:, column]), 4)
        result[f"{name}_all_s"] = round(median(all_of_them[:, column]), 4)
        result[f"{name}_times"] = round(median(one[:, column] / all_of_them[:, column]), 2)
    return result
