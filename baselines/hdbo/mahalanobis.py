"""The process of ALEBO: a Mahalanobis kernel whose matrix is integrated out by a few draws.

Source: Letham et al. (2020), Re-examining linear embeddings for high-dimensional Bayesian
optimization, section 5.1. A kernel of relevant directions in D dimensions changes in a random
embedding of d. It is exp(-(y - y')' G (y - y') / 2), and G is any positive definite matrix.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import torch
from botorch.models import SingleTaskGP
from botorch.models.gpytorch import GPyTorchModel
from botorch.posteriors.gpytorch import GPyTorchPosterior
from gpytorch.distributions import MultivariateNormal
from gpytorch.kernels import Kernel
from torch import Tensor

from rolecast.baselines.hdbo.shared_points import Border, SharedPoints
from rolecast.core.types import Float

LEAST_CURVATURE: Final = 1e-3
"""Least curvature of the posterior that the draws of the matrix are from; the authors'."""

CHUNK_NUMBERS: Final = 4_000_000
"""Most numbers in one array of covariances, which bounds memory."""


def upper(entries: Tensor, inputs: int) -> Tensor:
    """Return upper triangles [..., d, d] of their entries [..., d (d + 1) / 2], row by row."""
    rows, columns = torch.triu_indices(inputs, inputs)
    factor = torch.zeros(*entries.shape[:-1], inputs, inputs, dtype=entries.dtype)
    factor[..., rows, columns] = entries
    return factor


class MahalanobisKernel(Kernel):  # type: ignore[misc]  # GPyTorch has no types
    """exp(-|U (y - y')|^2 / 2), G = U'U of an upper triangle U."""

    def __init__(self, start: Float) -> None:
        super().__init__()
        self.width = len(start)
        rows, columns = np.triu_indices(self.width)
        entries = torch.as_tensor(start[rows, columns])
        self.register_parameter("entries", torch.nn.Parameter(entries))

    def forward(self, x1: Tensor, x2: Tensor, diag: bool = False, **params: Any) -> Tensor:
        """Return covariances between inputs [..., N, d] and [..., M, d]."""
        turn = upper(self.entries, self.width).mT
        squares = self.covar_dist(x1 @ turn, x2 @ turn, square_dist=True, diag=diag, **params)
        return torch.as_tensor(squares).div(-2.0).exp()


def random_start(embedding: Float, rng: np.random.Generator) -> Float:
    """Return the U [d, d] of a random orthonormal projection, seen from an embedding [d, D]."""
    inputs, dimension = embedding.shape
    turned, _ = np.linalg.qr(rng.standard_normal((dimension, inputs)))
    seen = turned.T @ np.linalg.pinv(embedding)
    gram = seen.T @ seen + 1e-9 * np.eye(inputs)
    return np.asarray(np.linalg.cholesky(gram).T)


class IntegratedProcess(GPyTorchModel):
    """The mixture of processes with several U, as one normal of the same first two moments."""

    def __init__(self, fitted: SingleTaskGP, entries: Tensor) -> None:
        super().__init__()
        with torch.no_grad():
            (self._points,) = fitted.train_inputs
            self._turns = upper(entries, self._points.shape[-1]).mT
            self._scale = fitted.covar_module.outputscale.detach()
            self._mean = fitted.mean_module.constant.detach()
            noise = fitted.likelihood.noise.expand(len(self._points))
            self._turned = self._points @ self._turns
            covariance = self._covariance(self._turned, self._turned) + torch.diag(noise)
            inverse = torch.cholesky_inverse(torch.linalg.cholesky(covariance))
            self._inverse = 0.5 * (inverse + inverse.mT)
            self._weights = self._inverse @ (fitted.train_targets - self._mean)[:, None]
        self._shared = SharedPoints(self._bordering)

    @property
    def num_outputs(self) -> int:
        """One."""
        return 1

    @property
    def batch_shape(self) -> torch.Size:
        """None: the draws are integrated out."""
        return torch.Size()

    def _covariance(self, one: Tensor, other: Tensor) -> Tensor:
        squares = (
            torch.square(one).sum(-1)[..., :, None] + torch.square(other).sum(-1)[..., None, :]
        )
        squares = (squares - 2.0 * one @ other.mT).clamp_min(0.0)
        return torch.as_tensor(self._scale * torch.exp(-0.5 * squares))

    def posterior(self, X: Tensor, *args: Any, **kwargs: Any) -> GPyTorchPosterior:
        """Return the joint posterior at X [..., q, d]."""
        found = self._shared.posterior(X)
        if found is None:
            found = self._joint(X)
            self._shared.keep(X, found.distribution)
        return found

    def _bordering(self, known: Tensor) -> Callable[[Tensor], Border]:
        """Return what gives the border of new points round known ones [s, d]."""
        seen = self._seen(known)
        solved = self._inverse @ seen.near.mT

        def border(new: Tensor) -> Border:
            shape, here = new.shape[:-1], self._seen(new)
            left = (self._covariance(here.turned, seen.turned) - here.near @ solved).mean(0)
            left = left + here.apart.mT @ seen.apart / len(self._turns)
            own = self._own(here, new.shape[-2])
            return Border(
                here.mean.reshape(shape), left.reshape(*shape, -1), own.reshape(*shape, -1)
            )

        return border

    def _seen(self, X: Tensor) -> "_Seen":
        """Return points X [..., q, d] as the draws see them, all batches at once."""
        turned = X.reshape(1, -1, X.shape[-1]) @ self._turns
        near = self._covariance(turned, self._turned)
        means = (self._mean + near @ self._weights)[..., 0]
        return _Seen(turned, near, means.mean(0), means - means.mean(0))

    def _own(self, seen: "_Seen", q: int) -> Tensor:
        """Return covariances [B, q, q] of points in batches of q, draws integrated out."""
        draws = len(self._turns)
        batches = seen.turned.reshape(draws, -1, q, seen.turned.shape[-1])
        own = (self._covariance(batches, batches) - self._explained(seen.near, q)).mean(0)
        apart = seen.apart.reshape(draws, -1, q)
        own = own + torch.einsum("sbi,sbj->bij", apart, apart) / draws
        return 0.5 * (own + own.mT) + 1e-8 * torch.eye(q, dtype=own.dtype)

    def _explained(self, near: Tensor, q: int) -> Tensor:
        """Return k K^-1 k' [S, B, q, q] of covariances k [S, B q, N] with the known points.

        Its first derivative is made of K^-1 k, as its value is: no second product with K^-1.
        """
        batches = near.reshape(len(near), -1, q, near.shape[-1])
        with torch.no_grad():
            solved = (near @ self._inverse).reshape(batches.shape)
        half = solved @ batches.mT
        return torch.as_tensor(half + half.mT - half.detach())

    def _joint(self, X: Tensor) -> GPyTorchPosterior:
        shape, seen = X.shape[:-1], self._seen(X)
        covariance = self._own(seen, X.shape[-2]).reshape(*shape, -1)
        return GPyTorchPosterior(MultivariateNormal(seen.mean.reshape(shape), covariance))


@dataclass(frozen=True)
class _Seen:
    """B q points, seen by S draws of U."""

    turned: Tensor
    """[S, B q, d], U y."""

    near: Tensor
    """[S, B q, N], covariances with the evaluations."""

    mean: Tensor
    """[B q], over the draws."""

    apart: Tensor
    """[S, B q], what each draw's mean is above that."""


def curvature(fitted: SingleTaskGP) -> Float:
    """Return second derivatives [p] of the negative log likelihood in each entry of U.

    By forward differences of the gradient, in chunks of bounded memory.
    """
    (points,) = fitted.train_inputs
    kernel = fitted.covar_module.base_kernel
    at = kernel.entries.detach().clone()
    scale, mean = fitted.covar_module.outputscale.detach(), fitted.mean_module.constant.detach()
    noise = torch.diag(fitted.likelihood.noise.detach().expand(len(points)))
    targets = (fitted.train_targets - mean)[:, None]
    steps = 1e-4 + 1e-3 * at.abs()

    def gradients(entries: Tensor) -> Tensor:
        """Return gradients [K, p] at entries [K, p]."""
        entries = entries.clone().requires_grad_(True)
        turned = points @ upper(entries, kernel.width).mT
        norms = torch.square(turned).sum(-1)
        squares = norms[..., :, None] + norms[..., None, :] - 2.0 * turned @ turned.mT
        covariance = scale * torch.exp(-0.5 * squares.clamp_min(0.0)) + noise
        factor = torch.linalg.cholesky(covariance)
        half = torch.linalg.solve_triangular(factor, targets, upper=False)
        logarithms = factor.diagonal(dim1=-2, dim2=-1).log().sum()
        return torch.autograd.grad(0.5 * torch.square(half).sum() + logarithms, entries)[0]

    base, count = gradients(at[None])[0], len(at)
    size = max(1, CHUNK_NUMBERS // len(points) ** 2)
    found = torch.empty(count, dtype=torch.float64)
    for first in range(0, count, size):
        places = torch.arange(first, min(first + size, count))
        moved = at.repeat(len(places), 1)
        moved[torch.arange(len(places)), places] += steps[places]
        grown = gradients(moved)[torch.arange(len(places)), places]
        found[places] = (grown - base[places]) / steps[places]
    return np.asarray(found.numpy())


def integrated(fitted: SingleTaskGP, draws: int, rng: np.random.Generator) -> IntegratedProcess:
    """Return the process with U at its best and at draws from Laplace's approximation round it."""
    at = fitted.covar_module.base_kernel.entries.detach().numpy()
    deviations = 1.0 / np.sqrt(np.maximum(curvature(fitted), 0.0) + LEAST_CURVATURE)
    drawn = at + deviations * rng.standard_normal((draws - 1, len(at)))
    return IntegratedProcess(fitted, torch.as_tensor(np.concatenate([at[None], drawn])))
