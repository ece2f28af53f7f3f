"""The surrogate's speed by parts: the sum over cliques, many cores, whole iterations, CUDA.

An iteration tells a batch, learns, and asks for the next. Ours is `dss_gp_ucb` with given cliques,
as it searches a policy; BoTorch's is one process over all dimensions with its default priors and
the upper confidence bound of a batch, no structure. Each case has a process of its own, so that its
peak of memory is its own.
"""

import math
import multiprocessing
import time
import warnings
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, Final, Protocol

import numpy as np
import torch
from botorch.acquisition.monte_carlo import qUpperConfidenceBound
from botorch.exceptions.warnings import OptimizationWarning
from botorch.models import SingleTaskGP
from botorch.optim.fit import fit_gpytorch_mll_scipy
from botorch.optim.optimize import optimize_acqf
from gpytorch.mlls import ExactMarginalLogLikelihood

from rolecast.benchmarks.commits import source_commit
from rolecast.benchmarks.speed import cuda
from rolecast.benchmarks.speed.clique_kernels import (
    ASK_BATCH,
    NOISE_DEVIATION,
    POINT_SPREAD,
    all_cases,
    cores_cases,
    kernel_ratios,
    measure_cores,
    measure_kernel,
    noisy_sum,
    random_cliques,
)
from rolecast.benchmarks.timing import machine, peak_mib
from rolecast.core.errors import require_known
from rolecast.core.mortal import end_with_parent
from rolecast.core.types import Float
from rolecast.platform.optimizers.dss_gp_ucb.config import DssGpUcbConfig
from rolecast.platform.optimizers.local_gp.constants import SEARCH_CONSTANTS
from rolecast.platform.surrogate.refits import ALWAYS_REFITTED_POINTS, REFIT_GROWTH

OWN_SIDE: Final = "dss_gp_ucb"
BOTORCH_SIDE: Final = "botorch SingleTaskGP, qUpperConfidenceBound"

ASCENT_RESTARTS: Final = 4
RAW_STARTS: Final = 64
"""What BoTorch has no defaults for: starts of an ascent, and points to choose them from."""

MOST_ASCENT_STEPS: Final = 50
"""Most steps of BoTorch's fit and of an ascent; without a limit a fit can take minutes here."""


@dataclass(frozen=True, kw_only=True)
class Iteration:
    """One measurement."""

    optimizer: str
    """OWN_SIDE or BOTORCH_SIDE."""

    dimensions: int
    """D."""

    points: int
    """N, evaluations in the process."""

    cliques: int
    """M, of 2 to 6 dimensions each, drawn at random; of the function's terms as well."""

    batches: int
    """Iterations; ours chooses the share of structure once in every `choice_interval`, or with the
    refit where that is rarer."""


def all_iterations(*, quick: bool) -> list[Iteration]:
    """Return the cases of the table; quick ones say nothing, and show that it works."""
    if quick:
        sizes = {"dimensions": 20, "points": 60, "cliques": 10, "batches": 1}
        return [Iteration(optimizer=name, **sizes) for name in (OWN_SIDE, BOTORCH_SIDE)]
    return [
        Iteration(optimizer=BOTORCH_SIDE, dimensions=478, points=500, cliques=1500, batches=2),
        *(
            Iteration(
                optimizer=OWN_SIDE,
                dimensions=478,
                points=points,
                cliques=cliques,
                batches=cycle(points),
            )
            for points, cliques in (
                (500, 1500),
                (1000, 1500),
                (500, 15_000),
                (3000, 15_000),
                (5000, 1500),
            )
        ),
    ]


def cycle(points: int) -> int:
    """Return how many of our iterations hold each kind of work once: one refit where it is rare."""
    return (
        SEARCH_CONSTANTS.choice_interval
        if points <= ALWAYS_REFITTED_POINTS
        else math.ceil(REFIT_GROWTH * points / ASK_BATCH)
    )


def measure_iteration(case: Iteration) -> dict[str, float]:
    """Return mean and greatest seconds of an iteration of one core, and the peak of memory."""
    torch.set_num_threads(1)
    rng = np.random.default_rng(0)
    cliques = random_cliques(case.dimensions, case.cliques, rng)
    noisy = noisy_sum(cliques, rng)
    cloud = 0.5 + POINT_SPREAD * rng.standard_normal((case.points, case.dimensions))
    make = _Ours if case.optimizer == OWN_SIDE else _BoTorch
    before = peak_mib()
    search: _Search = make(case, cliques)
    search.tell(cloud, noisy(cloud))
    asked = search.ask()
    seconds = []
    for _ in range(case.batches):
        values = noisy(asked)
        start = time.process_time()
        search.tell(asked, values)
        asked = search.ask()
        seconds.append(time.process_time() - start)
    peak = peak_mib() - before
    return {
        "mean_s": round(float(np.mean(seconds)), 3),
        "greatest_s": round(max(seconds), 3),
        "peak_mib": round(peak, 1),
    }


class _Search(Protocol):
    """Tells and asks; all work of an iteration lies between two calls of `ask` returning."""

    def tell(self, points: Float, values: Float) -> None: ...

    def ask(self) -> Float: ...


class _Ours:
    """The local search with cliques, as for a policy, its window as large as the case says."""

    def __init__(self, case: Iteration, cliques: list[tuple[int, ...]]) -> None:
        config = DssGpUcbConfig(
            cliques=tuple(cliques), groups=tuple(range(case.dimensions)), window=case.points
        )
        self._optimizer = config.build(dimension=case.dimensions, seed=0)

    def tell(self, points: Float, values: Float) -> None:
        self._optimizer.tell(points, values, np.full(len(points), NOISE_DEVIATION))

    def ask(self) -> Float:
        return self._optimizer.ask(ASK_BATCH)


class _BoTorch:
    """A process fitted anew in each iteration; all points are kept."""

    def __init__(self, case: Iteration, cliques: list[tuple[int, ...]]) -> None:
        self._points = torch.empty((0, case.dimensions), dtype=torch.float64)
        self._values = torch.empty((0, 1), dtype=torch.float64)

    def tell(self, points: Float, values: Float) -> None:
        self._points = torch.cat([self._points, torch.as_tensor(points)])
        self._values = torch.cat([self._values, torch.as_tensor(values)[:, None]])

    def ask(self) -> Float:
        model = SingleTaskGP(self._points, self._values)
        with warnings.catch_warnings():
            # That a fit stops early is what its limit asks for.
            warnings.simplefilter("ignore", OptimizationWarning)
            objective = ExactMarginalLogLikelihood(model.likelihood, model)
            fit_gpytorch_mll_scipy(objective, options={"maxiter": MOST_ASCENT_STEPS})
        bounds = torch.tensor([[0.0], [1.0]], dtype=torch.float64)
        found, _ = optimize_acqf(
            qUpperConfidenceBound(model, beta=0.2),
            bounds.expand(2, self._points.shape[1]),
            q=ASK_BATCH,
            num_restarts=ASCENT_RESTARTS,
            raw_samples=RAW_STARTS,
            options={"maxiter": MOST_ASCENT_STEPS},
        )
        return np.asarray(found.numpy())


def faster(rows: list[dict[str, Any]]) -> float:
    """Return how many times as fast ours is on average as BoTorch's at the same size."""
    (peer,) = (row for row in rows if row["optimizer"] == BOTORCH_SIDE)
    same = ("dimensions", "points", "cliques")
    (ours,) = (
        row
        for row in rows
        if row["optimizer"] == OWN_SIDE and all(row[name] == peer[name] for name in same)
    )
    return round(float(peer["mean_s"]) / max(float(ours["mean_s"]), 1e-6), 1)


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
        BoTorch's they are. `PART_on` is the machine and commit that a part was measured with.

    Raises:
        RequestError: a part is not known, or is of CUDA and torch sees none.
    """
    known = BENCHMARK_PARTS | CUDA_PARTS
    require_known("--part", parts, known)
    if not CUDA_PARTS.keys().isdisjoint(parts):
        cuda.require_cuda()
    found: dict[str, Any] = {
        "unit": "seconds of processor time, one core; ns a clique and pair, of N (N + 1) / 2 pairs"
    }
    for name, measured in known.items():
        if name in parts:
            here = machine({"torch": "torch", "numba": "numba", "gpytorch": "gpytorch"})
            on = {**here, "commit": source_commit()}
            found |= {**measured(quick=quick, note=note), f"{name}_on": on}
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
        spawn = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(1, mp_context=spawn, initializer=end_with_parent) as pool:
            rows.append(asdict(case) | pool.submit(measured, case).result())
        note(told(rows[-1]))
    return rows
