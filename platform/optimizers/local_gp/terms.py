"""Terms of the covariance of the local search: one over all dimensions, one over the structure."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from rolecast.platform.surrogate.kernels import AllPairs, CliqueSum, Kernel, Matern

if TYPE_CHECKING:
    import torch

Cliques = Sequence[Sequence[int]]


def interacting(cliques: Cliques | None) -> Cliques | None:
    """Return the cliques of two or more dimensions; the common term covers the others."""
    kept = [clique for clique in cliques or () if len(clique) > 1]
    return kept or None


def common_term(dimension: int, lengthscale: float, device: "torch.device | None") -> Kernel:
    """Return the Matern term over all dimensions."""
    if device is None:
        return Matern(lengthscale)
    whole, one = [range(dimension)], np.ones(1)
    return CliqueSum(whole, lengthscale * one, one, device=device)


def structured_term(
    cliques: Cliques | None,
    *,
    dimension: int,
    lengthscale: float,
    single: bool,
    device: "torch.device | None",
) -> Kernel:
    """Return the sum over cliques; None: over all pairs of dimensions.

    Args:
        cliques: of two or more dimensions.
        dimension: D.
        lengthscale: of one dimension; a clique of m has sqrt(m) times that.
        single: compute in single precision.
        device: of the matrices; None: the CPU.
    Differs: a clique's weight is its share of the sum of all sizes. The paper's sum weighs all
    cliques alike, as `configuration=paper` does; single dimensions then outweigh large cliques.
    """
    if cliques is None:
        return AllPairs(dimension, lengthscale, single=single, device=device)
    sizes = np.array([len(clique) for clique in cliques], dtype=np.float64)
    return CliqueSum(
        *(cliques, lengthscale * np.sqrt(sizes), sizes / sizes.sum()), single=single, device=device
    )
