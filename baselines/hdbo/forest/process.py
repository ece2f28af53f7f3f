"""The process of TreeBO and RDUCB: a sum over the edges of a forest, seen term by term.

They maximise the sum over edges and single dimensions of mean + kappa * deviation of a term. Every
term so has a posterior of its own.

Source: Han, Arora and Scarlett (2021), section 4; Rolland et al. (2018) for the terms' posteriors.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import gpytorch
import numpy as np
import torch
from botorch.models import SingleTaskGP
from gpytorch.constraints import Interval
from gpytorch.priors import LogNormalPrior
from scipy.linalg import cho_solve, cholesky
from torch import Tensor

from rolecast.baselines.hdbo.forest.cliques import Edge, alone
from rolecast.baselines.hdbo.inverse import bordered
from rolecast.core.types import Float
from rolecast.platform.surrogate.clique_sum.autograd import covariances
from rolecast.platform.surrogate.clique_sum.cpu import CliqueLayout

LENGTHSCALE_BOUNDS: Final = (0.01, 100.0)
"""Least and greatest lengthscale; the authors' least."""

LENGTHSCALE_PRIOR: Final = (float(np.log(0.3)), 0.75)
"""Location and scale of the log-normal prior of lengthscales."""

VARIANCE_BOUNDS: Final = (1e-4, 100.0)
"""Least and greatest variance of a dimension, of returns standardised to variance 1."""


def terms(edges: Sequence[Edge], dimension: int) -> list[tuple[int, ...]]:
    """Return edges, then the dimensions that are in none."""
    return [*edges, *((one,) for one in alone(edges, dimension))]


class ForestKernel(gpytorch.kernels.Kernel):  # type: ignore[misc]  # the library has no types
    """Sum over edges and single dimensions of radial basis functions.

    Parameters belong to dimensions, so a new forest keeps them. A term's variance is the root of
    the sum of squares of its dimensions', as in the authors' code.
    """

    has_lengthscale = True

    def __init__(self, edges: Sequence[Edge], dimension: int, lengthscale: float) -> None:
        super().__init__(
            ard_num_dims=dimension,
            lengthscale_prior=LogNormalPrior(*LENGTHSCALE_PRIOR),
            lengthscale_constraint=Interval(*LENGTHSCALE_BOUNDS),
        )
        cliques = terms(edges, dimension)
        self._layout = CliqueLayout.of(cliques)
        # The second of a single dimension is one beyond the last, whose variance is 0.
        self._members = torch.tensor([(*clique, dimension)[:2] for clique in cliques])
        self.register_parameter("raw_variance", torch.nn.Parameter(torch.zeros(dimension)))
        self.register_constraint("raw_variance", Interval(*VARIANCE_BOUNDS))
        self.double()
        self.lengthscale = lengthscale
        start = min(max(1.0 / len(cliques), 2.0 * VARIANCE_BOUNDS[0]), 1.0)
        raw = self.raw_variance_constraint.inverse_transform(
            torch.tensor(start, dtype=torch.float64)
        )
        self.initialize(raw_variance=raw.expand(dimension))

    @property
    def variance(self) -> Tensor:
        """[D]."""
        found: Tensor = self.raw_variance_constraint.transform(self.raw_variance)
        return found

    def weights(self) -> Tensor:
        """Return the variance of every term, edges first."""
        squares = torch.cat([self.variance.square(), self.variance.new_zeros(1)])
        return squares[self._members].sum(1).sqrt()

    def forward(self, x1: Tensor, x2: Tensor, diag: bool = False, **params: Any) -> Tensor:
        """Return [N, M], or [N] for the diagonal, of points [N, D] and [M, D]."""
        weights = self.weights()
        scaled = x1 / self.lengthscale, x2 / self.lengthscale
        if diag:
            padded = [torch.cat([one, one.new_zeros(len(one), 1)], 1) for one in scaled]
            squares = (padded[0] - padded[1]).square()[:, self._members].sum(2)
            return (weights * torch.exp(-0.5 * squares)).sum(1)
        return covariances(*scaled, weights, self._layout, smooth=True)


def covariance_of(points: Float, edges: Sequence[Edge], lengths: Float, variances: Float) -> Float:
    """Return the covariance [N, N] of points [N, D], with lengthscales [D] and variances [D]."""
    cliques = terms(edges, points.shape[1])
    weights = [float(np.sqrt(np.square(variances[list(one)]).sum())) for one in cliques]
    scaled = torch.as_tensor(points / lengths)
    layout = CliqueLayout.of(cliques)
    found = covariances(
        scaled, None, torch.tensor(weights, dtype=torch.float64), layout, smooth=True
    )
    return np.asarray(found.numpy()).copy()


@dataclass(frozen=True)
class TermPosterior:
    """An additive process over a forest, given N points, as its terms need it."""

    edges: tuple[Edge, ...]
    points: Float
    """[N, D]."""

    lengthscales: Float
    """[D]."""

    variances: Float
    """[D]."""

    weights: Float
    """[N], inverse of covariance and noise, times targets."""

    inverse: Float
    """[N, N], inverse of covariance and noise."""

    noise: float
    """Variance of a future evaluation."""

    def with_pending(self, point: Float) -> "TermPosterior":
        """Return the process given a point [D] at its own mean: only deviations shrink."""
        near = np.exp(-0.5 * np.square((self.points - point) / self.lengthscales))
        lone = alone(self.edges, len(point))
        known, own = near[:, lone] @ self.variances[lone], float(self.variances[lone].sum())
        if self.edges:
            first, second = np.array(self.edges).T
            scale = np.hypot(self.variances[first], self.variances[second])
            known, own = (
                known + (near[:, first] * near[:, second]) @ scale,
                own + float(scale.sum()),
            )
        solved = self.inverse @ known
        left = own + self.noise - float(known @ solved)
        inverse = bordered(self.inverse, solved, left)
        points, weights = np.concatenate([self.points, point[None]]), np.append(self.weights, 0.0)
        return replace(self, points=points, weights=weights, inverse=inverse)

    def bounds(self, grid: Float, kappa: float) -> tuple[Float, Float]:
        """Return mean + kappa * deviation of every term at a grid.

        Args:
            grid: [D, R], places of each dimension.
            kappa: how much a deviation counts.
        Returns:
            [D, R], of single dimensions, 0 for those in an edge; [E, R, R], of edges.
        """
        dimension, places = grid.shape
        apart = (grid[:, :, None] - self.points.T[:, None, :]) / self.lengthscales[:, None, None]
        near = np.exp(-0.5 * np.square(apart))
        single, pairs = np.zeros((dimension, places)), np.zeros((len(self.edges), places, places))
        lone = alone(self.edges, dimension)
        if lone:
            rows = self.variances[lone, None, None] * near[lone]
            single[lone] = self._bound(rows, self.variances[lone], kappa)
        if self.edges:
            first, second = np.array(self.edges).T
            scale = np.hypot(self.variances[first], self.variances[second])
            rows = scale[:, None, None, None] * near[first][:, :, None] * near[second][:, None]
            flat = rows.reshape(len(first), places * places, -1)
            pairs[:] = self._bound(flat, scale, kappa).reshape(pairs.shape)
        return single, pairs

    def _bound(self, rows: Float, scale: Float, kappa: float) -> Float:
        """Return bounds [C, Q] of C terms, from covariances [C, Q, N] and variances [C]."""
        known = np.einsum("cqn,cqn->cq", rows @ self.inverse, rows)
        deviations = np.sqrt(np.maximum(scale[:, None] - known, 0.0))
        return np.asarray(rows @ self.weights + kappa * deviations)


def term_posterior(model: SingleTaskGP, edges: tuple[Edge, ...], pending: Float) -> TermPosterior:
    """Condition the terms of a forest on a model's data, and on pending points at their means.

    Args:
        model: whose hyperparameters, data and noise are used; its own forest may be another.
        edges: of the forest.
        pending: [K, D]. With a point's own posterior mean as its value, means stay and deviations
            shrink (Desautels et al. 2014).
    """
    kernel = model.covar_module
    (inputs,) = model.train_inputs
    with torch.no_grad():
        lengths, variances = kernel.lengthscale[0].numpy().copy(), kernel.variance.numpy().copy()
        noise = model.likelihood.noise.expand(len(inputs)).numpy()
        residuals = (model.train_targets - model.mean_module.constant).numpy()
    points = np.concatenate([inputs.numpy(), pending])
    covariance = covariance_of(points, edges, lengths, variances)
    unknown = float(np.median(noise))
    spread = np.concatenate([noise, np.full(len(pending), unknown)])
    covariance[np.diag_indices_from(covariance)] += spread
    factor = cholesky(covariance, lower=True, check_finite=False)
    told = factor[: len(inputs), : len(inputs)], True
    weights = np.zeros(len(points))
    weights[: len(inputs)] = cho_solve(told, residuals, check_finite=False)
    inverse = cho_solve((factor, True), np.eye(len(points)), check_finite=False)
    return TermPosterior(edges, points, lengths, variances, weights, inverse, unknown)
