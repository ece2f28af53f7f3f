"""Time and memory of the sum over cliques, fused, against GPyTorch's kernel of one term a clique.

Each case has a process of its own, so that its peak of memory is its own; all use one thread, and
seconds are of processor time, which neighbours on the machine change little. GPyTorch is measured
at the fewest cliques only: its memory grows with their number.
"""

import multiprocessing
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from typing import Any, Final

import numpy as np
import torch

from rolecast.envs.errors import unknown_name
from rolecast.platform.benchmarks.cores import cores_cases, measure_cores
from rolecast.platform.benchmarks.iterations import all_iterations, faster, measure_iteration
from rolecast.platform.benchmarks.kernel_case import FUSED, GPYTORCH, Case, fused, one_a_clique
from rolecast.platform.benchmarks.peak import peak_mib

REPEATS: Final = 3
PARTS: Final = ("kernels", "cores", "iterations")


def all_cases(*, quick: bool) -> list[Case]:
    """Return the cases of the table; quick ones say nothing, and show that it works."""
    sizes = {"dimensions": 40, "points": 60} if quick else {"dimensions": 478, "points": 500}
    few, *more = (10,) if quick else (100, 1500, 15_000)
    cases = []
    for precision in ("float32",) if quick else ("float32", "float64"):
        cases.append(Case(kernel=GPYTORCH, precision=precision, cliques=few, **sizes))
        cases += [
            Case(kernel=FUSED, precision=precision, cliques=cliques, **sizes)
            for cliques in (few, *more)
        ]
    return cases


def measure_all(
    *, quick: bool, note: Callable[[str], None], parts: Sequence[str] = PARTS
) -> dict[str, Any]:
    """Measure all cases, one after the other.

    Args:
        quick: small ones only.
        note: told of each case.
        parts: some of PARTS.

    Returns:
        JSON values. Of the kernels, for each case the least of REPEATS seconds for the covariance
        and for its gradient, the same per pair and clique, and the peak of memory beyond what the
        process had before, and how many times faster the fused kernel is at the same case. How
        many times as fast it is on all cores. Whole iterations, and how many times as fast as
        BoTorch's they are.

    Raises:
        RequestError: a part is not known.
    """
    for part in parts:
        if part not in PARTS:
            raise unknown_name("--part", part, PARTS)
    found: dict[str, Any] = {
        "unit": "seconds of processor time, one core; ns a clique and pair, of N (N + 1) / 2 pairs"
    }
    if "kernels" in parts:
        rows = []
        for case in all_cases(quick=quick):
            rows.append(asdict(case) | _alone(measure, case))
            told = f"{case.kernel}, {case.precision}, M = {case.cliques}"
            note(f"{told}: {rows[-1]['value_s']:.3f} s")
        found["cases"] = rows
        ratios = {row["precision"]: _ratios(row, rows) for row in _of(GPYTORCH, rows)}
        found["ratio_to_gpytorch"] = ratios
    if "cores" in parts:
        found["cores"] = [_alone(measure_cores, case) for case in cores_cases(quick=quick)]
        for row in found["cores"]:
            times = f"{row['value_times']:.2f} and {row['gradient_times']:.2f} times as fast as one"
            note(f"{row['threads']} cores, {row['precision']}: {times}")
    if "iterations" in parts:
        whole = []
        for iteration in all_iterations(quick=quick):
            whole.append(asdict(iteration) | _alone(measure_iteration, iteration))
            sizes = f"N = {iteration.points}, M = {iteration.cliques}"
            note(f"{iteration.optimizer}, {sizes}: {whole[-1]['mean_s']:.3f} s an iteration")
        found["iterations"], found["iteration_ratio_to_botorch"] = whole, faster(whole)
    return found


def _alone(measure: Callable[[Any], dict[str, Any]], case: object) -> dict[str, Any]:
    """Measure one case in a process of its own."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        return pool.submit(measure, case).result()


def measure(case: Case) -> dict[str, float]:
    """Return seconds of a covariance and of its gradient, and the peak of memory."""
    torch.set_num_threads(1)
    dtype: torch.dtype = getattr(torch, case.precision)
    rng = np.random.default_rng(0)
    points = torch.as_tensor(rng.random((case.points, case.dimensions)), dtype=dtype)
    factors = torch.as_tensor(rng.normal(size=(case.points, case.points)), dtype=dtype)
    make = fused if case.kernel == FUSED else one_a_clique
    kernel = make(case, rng).to(dtype)
    _timed(make(Case(**(asdict(case) | {"cliques": 1})), rng).to(dtype), points, factors)
    before = peak_mib()
    times = np.min([_timed(kernel, points, factors) for _ in range(REPEATS)], axis=0)
    peak = peak_mib() - before
    each = 1e9 / (case.cliques * case.points * (case.points + 1) / 2)
    return {
        "value_s": round(float(times[0]), 4),
        "gradient_s": round(float(times[1]), 4),
        "value_ns": round(float(times[0]) * each, 3),
        "gradient_ns": round(float(times[1]) * each, 3),
        "peak_mib": round(peak, 1),
    }


def _timed(kernel: Any, points: torch.Tensor, factors: torch.Tensor) -> tuple[float, float]:
    """Return seconds of a covariance, and of the gradient of a sum of its entries."""
    start = time.process_time()
    with torch.no_grad():
        kernel(points).to_dense()
    value = time.process_time() - start
    total = (kernel(points).to_dense() * factors).sum()
    start = time.process_time()
    total.backward()
    return value, time.process_time() - start


def _of(kernel: str, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [row for row in rows if row["kernel"] == kernel]


def _ratios(row: dict[str, Any], rows: list[dict[str, Any]]) -> dict[str, float]:
    """Return how many times faster the fused kernel is than GPyTorch at one of its cases."""
    (ours,) = (
        other
        for other in _of(FUSED, rows)
        if (other["precision"], other["cliques"]) == (row["precision"], row["cliques"])
    )
    return {
        name: round(row[f"{name}_s"] / max(ours[f"{name}_s"], 1e-6), 1)
        for name in ("value", "gradient")
    }
