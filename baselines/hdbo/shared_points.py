"""Posteriors at many batches of points that all begin with the same known points.

BoTorch's noisy expected improvement takes the joint posterior of all baseline points and new ones,
for each start. The common part is nearly everything, and is computed each time. Here it is computed
once.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from botorch.models import SingleTaskGP
from botorch.posteriors.gpytorch import GPyTorchPosterior
from botorch.posteriors.transformed import TransformedPosterior
from gpytorch.distributions import MultivariateNormal
from gpytorch.means import ConstantMean
from linear_operator.operators import DenseLinearOperator, LinearOperator
from linear_operator.utils.cholesky import psd_safe_cholesky
from torch import Tensor


class Bordered(LinearOperator):  # type: ignore[misc]  # the library has no types
    """Symmetric matrices [..., s + q, s + q] whose first s rows and columns are the same in all."""

    def __init__(self, corner: LinearOperator, rows: Tensor) -> None:
        """Take the common corner [s, s] and the last rows [..., q, s + q]."""
        super().__init__(corner, rows)
        self._corner, self._rows = corner, rows

    def _size(self) -> torch.Size:
        return torch.Size([*self._rows.shape[:-2], self._rows.shape[-1], self._rows.shape[-1]])

    def _transpose_nonbatch(self) -> "Bordered":
        return self

    def _matmul(self, rhs: Tensor) -> Tensor:
        return self.to_dense() @ rhs

    def _diagonal(self) -> Tensor:
        new = self._rows.shape[-2]
        corner = self._corner.diagonal().expand(*self._rows.shape[:-2], -1)
        return torch.cat([corner, self._rows[..., -new:].diagonal(dim1=-2, dim2=-1)], -1)

    def _getitem(self, row_index: Any, col_index: Any, *batch_indices: Any) -> LinearOperator:
        if row_index == slice(-self._rows.shape[-2], None) and col_index == slice(None):
            return DenseLinearOperator(self._rows[(*batch_indices, slice(None), slice(None))])
        return DenseLinearOperator(self.to_dense())[(*batch_indices, row_index, col_index)]

    def to_dense(self) -> Tensor:
        """Return [..., s + q, s + q]."""
        new, whole = self._rows.shape[-2:]
        left = self._rows[..., : whole - new]
        corner = self._corner.to_dense().expand(*left.shape[:-2], -1, -1)
        return torch.cat([torch.cat([corner, left.mT], -1), self._rows], -2)


@dataclass(frozen=True)
class Border:
    """What new points add to a joint posterior with s known ones."""

    means: Tensor
    """[..., q]."""

    left: Tensor
    """[..., q, s], covariances with the known points."""

    own: Tensor
    """[..., q, q]."""


class SharedPoints:
    """Remembers the points that were last asked for alone, and what their posterior is."""

    def __init__(self, border: Callable[[Tensor], Callable[[Tensor], Border]]) -> None:
        """Take what, given known points [s, d], gives the border of new ones [..., q, d]."""
        self._prepare = border
        self._known: tuple[Tensor, MultivariateNormal] | None = None
        self._border: Callable[[Tensor], Border] | None = None

    def keep(self, points: Tensor, normal: MultivariateNormal) -> None:
        """Remember points [s, d] and their joint posterior; anything else is passed over."""
        if points.dim() == 2 and not points.requires_grad:
            # Neither what is done to the points later, nor a graph that is freed, changes it.
            covariance = normal.lazy_covariance_matrix.detach()
            known = MultivariateNormal(normal.mean.detach(), covariance)
            self._known, self._border = (points.clone(), known), None

    def posterior(self, points: Tensor) -> GPyTorchPosterior | None:
        """Return the posterior at points [..., s + q, d] that begin with the remembered ones.

        None where they do not.
        """
        if self._known is None:
            return None
        known, normal = self._known
        size = len(known)
        if points.dim() < 3 or points.shape[-2] <= size:
            return None
        if not bool((points[..., :size, :] == known).all()):
            return None
        if self._border is None:
            self._border = self._prepare(known)
        found = self._border(points[..., size:, :])
        rows = torch.cat([found.left, found.own], -1)
        means = torch.cat([normal.mean.expand(*found.means.shape[:-1], -1), found.means], -1)
        covariance = Bordered(normal.lazy_covariance_matrix, rows)
        return GPyTorchPosterior(MultivariateNormal(means, covariance))


class SharedProcess(SingleTaskGP):
    """BoTorch's process, quick at batches that all begin with the same points.

    That is for one output and a constant mean, without transforms; else it is BoTorch's alone. Its
    hyperparameters do not change once it is asked, unless it is fitted in between.
    """

    _shared: SharedPoints | None = None
    _given: Tensor | None = None
    """Targets that what is shared was computed from."""

    def train(self, mode: bool = True) -> "SharedProcess":
        """Set the mode; a process that is fitted again forgets."""
        if mode:
            self._shared = None
        super().train(mode)
        return self

    def posterior(
        self, X: Tensor, *args: Any, **kwargs: Any
    ) -> GPyTorchPosterior | TransformedPosterior:
        """Return the posterior at X [..., q, d]."""
        asked_otherwise = any(args) or any(value is not None for value in kwargs.values())
        if self.training or asked_otherwise or not self._plain:
            return super().posterior(X, *args, **kwargs)
        if self._shared is None or self._given is not self.train_targets:
            self._shared, self._given = SharedPoints(self._bordering), self.train_targets
        found = self._shared.posterior(X)
        if found is not None:
            return found
        whole = super().posterior(X)
        if isinstance(whole, GPyTorchPosterior):
            self._shared.keep(X, whole.distribution)
        return whole

    @property
    def _plain(self) -> bool:
        """Whether the posterior is that of the points and targets as they are held."""
        transformed = hasattr(self, "input_transform") or hasattr(self, "outcome_transform")
        return (
            not transformed and self.num_outputs == 1 and isinstance(self.mean_module, ConstantMean)
        )

    def _bordering(self, known: Tensor) -> Callable[[Tensor], Border]:
        """Return what gives the border of new points round known ones [s, d]."""
        (points,) = self.train_inputs
        with torch.no_grad():
            noise = torch.diag(self.likelihood.noise.expand(len(points)))
            factor = psd_safe_cholesky(self.covar_module(points).to_dense() + noise)
            mean = self.mean_module.constant
            residuals = (self.train_targets - mean)[:, None]
            weights = torch.cholesky_solve(residuals, factor)[:, 0]
            cross = self.covar_module(points, known).to_dense()
            solved = torch.cholesky_solve(cross, factor)

        def border(new: Tensor) -> Border:
            flat, shape = new.reshape(-1, new.shape[-1]), new.shape[:-1]
            near = self.covar_module(flat, points).to_dense()
            left = self.covar_module(flat, known).to_dense() - near @ solved
            half = torch.linalg.solve_triangular(factor, near.mT, upper=False)
            half = half.mT.reshape(*shape, -1)
            own = self.covar_module(new).to_dense() - half @ half.mT
            return Border((mean + near @ weights).reshape(shape), left.reshape(*shape, -1), own)

        return border
