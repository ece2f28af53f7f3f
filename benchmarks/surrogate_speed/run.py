"""Time and memory of the sum over cliques, fused, against GPyTorch's kernel of one term a clique.

Each case has a process of its own, so that its peak of memory is its own; all use one thread, and
seconds are of processor time, which neighbours on the machine change little. GPyTorch is measured
at the fewest cliques only: its memory grows with their number.
"""

import multiprocessing
import time
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, replace
from functools import partial
from typing import Any, Final

import numpy as np
import torch

from rolecast.benchmarks.peak import peak_mib
from rolecast.benchmarks.surrogate_speed.cores import cores_cases, measure_cores
from rolecast.benchmarks.surrogate_speed.cuda import (
    CUDA_DEVICE,
    kernel_cases,
    machine,
    measure_kernel,
    measure_search,
    require_cuda,
    search_cases,
)
from rolecast.benchmarks.surrogate_speed.iterations import all_iterations, faster, measure_iteration
from rolecast.benchmarks.surrogate_speed.kernel_case import (
    FUSED_SIDE,
    GPYTORCH_SIDE,
    Case,
    fused,
    inputs,
    one_a_clique,
    timed,
)
from rolecast.core.errors import unknown_name

TIMING_REPEATS: Final = 3


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


def _kernels(*, quick: bool, note: Callable[[str], None]) -> dict[str, Any]:
    def told(row: dict[str, Any]) -> str:
        return f"{row['kernel']}, {row['precision']}, M = {row['cliques']}: {row['value_s']:.3f} s"

    rows = _rows(measure, all_cases(quick=quick), told, note)
    ratios = {row["precision"]: _ratios(row, rows) for row in _of(GPYTORCH_SIDE, rows)}
    return {"cases": rows, "ratio_to_gpytorch": ratios}


def _cores(*, quick: bool, note: Callable[[str], None]) -> dict[str, Any]:
    def told(row: dict[str, Any]) -> str:
        times = f"{row['value_times']:.2f} and {row['gradient_times']:.2f} times as fast as one"
        return f"{row['threads']} cores, {row['precision']}: {times}"

    return {"cores": _rows(measure_cores, cores_cases(quick=quick), told, note)}


def _iterations(*, quick: bool, note: Callable[[str], None]) -> dict[str, Any]:
    def told(row: dict[str, Any]) -> str:
        sizes = f"N = {row['points']}, M = {row['cliques']}"
        return f"{row['optimizer']}, {sizes}: {row['mean_s']:.3f} s an iteration"

    rows = _rows(measure_iteration, all_iterations(quick=quick), told, note)
    return {"iterations": rows, "iteration_ratio_to_botorch": faster(rows)}


def _cuda_kernels(*, quick: bool, note: Callable[[str], None]) -> dict[str, Any]:
    def told(row: dict[str, Any]) -> str:
        sizes = f"N = {row['points']}, M = {row['cliques']}"
        return f"{row['kernel']}, {row['precision']}, {sizes}: {row['value_s']:.4f} s on CUDA"

    measured = partial(measure_kernel, device=CUDA_DEVICE)
    rows = _rows(measured, kernel_cases(quick=quick), told, note)
    return {"cuda_kernels": {"machine": machine(), "cases": rows}}


def _cuda_search(*, quick: bool, note: Callable[[str], None]) -> dict[str, Any]:
    def told(row: dict[str, Any]) -> str:
        sizes = f"N = {row['points']}, M = {row['cliques']}"
        return f"{row['device']}, {sizes}: fit {row['fit_s']:.2f} s, batch {row['batch_s']:.2f} s"

    rows = _rows(measure_search, search_cases(quick=quick, device=CUDA_DEVICE), told, note)
    return {"cuda_search": {"machine": machine(), "cases": rows}}


CUDA_PARTS: Final = {"cuda_kernels": _cuda_kernels, "cuda_search": _cuda_search}
BENCHMARK_PARTS: Final = {"kernels": _kernels, "cores": _cores, "iterations": _iterations}
"""What is measured where nothing is asked for; CUDA's by name alone."""


def measure_all(
    *, quick: bool, note: Callable[[str], None], parts: Collection[str] = tuple(BENCHMARK_PARTS)
) -> dict[str, Any]:
    """Measure all cases, one after the other.

    Args:
        quick: small ones only.
        note: told of each case.
        parts: some of BENCHMARK_PARTS and CUDA_PARTS.

    Returns:
        JSON values. Of the kernels, for each case the least seconds of TIMING_REPEATS for the
        covariance and for its gradient, the same per pair and clique, and the peak of memory beyond
        what the process had before, and how many times faster the fused kernel is at the same case.
        How many times as fast it is on all cores. Whole iterations, and how many times as fast as
        BoTorch's they are.

    Raises:
        RequestError: a part is not known, or is of CUDA and torch sees none.
    """
    known = BENCHMARK_PARTS | CUDA_PARTS
    for part in parts:
        if part not in known:
            raise unknown_name("--part", part, known)
    if not CUDA_PARTS.keys().isdisjoint(parts):
        require_cuda()
    found: dict[str, Any] = {
        "unit": "seconds of processor time, one core; ns a clique and pair, of N (N + 1) / 2 pairs"
    }
    for name, measured in known.items():
        if name in parts:
            found |= measured(quick=quick, note=note)
    return found


def _rows(
    measured: Callable[[Any], dict[str, Any]],
    cases: Sequence[Any],
    told: Callable[[dict[str, Any]], str],
    note: Callable[[str], None],
) -> list[dict[str, Any]]:
    """Measure cases, each in a process of its own, and tell of each row."""
    rows = []
    for case in cases:
        with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
            rows.append(asdict(case) | pool.submit(measured, case).result())
        note(told(rows[-1]))
    return rows


def measure(case: Case) -> dict[str, float]:
    """Return seconds of a covariance and of its gradient, and the peak of memory."""
    torch.set_num_threads(1)
    rng = np.random.default_rng(0)
    points, factors = inputs(case, rng)
    make = fused if case.kernel == FUSED_SIDE else one_a_clique
    kernel = make(case, rng).to(points.dtype)
    first = make(replace(case, cliques=1), rng).to(points.dtype)
    timed(first, points, factors, time.process_time)  # compiles
    before = peak_mib()
    rounds = [timed(kernel, points, factors, time.process_time) for _ in range(TIMING_REPEATS)]
    times = np.min(rounds, axis=0)
    peak = peak_mib() - before
    each = 1e9 / (case.cliques * case.points * (case.points + 1) / 2)
    return {
        "value_s": round(float(times[0]), 4),
        "gradient_s": round(float(times[1]), 4),
        "value_ns": round(float(times[0]) * each, 3),
        "gradient_ns": round(float(times[1]) * each, 3),
        "peak_mib": round(peak, 1),
    }


def _of(kernel: str, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [row for row in rows if row["kernel"] == kernel]


def _ratios(row: dict[str, Any], rows: list[dict[str, Any]]) -> dict[str, float]:
    """Return how many times faster the fused kernel is than GPyTorch at one of its cases."""
    (ours,) = (
        other
        for other in _of(FUSED_SIDE, rows)
        if (other["precision"], other["cliques"]) == (row["precision"], row["cliques"])
    )
    return {
        name: round(row[f"{name}_s"] / max(ours[f"{name}_s"], 1e-6), 1)
        for name in ("value", "gradient")
    }
