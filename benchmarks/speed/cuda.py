"""The sum over cliques, and fit and ask of the search, on CUDA: time, and agreement with the CPU.

Seconds are by the clock, the device idle before and after. Where it is not too long, the CPU
computes the same in the same run: the kernel on all cores, the search as its actor does, on one.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import numpy as np
import torch
from threadpoolctl import threadpool_limits
from torch import Tensor

from rolecast.benchmarks.speed.clique_kernels import (
    ASK_BATCH,
    FUSED_SIDE,
    GPYTORCH_SIDE,
    NOISE_DEVIATION,
    POINT_SPREAD,
    Case,
    fused,
    inputs,
    noisy_sum,
    one_a_clique,
    random_cliques,
    timed,
)
from rolecast.benchmarks.timing import digits
from rolecast.core.errors import RequestError
from rolecast.core.threads import available_cores
from rolecast.platform.optimizers.dss_gp_ucb.config import DssGpUcbConfig
from rolecast.platform.surrogate.clique_sum.cpu import CliqueLayout, clique_sum, clique_sum_gradient
from rolecast.platform.surrogate.clique_sum.torch_sum import (
    torch_clique_sum,
    torch_clique_sum_gradient,
)

CHUNKED_SIDE: Final = "plain torch in chunks"
"""What computes the sum on CUDA where there is no Triton."""

CUDA_DEVICE: Final = "cuda"

TIMED_PRECISIONS: Final = ("float64", "float32")

LONG_SECONDS: Final = 20.0
"""Seconds from which one measurement is enough; the least of three else."""

ON_ALL_CORES: Final = 5e10
"""Pairs times cliques up to which the CPU is timed too."""

COMPARED_ROWS: Final = 64
"""Rows of the covariance in which device and CPU are compared."""

EXTENDED_BATCHES: Final = 3
"""Told and asked for after the first fit, all by extension of it."""


def require_cuda() -> None:
    """Refuse to measure without a device.

    Raises:
        RequestError: torch sees none.
    """
    if not torch.cuda.is_available():
        raise RequestError("torch sees no CUDA device here; expected one for this --part")


def machine() -> dict[str, Any]:
    """Return JSON values: what was measured on."""
    return {
        "device": torch.cuda.get_device_name(),
        "cores": available_cores(),
        "torch": torch.__version__,
    }


def kernel_cases(*, quick: bool) -> list[Case]:
    """Return the cases of the kernel; quick ones say nothing, and show that it works."""
    if quick:
        return [
            Case(kernel=kernel, precision="float64", dimensions=40, points=70, cliques=30)
            for kernel in (FUSED_SIDE, GPYTORCH_SIDE, CHUNKED_SIDE)
        ]
    ours = ((1000, 100), (1000, 1500), (1000, 15_000), (3000, 15_000), (10_000, 1500))
    sizes = (
        *((FUSED_SIDE, points, cliques) for points, cliques in (*ours, (10_000, 50_000))),
        (GPYTORCH_SIDE, 1000, 100),
        (CHUNKED_SIDE, 1000, 1500),
    )
    return [
        Case(kernel=kernel, precision=name, dimensions=478, points=points, cliques=cliques)
        for kernel, points, cliques in sizes
        for name in TIMED_PRECISIONS
    ]


def measure_kernel(case: Case, device: str) -> dict[str, Any]:
    """Return JSON values of one case.

    Seconds of value and gradient on the device; of the fused kernel also on all cores of the CPU,
    where that does not take minutes, and how far both are from the CPU in float64, as a share of
    the greatest entry.
    """
    rng = np.random.default_rng(0)
    cliques = random_cliques(case.dimensions, case.cliques, np.random.default_rng(0))
    layout = CliqueLayout.of(cliques)
    points, factors = inputs(case, rng)
    there, given = points.to(device), factors.to(device)
    if case.kernel == CHUNKED_SIDE:
        shares = there.new_full((len(cliques),), 1.0 / len(cliques))
        sides = partial(_chunks, there, given, shares, layout)
    else:
        make = fused if case.kernel == FUSED_SIDE else one_a_clique
        kernel = make(case, np.random.default_rng(0)).to(points.dtype).to(device)
        # Triton compiles on the first call, and apart for numbers that 16 divides.
        for few in (65, 80):
            timed(kernel, there[:few], given[:few, :few], partial(_clock, device))
        sides = partial(timed, kernel, there, given)
    found = least_seconds(partial(sides, partial(_clock, device)))
    row = {"value_s": found[0], "gradient_s": found[1]}
    if case.kernel != FUSED_SIDE:
        return _digits_of(row)
    if case.points**2 * case.cliques <= ON_ALL_CORES:
        kernel = kernel.to("cpu")
        timed(kernel, points[:65], factors[:65, :65], time.perf_counter)
        value, gradient = least_seconds(partial(timed, kernel, points, factors, time.perf_counter))
        row |= {"cpu_value_s": value, "cpu_gradient_s": gradient}
        row |= {"value_times": value / found[0], "gradient_times": gradient / found[1]}
        kernel = kernel.to(device)
    return _digits_of(row | _errors(kernel, points, factors, layout, device))


def least_seconds(work: Callable[[], tuple[float, float]]) -> tuple[float, float]:
    """Return the least seconds of value and gradient of three runs, or those of one long one."""
    found = work()
    if sum(found) >= LONG_SECONDS:
        return found
    (value, gradient) = np.min([found, work(), work()], axis=0)
    return float(value), float(gradient)


def _chunks(
    points: Tensor,
    factors: Tensor,
    weights: Tensor,
    layout: CliqueLayout,
    clock: Callable[[], float],
) -> tuple[float, float]:
    """Return seconds of value and gradient by plain torch."""
    start = clock()
    torch_clique_sum(points, points, weights, layout, smooth=False)
    value = clock() - start
    start = clock()
    torch_clique_sum_gradient(points, points, weights, factors, layout, smooth=False)
    return value, clock() - start


def _errors(
    kernel: Any,
    points: Tensor,
    factors: Tensor,
    layout: CliqueLayout,
    device: str,
) -> dict[str, float]:
    """Return greatest differences of value and gradient from the CPU's in float64, in some rows."""
    scale = float(kernel.lengthscale.detach().reshape(-1)[0])
    all_points, given = points.double().numpy() / scale, factors[:COMPARED_ROWS].double().numpy()
    weights = kernel.clique_weight.detach().double().cpu().numpy()
    ones, some, threads = np.ones(len(weights)), all_points[:COMPARED_ROWS], torch.get_num_threads()
    value = clique_sum(some, all_points, layout, ones, weights, threads=threads)
    gradient, _, _ = clique_sum_gradient(
        some, all_points, given, layout, ones, weights, threads=threads
    )
    rows = points[:COMPARED_ROWS].to(device).requires_grad_()
    found = kernel(rows, points.to(device)).to_dense()
    (slopes,) = torch.autograd.grad(found, rows, factors[:COMPARED_ROWS].to(device))
    values, changes = (each.detach().double().cpu().numpy() for each in (found, slopes * scale))
    return {
        "value_error": float(np.abs(values - value).max()),
        "gradient_error": float(np.abs(changes - gradient).max() / np.abs(gradient).max()),
    }


@dataclass(frozen=True, kw_only=True)
class Searched:
    """One measurement of the search."""

    device: str
    """"cpu" or "cuda"."""

    dimensions: int
    """D."""

    points: int
    """N, evaluations in the process."""

    cliques: int
    """M, of 2 to 6 dimensions each, drawn at random."""


def search_cases(*, quick: bool, device: str) -> list[Searched]:
    """Return the cases of the search, each on the device, the smaller ones on the CPU too."""
    if quick:
        return [Searched(device=device, dimensions=20, points=250, cliques=10)]
    both = ((1000, 1500), (3000, 15_000))
    sizes = (*((device, *size) for size in (*both, (5000, 1500), (10_000, 50_000))),)
    return [
        Searched(device=name, dimensions=478, points=points, cliques=cliques)
        for name, points, cliques in (*sizes, *(("cpu", *size) for size in both))
    ]


def measure_search(case: Searched) -> dict[str, Any]:
    """Return JSON values: seconds of the first fit and choice, and of a batch after it (median).

    The first has all evaluations told at once: it chooses noise and share of structure, and climbs.
    A batch is told, extends the process, climbs, and the next is asked for by `acquisition="ucb"`.
    """
    rng = np.random.default_rng(0)
    cliques = random_cliques(case.dimensions, case.cliques, rng)
    noisy = noisy_sum(cliques[:1500], rng)  # of the data alone, what they are is all one
    cloud = 0.5 + POINT_SPREAD * rng.standard_normal((case.points, case.dimensions))
    config = DssGpUcbConfig(
        cliques=tuple(cliques),
        groups=tuple(range(case.dimensions)),
        window=case.points + EXTENDED_BATCHES * ASK_BATCH,
        acquisition="ucb",
        device=case.device,
    )
    with threadpool_limits(1):
        optimizer = config.build(dimension=case.dimensions, seed=0)
        optimizer.ask(ASK_BATCH)
        few = config.build(dimension=case.dimensions, seed=0)
        for part in (cloud[:100], cloud[100:208]):  # compiles
            few.tell(part, noisy(part), np.full(len(part), NOISE_DEVIATION))
            few.ask(ASK_BATCH)
        values, seconds = noisy(cloud), []
        start = _clock(case.device)
        optimizer.tell(cloud, values, np.full(len(cloud), NOISE_DEVIATION))
        fitted = _clock(case.device) - start
        asked = optimizer.ask(ASK_BATCH)
        for _ in range(EXTENDED_BATCHES):
            values = noisy(asked)
            start = _clock(case.device)
            optimizer.tell(asked, values, np.full(ASK_BATCH, NOISE_DEVIATION))
            asked = optimizer.ask(ASK_BATCH)
            seconds.append(_clock(case.device) - start)
    found = {"fit_s": fitted, "batch_s": float(np.median(seconds))}
    if case.device != "cpu":
        found["device_gib"] = torch.cuda.max_memory_allocated() / 2**30
    return _digits_of(found)


def _clock(device: str) -> float:
    """Return seconds by the clock, once the device has finished."""
    if device != "cpu":
        torch.cuda.synchronize()
    return time.perf_counter()


def _digits_of(row: dict[str, float]) -> dict[str, float]:
    return {name: digits(value) for name, value in row.items()}
