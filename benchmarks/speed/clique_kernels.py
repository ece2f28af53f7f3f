"""Time and memory of the sum over cliques, fused, against GPyTorch's kernel of one term a clique.

All cases use one thread, and seconds are of processor time, which neighbours on the machine change
little. GPyTorch is measured at the fewest cliques only: its memory grows with their number. How
many times as fast the fused sum is on all cores as on one is measured by the clock.
"""

import os
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from statistics import median
from typing import Any, Final

import gpytorch
import numpy as np
import torch

from rolecast.benchmarks.timing import in_turn, peak_mib, ratios
from rolecast.core.threads import available_cores
from rolecast.core.types import Float
from rolecast.platform.surrogate.clique_sum.gpytorch_kernel import AdditiveCliqueKernel

FUSED_SIDE: Final = "AdditiveCliqueKernel"
GPYTORCH_SIDE: Final = "gpytorch AdditiveKernel"

ASK_BATCH: Final = 15
"""Candidates of a batch, the paper's number."""

NOISE_DEVIATION: Final = 0.3
"""Standard deviation of an evaluation's error, in units of a term of the function."""

POINT_SPREAD: Final = 0.01
"""Standard deviation of a coordinate of the points told before, as a policy's cloud has it."""

KERNEL_ROUNDS: Final = 3
CORES_ROUNDS: Final = 5


@dataclass(frozen=True, kw_only=True)
class Case:
    """One measurement."""

    kernel: str
    """FUSED_SIDE or GPYTORCH_SIDE."""

    precision: str
    """"float32" or "float64"."""

    dimensions: int
    """D."""

    points: int
    """N."""

    cliques: int
    """M, of 2 to 6 dimensions each, drawn at random."""


def all_cases(*, quick: bool) -> list[Case]:
    """Return the cases of the table; quick ones say nothing, and show that it works."""
    sizes = {"dimensions": 40, "points": 60} if quick else {"dimensions": 478, "points": 500}
    few, *more = (10,) if quick else (100, 1500, 15_000)
    cases = []
    for precision in ("float32",) if quick else ("float32", "float64"):
        cases.append(Case(kernel=GPYTORCH_SIDE, precision=precision, cliques=few, **sizes))
        cases += [
            Case(kernel=FUSED_SIDE, precision=precision, cliques=cliques, **sizes)
            for cliques in (few, *more)
        ]
    return cases


def cores_cases(*, quick: bool) -> list[Case]:
    """Return the cases of the table; quick ones say nothing, and show that it works."""
    case = Case(kernel=FUSED_SIDE, precision="float32", dimensions=478, points=500, cliques=1500)
    if quick:
        return [replace(case, dimensions=40, points=60, cliques=100)]
    return [replace(case, precision=precision) for precision in ("float32", "float64")]


def random_cliques(dimension: int, count: int, rng: np.random.Generator) -> list[tuple[int, ...]]:
    """Return so many different cliques of 2 to 6 dimensions, each in ascending order."""
    found: dict[tuple[int, ...], None] = {}
    while len(found) < count:
        drawn = rng.choice(dimension, int(rng.integers(2, 7)), replace=False)
        found[tuple(sorted(map(int, drawn)))] = None
    return list(found)


def noisy_sum(cliques: list[tuple[int, ...]], rng: np.random.Generator) -> Callable[[Float], Float]:
    """Return a function of points [N, D]: one term of two dimensions for each clique, and noise."""
    pairs = np.array([clique[:2] for clique in cliques])

    def noisy(points: Float) -> Float:
        terms = np.cos(5.0 * (points[:, pairs[:, 0]] + points[:, pairs[:, 1]])).sum(1)
        return np.asarray(terms + NOISE_DEVIATION * rng.standard_normal(len(points)))

    return noisy


def fused(case: Case, rng: np.random.Generator) -> Any:
    """Return the fused kernel of a case."""
    return AdditiveCliqueKernel(random_cliques(case.dimensions, case.cliques, rng), case.dimensions)


def one_a_clique(case: Case, rng: np.random.Generator) -> Any:
    """Return the same of GPyTorch, up to the weights."""
    kernels = gpytorch.kernels
    return kernels.AdditiveKernel(
        *(
            kernels.ScaleKernel(
                kernels.MaternKernel(nu=2.5, ard_num_dims=len(clique), active_dims=clique)
            )
            for clique in random_cliques(case.dimensions, case.cliques, rng)
        )
    )


def inputs(case: Case, rng: np.random.Generator) -> tuple[torch.Tensor, torch.Tensor]:
    """Return points [N, D] in the cube, and a factor for each entry of their covariance [N, N]."""
    points = rng.random((case.points, case.dimensions))
    factors = rng.normal(size=(case.points, case.points))
    dtype: torch.dtype = getattr(torch, case.precision)
    return torch.as_tensor(points, dtype=dtype), torch.as_tensor(factors, dtype=dtype)


def timed(
    kernel: Any, points: torch.Tensor, factors: torch.Tensor, clock: Callable[[], float]
) -> tuple[float, float]:
    """Return seconds of a covariance, and of the gradient of a sum of its entries.

    Args:
        kernel: of the points' type.
        points: [N, D].
        factors: [N, N], of the entries in the sum.
        clock: seconds so far, of processor time or of the day.
    """
    start = clock()
    with torch.no_grad():
        kernel(points).to_dense()
    value = clock() - start
    total = (kernel(points).to_dense() * factors).sum()
    start = clock()
    total.backward()
    return value, clock() - start


def measure_kernel(case: Case) -> dict[str, float]:
    """Return seconds of a covariance and of its gradient, and the peak of memory."""
    torch.set_num_threads(1)
    rng = np.random.default_rng(0)
    points, factors = inputs(case, rng)
    make = fused if case.kernel == FUSED_SIDE else one_a_clique
    kernel = make(case, rng).to(points.dtype)
    first = make(replace(case, cliques=1), rng).to(points.dtype)
    timed(first, points, factors, time.process_time)  # compiles
    before = peak_mib()
    work = partial(timed, kernel, points, factors, time.process_time)
    value, gradient = np.min(in_turn({case.kernel: work}, KERNEL_ROUNDS)[case.kernel], axis=0)
    peak = peak_mib() - before
    each = 1e9 / (case.cliques * case.points * (case.points + 1) / 2)
    return {
        "value_s": round(float(value), 4),
        "gradient_s": round(float(gradient), 4),
        "value_ns": round(float(value) * each, 3),
        "gradient_ns": round(float(gradient) * each, 3),
        "peak_mib": round(peak, 1),
    }


def kernel_ratios(rows: list[dict[str, Any]]) -> dict[str, dict[str, float]]:
    """Return how many times faster the fused kernel is than GPyTorch's, by precision."""
    ours = {(row["precision"], row["cliques"]): row for row in rows if row["kernel"] == FUSED_SIDE}
    return {
        row["precision"]: {
            name: round(
                row[f"{name}_s"] / max(ours[row["precision"], row["cliques"]][f"{name}_s"], 1e-6), 1
            )
            for name in ("value", "gradient")
        }
        for row in rows
        if row["kernel"] == GPYTORCH_SIDE
    }


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

    def on(count: int) -> tuple[float, float]:
        torch.set_num_threads(count)
        return timed(kernel, points, factors, time.perf_counter)

    sides = {"one": partial(on, 1), "all": partial(on, threads)}
    try:
        in_turn(sides, 1)  # compiles
        found = in_turn(sides, CORES_ROUNDS)
    finally:
        torch.set_num_threads(before)
    result: dict[str, Any] = {"threads": threads, "load": round(load, 2)}
    for column, name in enumerate(("value", "gradient")):
        one, every = ([taken[column] for taken in found[side]] for side in sides)
        result[f"{name}_one_s"] = round(median(one), 4)
        result[f"{name}_all_s"] = round(median(every), 4)
        result[f"{name}_times"] = round(median(ratios(one, every)), 2)
    return result
