"""One case of the sum over cliques, and the two kernels that compute it: fused, and GPyTorch's."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import gpytorch
import numpy as np
import torch

from rolecast.benchmarks.surrogate_speed.random_cliques import random_cliques
from rolecast.platform.surrogate.clique_sum.gpytorch_kernel import AdditiveCliqueKernel

FUSED_SIDE: Final = "AdditiveCliqueKernel"
GPYTORCH_SIDE: Final = "gpytorch AdditiveKernel"


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
