"""Bayesian linear regression on a sphere: a process with a linear kernel, whatever the dimension.

A linear function of the cube is greatest in a corner. On the sphere, onto which an inverse
stereographic map takes the cube, it is not, so that proposals stay inside.

Source: Doumont, Fan, Maus, Gardner, Moss and Pleiss (2025), We still don't understand
high-dimensional Bayesian optimization.
"""

import math
from dataclasses import dataclass
from typing import Any, Final

import torch
from gpytorch.constraints import GreaterThan
from gpytorch.kernels import Kernel
from gpytorch.priors import LogNormalPrior
from torch import Tensor

from rolecast.baselines.hdbo.acquisition import AcquisitionConfig
from rolecast.baselines.hdbo.logei import LogEi
from rolecast.baselines.hdbo.search import SurrogateSearch

FIRST_POINTS: Final = 30
"""Points of the authors' first design."""

LEAST_LENGTHSCALE: Final = 0.025


@dataclass(frozen=True, kw_only=True)
class SphericalLinearConfig(AcquisitionConfig):
    """A linear process on the sphere, candidates of greatest noisy expected improvement."""

    def build(self, *, dimension: int, seed: int) -> SurrogateSearch:
        """Return a fresh optimiser."""
        method = SphericalLinear(self, dimension)
        return SurrogateSearch(self, method, dimension=dimension, seed=seed, initial=FIRST_POINTS)


class SphericalLinear(LogEi):
    """Proposes as the plain process does, with a linear kernel on the sphere."""

    def kernel(self) -> Kernel:
        """Return the kernel of the cube."""
        return SphericalLinearKernel(self.dimension).double()


class SphericalLinearKernel(Kernel):  # type: ignore[misc]  # the library has no types
    """k(x, x') = b_0 + b_1 P(z) P(z')^T on the unit cube, b_0 + b_1 = 1 (section 4 of the source).

    z_i = (x_i - 1/2) / (a l_i) with lengthscales l and a^2 = s sum_i (1 / (2 l_i))^2, 0 < s < 1: a
    corner of the cube has norm 1 / sqrt(s). P(z) = (2 z, |z|^2 - 1) / (|z|^2 + 1) is the inverse
    stereographic map. The prior of a lengthscale does not grow with D, as a does.
    """

    has_lengthscale = True
    is_stationary = False

    def __init__(self, dimension: int) -> None:
        """Start at the mode of the prior, with b_0 = b_1 and s = 1/2.

        Args:
            dimension: D.
        """
        prior = LogNormalPrior(math.sqrt(2.0), math.sqrt(3.0))
        bound = GreaterThan(LEAST_LENGTHSCALE, transform=None, initial_value=prior.mode)
        super().__init__(
            ard_num_dims=dimension, lengthscale_prior=prior, lengthscale_constraint=bound
        )
        self.register_parameter("raw_shares", torch.nn.Parameter(torch.zeros(2)))
        self.register_parameter("raw_scale", torch.nn.Parameter(torch.zeros(1)))

    def forward(self, x1: Tensor, x2: Tensor, diag: bool = False, **params: Any) -> Tensor:
        """Return the covariance [..., N, M] of points [..., N, D] and [..., M, D].

        Args:
            x1: points of the unit cube.
            x2: points of the unit cube.
            diag: return k(x1_n, x2_n) [..., N] alone.
            params: of other kernels.
        """
        shares = torch.softmax(self.raw_shares, -1)
        first, second = self._on_sphere(x1), self._on_sphere(x2)
        inner = (first * second).sum(-1) if diag else first @ second.mT
        return shares[0] + shares[1] * inner

    def _on_sphere(self, points: Tensor) -> Tensor:
        """Return points [..., N, D] of the cube as unit vectors [..., N, D + 1]."""
        lengthscale = self.lengthscale
        corner = (0.5 / lengthscale).square().sum(-1, keepdim=True)
        scaled = (points - 0.5) / (lengthscale * (torch.sigmoid(self.raw_scale) * corner).sqrt())
        square = scaled.square().sum(-1, keepdim=True)
        found: Tensor = torch.cat([2.0 * scaled, square - 1.0], -1) / (square + 1.0)
        return found
