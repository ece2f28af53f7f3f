"""One case of the sum over cliques, and the two kernels that compute it: fused, and GPyTorch's."""

from dataclasses import dataclass
from typing import Any, Final

import gpytorch
import numpy as np

from rolecast.platform.benchmarks.random_cliques import random_cliques
from rolecast.platform.surrogate.additive_kernel import AdditiveCliqueKernel

FUSED: Final = "AdditiveCliqueKernel"
GPYTORCH: Final = "gpytorch AdditiveKernel"


@dataclass(frozen=True, kw_only=True)
class Case:
    """One measurement."""

    kernel: str
    """FUSED or GPYTORCH."""

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
