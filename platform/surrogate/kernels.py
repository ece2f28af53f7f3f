"""Covariance functions of the searches: one term over all dimensions, sums over cliques, mixtures.

Each has two methods: the matrix between two sets of points, and the gradient of a weighted sum over
points. Posterior mean and gradient ascent need no others.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol

import numpy as np

from rolecast.core.types import Float
from rolecast.platform.surrogate.clique_sum.cpu import (
    CliqueLayout,
    clique_sum,
    clique_sum_gradient,
)
from rolecast.platform.surrogate.dense import Matrix, to_host
from rolecast.platform.surrogate.matern import matern52, matern52_slope, squared_distances

if TYPE_CHECKING:
    import torch


class Kernel(Protocol):
    """Covariance function k with k(x, x) = 1."""

    def matrix(self, A: Float, B: Float) -> Matrix:
        """Return k [N, M] between rows of A [N, D] and B [M, D], on the device of the kernel."""

    def gradient(self, point: Float, others: Float, coefficients: Float) -> Float:
        """Return the gradient [D] of sum_j c_j k(point, others_j); others [M, D], c [M]."""


@dataclass(frozen=True)
class Matern:
    """Matérn-5/2 over all dimensions with one lengthscale."""

    lengthscale: float

    def matrix(self, A: Float, B: Float) -> Float:
        """Return [N, M]."""
        return matern52(squared_distances(A, B) / self.lengthscale**2)

    def gradient(self, point: Float, others: Float, coefficients: Float) -> Float:
        """Return [D]."""
        # d k(s) / dx = 2 k'(s) (x - x_j) / l^2, with s = |x - x_j|^2 / l^2.
        squared = squared_distances(point[None], others)[0] / self.lengthscale**2
        factors = 2.0 / self.lengthscale**2 * matern52_slope(squared) * coefficients
        return np.asarray(factors.sum() * point - factors @ others)


class CliqueSum:
    """Weighted sum over cliques of Matérn-5/2 over the dimensions of each clique.

    k(x, x') = sum_c w_c k_c(x_c, x'_c), Algorithm 4, step 3, of the DSS-GP-UCB paper (section 4.4).
    Weights sum to 1, so k(x, x) = 1.
    """

    def __init__(
        self,
        cliques: Sequence[Sequence[int]],
        lengthscales: Float,
        weights: Float,
        *,
        single: bool = False,
        device: "torch.device | None" = None,
    ) -> None:
        """Store M cliques of dimensions, lengthscales [M] and weights [M] of sum 1.

        Entries in `single` precision have an error of 2e-6, to be used with larger noise. With a
        `device`, matrices are tensors on it.
        """
        self._layout = CliqueLayout.of(cliques)
        self._inverse = 1.0 / np.square(lengthscales)
        self._weights = np.asarray(weights, dtype=np.float64)
        self._precision: Any = np.float32 if single else np.float64
        self._device = device

    def matrix(self, A: Float, B: Float) -> Matrix:
        """Return [N, M]."""
        if self._device is not None:
            return self._matrix_there(A, None if A is B else B, self._device)
        found = clique_sum(
            A.astype(self._precision),
            None if A is B else B.astype(self._precision),
            self._layout,
            self._inverse,
            self._weights,
        )
        return found.astype(np.float64)

    def gradient(self, point: Float, others: Float, coefficients: Float) -> Float:
        """Return [D]."""
        if self._device is not None:
            return self._gradient_there(point, others, coefficients, self._device)
        found, _, _ = clique_sum_gradient(
            point[None].astype(self._precision),
            others.astype(self._precision),
            coefficients[None].astype(self._precision),
            self._layout,
            self._inverse,
            self._weights,
        )
        return np.asarray(found[0], dtype=np.float64)

    def _matrix_there(self, A: Float, B: Float | None, device: "torch.device") -> Matrix:
        """Return [N, M], computed on a device; B is None where it equals A."""
        from rolecast.platform.surrogate.clique_sum.dispatch import device_clique_sum

        ours, *others, inverse, weights = self._moved(
            device, A, *(() if B is None else (B,)), self._inverse, self._weights
        )
        theirs = others[0] if others else None
        found = device_clique_sum(
            ours, theirs, weights, self._layout, smooth=False, inverse=inverse
        )
        return found.double()

    def _gradient_there(
        self, point: Float, others: Float, coefficients: Float, device: "torch.device"
    ) -> Float:
        """Return [D], computed on a device."""
        from rolecast.platform.surrogate.clique_sum.dispatch import device_clique_sum_gradient

        ours, theirs, given, inverse, weights = self._moved(
            device, point[None], others, coefficients[None], self._inverse, self._weights
        )
        found, _ = device_clique_sum_gradient(
            ours, theirs, weights, given, self._layout, smooth=False, inverse=inverse
        )
        return np.asarray(to_host(found[0]), dtype=np.float64)

    def _moved(self, device: "torch.device", *arrays: Float) -> "list[torch.Tensor]":
        """Return arrays as tensors on a device, in the precision of the sum."""
        import torch

        return [torch.as_tensor(each.astype(self._precision)).to(device) for each in arrays]


PAIRS_SHARE: Final = 0.7
"""Share s of the pairs in `AllPairs`; single dimensions have the rest."""


class AllPairs:
    """Additive kernel of orders 1 and 2: functions of any one or two dimensions, without a graph.

    k = (1 - s) u + s u^2, with s = PAIRS_SHARE and u the mean of the D one-dimensional Matérn-5/2
    kernels. u^2 sums the products of all pairs, at the cost of D terms, not D^2.

    Source: Duvenaud, Nickisch and Rasmussen (2011). Differs: u^2 contains the square of each
    dimension's kernel too, 1 / D of its terms.
    """

    def __init__(
        self,
        dimension: int,
        lengthscale: float,
        *,
        single: bool = False,
        device: "torch.device | None" = None,
    ) -> None:
        """Store the number of dimensions and their lengthscale; others as in `CliqueSum`."""
        alone = [(place,) for place in range(dimension)]
        weights = np.full(dimension, 1.0 / dimension)
        lengthscales = np.full(dimension, lengthscale)
        self._alone = CliqueSum(alone, lengthscales, weights, single=single, device=device)

    def matrix(self, A: Float, B: Float) -> Matrix:
        """Return [N, M]."""
        mean = self._alone.matrix(A, B)
        return ((1.0 - PAIRS_SHARE) + PAIRS_SHARE * mean) * mean

    def gradient(self, point: Float, others: Float, coefficients: Float) -> Float:
        """Return [D]."""
        # dk = (1 - s + 2 s u) du
        mean = to_host(self._alone.matrix(point[None], others)[0])
        slopes = (1.0 - PAIRS_SHARE) + 2.0 * PAIRS_SHARE * mean
        return self._alone.gradient(point, others, coefficients * slopes)


@dataclass(frozen=True)
class Mixture:
    """Mixture of two kernels: (1 - share) k_common + share k_structured."""

    common: Kernel
    structured: Kernel
    share: float

    def matrix(self, A: Float, B: Float) -> Matrix:
        """Return [N, M]."""
        common = (1.0 - self.share) * self.common.matrix(A, B)
        return common + self.share * self.structured.matrix(A, B)

    def gradient(self, point: Float, others: Float, coefficients: Float) -> Float:
        """Return [D]."""
        common = self.common.gradient(point, others, coefficients)
        structured = self.structured.gradient(point, others, coefficients)
        return (1.0 - self.share) * common + self.share * structured
