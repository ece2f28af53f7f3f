"""Time and memory of whole iterations: tell a batch, learn, ask for the next; ours and BoTorch's.

Ours is `dss_gp_ucb` with given cliques, as it searches a policy; BoTorch's is one process over all
dimensions with its default priors and the upper confidence bound of a batch, no structure.
"""

import math
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Protocol

import numpy as np
import torch
from botorch.acquisition.monte_carlo import qUpperConfidenceBound
from botorch.exceptions.warnings import OptimizationWarning
from botorch.models import SingleTaskGP
from botorch.optim.fit import fit_gpytorch_mll_scipy
from botorch.optim.optimize import optimize_acqf
from gpytorch.mlls import ExactMarginalLogLikelihood

from rolecast.benchmarks.speed.clique_kernels import random_cliques
from rolecast.benchmarks.timing import peak_mib
from rolecast.core.types import Float
from rolecast.platform.optimizers.dss_gp_ucb.config import DssGpUcbConfig
from rolecast.platform.optimizers.local_gp.constants import SEARCH_CONSTANTS
from rolecast.platform.surrogate.refits import ALWAYS_REFITTED_POINTS, REFIT_GROWTH

OWN_SIDE: Final = "dss_gp_ucb"
BOTORCH_SIDE: Final = "botorch SingleTaskGP, qUpperConfidenceBound"

ASK_BATCH: Final = 15
"""Candidates of a batch, the paper's number."""

NOISE_DEVIATION: Final = 0.3
"""Standard deviation of an evaluation's error, in units of a term of the function."""

POINT_SPREAD: Final = 0.01
"""Standard deviation of a coordinate of the points told before, as a policy's cloud has it."""

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


def noisy_sum(cliques: list[tuple[int, ...]], rng: np.random.Generator) -> Callable[[Float], Float]:
    """Return a function of points [N, D]: one term of two dimensions for each clique, and noise."""
    pairs = np.array([clique[:2] for clique in cliques])

    def noisy(points: Float) -> Float:
        terms = np.cos(5.0 * (points[:, pairs[:, 0]] + points[:, pairs[:, 1]])).sum(1)
        return np.asarray(terms + NOISE_DEVIATION * rng.standard_normal(len(points)))

    return noisy


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
