"""Posterior mean and variance of a process, with their gradients: in torch, or by compiled loops.

The gradient of two numbers a row has a closed form once the row's covariances are known. The
compiled loops keep it, in place of all that automatic differentiation would keep.
"""

from dataclasses import dataclass
from typing import Any, Final, Protocol

import numpy as np
import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from rolecast.core.types import Float
from rolecast.platform.optimizers.mcbo.kernels import columns_of, covariances, posterior_slopes

ROOT_5: Final = 5.0**0.5

ROWS_AT_ONCE: Final = 512
"""Rows whose covariances stay in the cache."""

LEAST_VARIANCE: Final = 1e-10
"""Least posterior variance of a standardised target."""


class Matern52(torch.autograd.Function):
    """k(s) = (1 + r + r^2 / 3) exp(-r), r = sqrt(5 s), of squared scaled distances s.

    Its slope is finite at 0, where that of the square root is not.
    """

    @staticmethod
    def forward(ctx: Any, squared: Tensor) -> Tensor:
        """Return k(s)."""
        root = ROOT_5 * squared.clamp_min(0.0).sqrt()
        decay = torch.exp(-root)
        ctx.save_for_backward(decay * (1.0 + root))
        return (1.0 + root * (1.0 + root / 3.0)) * decay

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> Tensor:
        """Return the gradient with dk / ds = -5/6 (1 + r) exp(-r)."""
        (slope,) = ctx.saved_tensors
        found: Tensor = grads[0] * slope * (-5.0 / 6.0)
        return found


def matern52(squared: Tensor) -> Tensor:
    """Return k(s) of squared scaled distances s [...]."""
    apply: Any = Matern52.apply
    found: Tensor = apply(squared)
    return found


@dataclass(frozen=True, eq=False)
class Conditioned:
    """Posterior of a process given N observations, factored."""

    low: Tensor
    """[P], of each input that is 0 where it was least."""

    spread: Tensor
    """[P], one lengthscale of each input, in its unit."""

    points: Tensor
    """[N, P], in lengthscales from `low`."""

    inverse: Tensor
    """[N, N], of the Cholesky factor of the covariance of standardised targets."""

    weights: Tensor
    """[N], of the mean: that covariance's inverse times the targets."""

    scale: float
    """Prior variance of a standardised target round its mean."""

    mean_variance: float
    """Prior variance of the mean."""

    zero: float
    """Value whose standardised target is 0."""

    unit: float
    """Difference of values whose standardised targets differ by 1."""


class Moments(Protocol):
    """Posterior mean and standard deviation [...] of a node, of its inputs [..., P]."""

    def __call__(self, features: Tensor, /) -> tuple[Tensor, Tensor]:
        """Return mean and deviation, in the unit of the node's values."""


class TorchMoments:
    """Moments by torch's own operations, on any device."""

    def __init__(self, known: Conditioned) -> None:
        self._known, self._norms = known, known.points.square().sum(1)

    def __call__(self, features: Tensor, /) -> tuple[Tensor, Tensor]:
        """Return mean and deviation [...]."""
        known, shape = self._known, features.shape[:-1]
        rows = ((features - known.low) / known.spread).reshape(-1, features.shape[-1])
        squared = rows.square().sum(1)[:, None] + self._norms - 2.0 * rows @ known.points.T
        cross = known.scale * matern52(squared) + known.mean_variance
        explained = (cross @ known.inverse.T).square().sum(1)
        variance = known.scale + known.mean_variance - explained
        return (
            (known.zero + known.unit * (cross @ known.weights)).reshape(shape),
            (known.unit * variance.clamp_min(LEAST_VARIANCE).sqrt()).reshape(shape),
        )


class CompiledMoments:
    """Moments by compiled loops and two products of matrices, on a CPU."""

    def __init__(self, known: Conditioned) -> None:
        self.known = known
        self.low, self.spread = known.low.numpy(), known.spread.numpy()
        self.columns = columns_of(known.points.numpy())
        count, self.width = len(known.points), len(self.columns) // known.points.shape[1]
        self.inverse = np.zeros((self.width, self.width))
        self.inverse[:count, :count] = known.inverse.numpy()
        self.weights = np.zeros(self.width)
        self.weights[:count] = known.weights.numpy()

    def __call__(self, features: Tensor, /) -> tuple[Tensor, Tensor]:
        """Return mean and deviation [...]."""
        apply: Any = _Compiled.apply
        mean, deviation = apply(features, self)
        return mean, deviation

    def found(self, features: Float, *, slopes: bool) -> tuple[Float, Float]:
        """Return mean and deviation [2, R] of inputs [R, P], and their gradients [2, R, P] in them.

        Without `slopes` the gradients are empty.
        """
        known, count = self.known, len(features)
        rows = (features - self.low) / self.spread
        moments = np.empty((2, count))
        gradients = np.empty((2, *rows.shape)) if slopes else np.empty((2, 0, 0))
        buffers = np.empty((2, min(count, ROWS_AT_ONCE), self.width))
        for start in range(0, count, ROWS_AT_ONCE):
            part = rows[start : start + ROWS_AT_ONCE]
            place = slice(start, start + len(part))
            cross, slope = buffers[:, : len(part)]
            covariances(part, self.columns, known.scale, known.mean_variance, cross, slope)
            half = cross @ self.inverse.T
            moments[0, place] = cross @ self.weights
            moments[1, place] = np.einsum("rm,rm->r", half, half)
            if slopes:
                mean, variance = gradients[:, place]
                solved = half @ self.inverse
                posterior_slopes(part, self.columns, slope, self.weights, solved, mean, variance)
        variance = known.scale + known.mean_variance - moments[1]
        deviation = np.sqrt(np.maximum(variance, LEAST_VARIANCE))
        if slopes:
            gradients[1] *= (np.where(variance > LEAST_VARIANCE, 0.5, 0.0) / deviation)[:, None]
            gradients *= known.unit / self.spread
        moments[0] = known.zero + known.unit * moments[0]
        moments[1] = known.unit * deviation
        return moments, gradients


class _Compiled(torch.autograd.Function):
    """The operation that torch differentiates."""

    @staticmethod
    def forward(ctx: Any, features: Tensor, of: CompiledMoments) -> tuple[Tensor, Tensor]:
        """Return mean and deviation [...]; keep their gradients where they are wanted."""
        wanted, shape = ctx.needs_input_grad[0], features.shape
        rows = features.numpy().reshape(-1, shape[-1])
        moments, gradients = of.found(rows, slopes=wanted)
        if wanted:
            ctx.save_for_backward(torch.from_numpy(gradients.reshape(2, *shape)))
        mean, deviation = torch.from_numpy(moments.reshape(2, *shape[:-1]))
        return mean, deviation

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None]:
        """Return the gradient [..., P] of a function of mean and deviation in the inputs."""
        (kept,) = ctx.saved_tensors
        return grads[0][..., None] * kept[0] + grads[1][..., None] * kept[1], None
