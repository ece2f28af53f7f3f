"""Covariances that the searches use: one term over all dimensions, sums over cliques, a mixture.

Each has the value between two sets of points, and the gradient in one point of a weighted sum over
others: what posterior mean and its ascent need.
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
    """A covariance with k(x, x) = 1."""

    def matrix(self, A: Float, B: Float) -> Matrix:
        """Return [N, M] between rows of A [N, D] and B [M, D], on the kernel's device."""

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
        squared = squared_distances(point[None], others)[0] / self.lengthscale**2
        factors = 2.0 / self.lengthscale**2 * matern52_slope(squared) * coefficients
        return np.asarray(factors.sum() * point - factors @ others)


class CliqueSum:
    """Weighted sum over cliques of Matérn-5/2 over the dimensions of each clique.

    Section 4.4 of the DSS-GP-UCB paper, algorithm 4 step 3; weights of sum 1, so k(x, x) = 1.
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
        """Take M cliques (dimensions each), lengthscales [M] and weights [M] of sum 1.

        Computed in `single` precision, entries are good to 2e-6: for noise well above that.
        Matrices are tensors on the device, where there is one.
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
        """Return [N, M] on a device; B is None where it is A."""
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
"""Of the pairs in `AllPairs`; the rest is the dimensions' own."""


class AllPairs:
    """Sums of functions of one and of two dimensions, whichever these are: no graph is needed.

    (1 - s) u + s u^2, where u is the mean over dimensions of their Matérn-5/2 and s is PAIRS_SHARE:
    u^2 is the sum over all pairs of products of theirs, for the work of D terms, not D^2.

    Source: Duvenaud, Nickisch and Rasmussen (2011), additive kernels of orders 1 and 2. Differs:
    the square has each dimension's product with itself too, a D-th of it.
    """

    def __init__(
        self,
        dimension: int,
        lengthscale: float,
        *,
        single: bool = False,
        device: "torch.device | None" = None,
    ) -> None:
        """Take the number of dimensions and their lengthscale; others as in `CliqueSum`."""
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
        mean = to_host(self._alone.matrix(point[None], others)[0])
        slopes = (1.0 - PAIRS_SHARE) + 2.0 * PAIRS_SHARE * mean
        return self._alone.gradient(point, others, coefficients * slopes)


@dataclass(frozen=True)
class Mixture:
    """(1 - share) of one kernel and `share` of another."""

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
