"""The process of ALEBO: a Mahalanobis kernel whose matrix is integrated out by a few draws.

Source: Letham et al. (2020), Re-examining linear embeddings for high-dimensional Bayesian
optimization, section 5.1: a kernel that knows relevant directions in all D dimensions is, seen from
a random embedding of d, exp(-(y - y')' G (y - y') / 2) with G any positive definite matrix.
"""

from collections.abc import Callable
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
from rolecast.envs.spec import Float

NUGGET: Final = 1e-3
"""Least curvature of the posterior that the draws of the matrix are from; the authors'."""

CHUNK: Final = 4_000_000
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
        draws = len(self._turns)
        turned = known @ self._turns
        cross = self._covariance(self._turned, turned)
        solved = self._inverse @ cross
        means = (self._mean + cross.mT @ self._weights)[..., 0]
        apart = means - means.mean(0)

        def border(new: Tensor) -> Border:
            shape, q = new.shape[:-1], new.shape[-2]
            flat = new.reshape(1, -1, new.shape[-1]) @ self._turns
            near = self._covariance(flat, self._turned)
            at = (self._mean + near @ self._weights)[..., 0]
            moved = at - at.mean(0)
            left = (self._covariance(flat, turned) - near @ solved).mean(0)
            left = left + moved.mT @ apart / draws
            batches = flat.reshape(draws, -1, q, new.shape[-1])
            own = (self._covariance(batches, batches) - self._explained(near, q)).mean(0)
            moved = moved.reshape(draws, -1, q)
            own = own + torch.einsum("sbi,sbj->bij", moved, moved) / draws + _nugget(new)
            return Border(
                at.mean(0).reshape(shape),
                left.reshape(*shape, -1),
                (0.5 * (own + own.mT)).reshape(*shape, q),
            )

        return border

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
        shape, q = X.shape[:-2], X.shape[-2]
        flat = X.reshape(-1, q, X.shape[-1])
        draws, known = len(self._turns), len(self._points)
        # [S, B q, N]: all points of the batch at once, so that no inverse is copied.
        turned = flat.reshape(1, -1, X.shape[-1]) @ self._turns
        cross = self._covariance(turned, self._turned)
        explained = (cross @ self._inverse).reshape(draws, -1, q, known)
        means = (self._mean + cross @ self._weights).reshape(draws, -1, q)
        own = turned.reshape(draws, -1, q, X.shape[-1])
        covariances = self._covariance(own, own)
        covariances = covariances - explained @ cross.reshape(draws, -1, q, known).mT
        mean = means.mean(0)
        apart = means - mean
        between = torch.einsum("sbi,sbj->bij", apart, apart) / draws
        covariance = covariances.mean(0) + between
        covariance = 0.5 * (covariance + covariance.mT) + _nugget(X)
        normal = MultivariateNormal(mean.reshape(*shape, q), covariance.reshape(*shape, q, q))
        return GPyTorchPosterior(normal)


def _nugget(X: Tensor) -> Tensor:
    """Return what keeps a covariance [q, q] of points [..., q, d] positive definite."""
    return 1e-8 * torch.eye(X.shape[-2], dtype=X.dtype)


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
    size = max(1, CHUNK // len(points) ** 2)
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
    deviations = 1.0 / np.sqrt(np.maximum(curvature(fitted), 0.0) + NUGGET)
    drawn = at + deviations * rng.standard_normal((draws - 1, len(at)))
    return IntegratedProcess(fitted, torch.as_tensor(np.concatenate([at[None], drawn])))
