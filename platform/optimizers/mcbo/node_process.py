"""Gaussian processes of all nodes of a graph: hyperparameters and posteriors, in torch float64.

Equations 7 to 9 of the MCBO paper: Matern-5/2 kernel with a lengthscale an input, known noise.
Hyperparameters maximise the marginal likelihood of all nodes in one batch, under the priors that
BoTorch had when the authors ran: Gamma(3, 6) of lengthscales, Gamma(2, 0.15) of scales. The prior
mean of standardised targets is 0, as in the paper, or a constant that is not known, as in its code.
Differs: that fits the constant; here it has a wide normal prior and is integrated out (Rasmussen
and Williams 2006, section 2.7).
"""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import torch
from torch import Tensor

from rolecast.core.types import Float
from rolecast.platform.optimizers.mcbo.joint_ascent import ascended
from rolecast.platform.optimizers.mcbo.node_data import NodeTargets

LENGTHSCALE_PRIOR: Final = (3.0, 6.0)
SCALE_PRIOR: Final = (2.0, 0.15)
"""Shape and rate of the Gamma priors."""

CONSTANT_MEAN_VARIANCE: Final = 25.0
"""Prior variance of a constant mean that is not known, in standardised targets."""

START_LENGTHSCALES: Final = ((LENGTHSCALE_PRIOR[0] - 1.0) / LENGTHSCALE_PRIOR[1], 0.1)
"""Lengthscales from which a fit begins: the mode of their prior, and short. Each node keeps the end
of higher density. A fit depends on its data alone."""

FIT_STEPS: Final = 60
"""Most steps of a fit from each start."""

LOG_BOUNDS: Final = (-4.6, 4.6)
"""Range of the logarithms of hyperparameters: 0.01 to 100."""

ROOT_5: Final = 5.0**0.5


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
class Hyperparameters:
    """Of the m processes."""

    lengthscales: Float
    """[m, P]."""

    scales: Float
    """[m], prior variances of the standardised targets."""

    mean_variance: float = 0.0
    """Prior variance of the constant mean of each process; 0: the mean is 0."""


def fit(data: NodeTargets, *, constant_mean: bool = False) -> Hyperparameters:
    """Return the hyperparameters of highest posterior density, of all nodes in one batch.

    Args:
        data: of all nodes.
        constant_mean: the prior mean is a constant that is not known, in place of 0.
    """
    mean_variance = CONSTANT_MEAN_VARIANCE if constant_mean else 0.0
    m, _, width = data.inputs.shape
    inputs, targets = torch.as_tensor(data.inputs), torch.as_tensor(data.targets)
    # [m, P, N, N], squared distances in each input.
    apart = (inputs[:, :, None, :] - inputs[:, None, :, :]).square().movedim(-1, 1)
    both = torch.as_tensor(data.counts[:, :, None] & data.counts[:, None, :], dtype=torch.float64)
    diagonal = torch.diag_embed(torch.as_tensor(data.noise))

    def densities(logs: Tensor) -> Tensor:
        """Return the density [m] of each node, of logarithms [m, P + 1]."""
        lengths, scales = logs[:, :width].exp(), logs[:, width].exp()
        squared = torch.einsum("mpij,mp->mij", apart, lengths**-2)
        covariance = (scales[:, None, None] * matern52(squared) + mean_variance) * both + diagonal
        factor = torch.linalg.cholesky(covariance)
        half = torch.linalg.solve_triangular(factor, targets[:, :, None], upper=False)
        # Equation 2.30 of Rasmussen and Williams (2006); rows that do not count add nothing.
        density: Tensor = -0.5 * half.square().sum((1, 2))
        density = density - factor.diagonal(dim1=1, dim2=2).log().sum(1)
        for values, (shape, rate) in ((lengths, LENGTHSCALE_PRIOR), (scales[:, None], SCALE_PRIOR)):
            density = density + ((shape - 1.0) * values.log() - rate * values).sum(1)
        return density

    best = np.full(m, -np.inf)
    chosen = np.zeros((m, width + 1))
    for length in START_LENGTHSCALES:
        start = np.full((m, width + 1), np.log(length))
        start[:, width] = np.log((SCALE_PRIOR[0] - 1.0) / SCALE_PRIOR[1])
        logs = ascended(densities, start, [LOG_BOUNDS] * (width + 1), steps=FIT_STEPS)
        with torch.no_grad():
            reached = densities(torch.as_tensor(logs)).numpy()
        better = reached > best
        chosen[better], best[better] = logs[better], reached[better]
    return Hyperparameters(np.exp(chosen[:, :width]), np.exp(chosen[:, width]), mean_variance)


class NodeProcess:
    """Posterior of one node."""

    def __init__(
        self, data: NodeTargets, hyper: Hyperparameters, place: int, size: int, device: str
    ) -> None:
        """Condition the process of a node on its rows that count.

        Args:
            data: of all nodes.
            hyper: of all nodes.
            place: of the node.
            size: number of its inputs.
            device: of the tensors.
        """
        rows = np.flatnonzero(data.counts[place])

        def tensor(values: Float) -> Tensor:
            return torch.as_tensor(values, dtype=torch.float64, device=device)

        self._lengths = tensor(hyper.lengthscales[place, :size])
        self._points = tensor(data.inputs[place, rows, :size]) / self._lengths
        self._norms = self._points.square().sum(1)
        self._scale, self._mean_variance = float(hyper.scales[place]), hyper.mean_variance
        units = data.units
        self._low, self._width = tensor(units.low[place, :size]), tensor(units.width[place, :size])
        self._mean, self._deviation = float(units.mean[place]), float(units.deviation[place])
        apart = (self._points[:, None] - self._points[None]).square().sum(-1)
        covariance = self._scale * matern52(apart) + self._mean_variance
        factor = torch.linalg.cholesky(covariance + torch.diag(tensor(data.noise[place, rows])))
        eye = torch.eye(len(rows), dtype=torch.float64, device=device)
        # The inverse of the factor makes a posterior two products of matrices.
        self._inverse = torch.linalg.solve_triangular(factor, eye, upper=False)
        self._weights = self._inverse.T @ (self._inverse @ tensor(data.targets[place, rows]))

    def scaled(self, features: Tensor) -> Tensor:
        """Return inputs [..., P] in [0, 1] where observed, of parents' values and places."""
        return (features - self._low) / self._width

    def posterior(self, inputs: Tensor) -> tuple[Tensor, Tensor]:
        """Return mean and standard deviation [...] of scaled inputs [..., P], in its unit."""
        shape = inputs.shape[:-1]
        rows = inputs.reshape(-1, inputs.shape[-1]) / self._lengths
        squared = rows.square().sum(1)[:, None] + self._norms - 2.0 * rows @ self._points.T
        cross = self._scale * matern52(squared) + self._mean_variance
        mean = cross @ self._weights
        variance = self._scale + self._mean_variance - (cross @ self._inverse.T).square().sum(1)
        deviation = variance.clamp_min(1e-10).sqrt()
        return (
            (self._mean + self._deviation * mean).reshape(shape),
            (self._deviation * deviation).reshape(shape),
        )
