"""The surrogate's speed by parts: the sum over cliques, many cores, whole iterations, CUDA.

Each case has a process of its own, so that its peak of memory is its own.
"""

import multiprocessing
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from functools import partial
from typing import Any, Final

from rolecast.benchmarks.speed import cuda
from rolecast.benchmarks.speed.clique_kernels import (
    all_cases,
    cores_cases,
    kernel_ratios,
    measure_cores,
    measure_kernel,
)
from rolecast.benchmarks.speed.iterations import all_iterations, faster, measure_iteration
from rolecast.core.errors import unknown_name


def _kernels(*, quick: bool, note: Callable[[str], None]) -> dict[str, Any]:
    def told(row: dict[str, Any]) -> str:
        return f"{row['kernel']}, {row['precision']}, M = {row['cliques']}: {row['value_s']:.3f} s"

    rows = _rows(measure_kernel, all_cases(quick=quick), told, note)
    return {"cases": rows, "ratio_to_gpytorch": kernel_ratios(rows)}


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

    measured = partial(cuda.measure_kernel, device=cuda.CUDA_DEVICE)
    rows = _rows(measured, cuda.kernel_cases(quick=quick), told, note)
    return {"cuda_kernels": {"machine": cuda.machine(), "cases": rows}}


def _cuda_search(*, quick: bool, note: Callable[[str], None]) -> dict[str, Any]:
    def told(row: dict[str, Any]) -> str:
        sizes = f"N = {row['points']}, M = {row['cliques']}"
        return f"{row['device']}, {sizes}: fit {row['fit_s']:.2f} s, batch {row['batch_s']:.2f} s"

    rows = _rows(
        cuda.measure_search, cuda.search_cases(quick=quick, device=cuda.CUDA_DEVICE), told, note
    )
    return {"cuda_search": {"machine": cuda.machine(), "cases": rows}}


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
        JSON values. Of the kernels, for each case the least seconds of three rounds for the
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
        cuda.require_cuda()
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
