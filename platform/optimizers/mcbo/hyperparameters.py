"""Hyperparameters of the Gaussian processes of all nodes of a graph.

Equations 7 to 9 of the MCBO paper: Matern-5/2 kernel with a lengthscale an input, known noise.
Hyperparameters maximise each node's marginal likelihood under the priors that BoTorch had when the
authors ran: Gamma(3, 6) of lengthscales, Gamma(2, 0.15) of scales. The prior mean of standardised
targets is 0, as in the paper, or a constant that is not known, as in its code. Differs: that fits
the constant; here it has a wide normal prior and is integrated out (Rasmussen and Williams 2006,
section 2.7).
"""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import torch
from scipy.optimize import minimize

from rolecast.core.types import Float
from rolecast.platform.optimizers.mcbo.kernels import (
    columns_of,
    covariances,
    hyperparameter_slopes,
)
from rolecast.platform.optimizers.mcbo.node_data import NodeTargets

LENGTHSCALE_PRIOR: Final = (3.0, 6.0)
SCALE_PRIOR: Final = (2.0, 0.15)
"""Shape and rate of the Gamma priors."""

CONSTANT_MEAN_VARIANCE: Final = 25.0
"""Prior variance of a constant mean that is not known, in standardised targets."""

START_LENGTHSCALES: Final = ((LENGTHSCALE_PRIOR[0] - 1.0) / LENGTHSCALE_PRIOR[1], 0.1)
"""Lengthscales from which a fit begins: the mode of their prior, and short. The end of higher
density is kept. A fit depends on its data alone."""

FIT_STEPS: Final = 60
"""Most steps of a fit from each start."""

LOG_BOUNDS: Final = (-4.6, 4.6)
"""Range of the logarithms of hyperparameters: 0.01 to 100."""


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
    """Return the hyperparameters of highest posterior density of each node.

    Args:
        data: of all nodes.
        constant_mean: the prior mean is a constant that is not known, in place of 0.
    """
    mean_variance = CONSTANT_MEAN_VARIANCE if constant_mean else 0.0
    chosen = np.array([_fitted(data, place, mean_variance) for place in range(len(data.targets))])
    return Hyperparameters(np.exp(chosen[:, :-1]), np.exp(chosen[:, -1]), mean_variance)


def _fitted(data: NodeTargets, place: int, mean_variance: float) -> Float:
    """Return the logarithms [P + 1] of the hyperparameters of one node."""
    density = NodeDensity(data, place, mean_variance)
    objective: Any = density.loss  # SciPy's types know no function that returns its gradient, too
    scale = np.log((SCALE_PRIOR[0] - 1.0) / SCALE_PRIOR[1])
    ends = [
        minimize(
            objective,
            np.array([np.log(length)] * density.size + [scale]),
            jac=True,
            method="L-BFGS-B",
            bounds=[LOG_BOUNDS] * (density.size + 1),
            options={"maxiter": FIT_STEPS},
        )
        for length in START_LENGTHSCALES
    ]
    return np.asarray(min(ends, key=lambda end: float(end.fun)).x)


class NodeDensity:
    """Posterior density of one node's hyperparameters, given the rows that count."""

    def __init__(self, data: NodeTargets, place: int, mean_variance: float) -> None:
        """Keep a node's rows.

        Args:
            data: of all nodes.
            place: of the node.
            mean_variance: prior variance of the constant mean.
        """
        rows = np.flatnonzero(data.counts[place])
        self._points = data.inputs[place, rows]
        self._columns = columns_of(self._points).reshape(data.inputs.shape[2], -1)
        self._targets = torch.as_tensor(data.targets[place, rows])[:, None]
        self._noise = data.noise[place, rows]
        self._mean_variance = mean_variance
        self._shapes, self._rates = np.array([*[LENGTHSCALE_PRIOR] * self.size, SCALE_PRIOR]).T

    @property
    def size(self) -> int:
        """Number P of lengthscales."""
        return len(self._columns)

    def loss(self, logs: Float) -> tuple[float, Float]:
        """Return the negative logarithm of the density, and its gradient [P + 1], in `logs`."""
        hyper = np.exp(logs)
        lengths, scale = hyper[:-1], float(hyper[-1])
        points, columns = self._points / lengths, (self._columns / lengths[:, None]).ravel()
        count, width = len(points), self._columns.shape[1]
        values, slopes = np.empty((count, width)), np.empty((count, width))
        covariances(points, columns, scale, 0.0, values, slopes)
        covariance = values[:, :count] + self._mean_variance
        covariance[np.diag_indices(count)] += self._noise
        factor = torch.linalg.cholesky(torch.from_numpy(covariance))
        solved = torch.cholesky_solve(self._targets, factor)
        # Equations 2.30 and 5.9 of Rasmussen and Williams (2006).
        fitted, spread = (self._targets * solved).sum(), factor.diagonal().log().sum()
        prior = (self._shapes - 1.0) * logs - self._rates * hyper
        density = -0.5 * float(fitted) - float(spread) + float(prior.sum())
        weights = np.zeros((count, width))
        weights[:, :count] = 0.5 * (solved @ solved.T - torch.cholesky_inverse(factor)).numpy()
        gradient = np.empty(len(logs))
        hyperparameter_slopes(points, columns, values, slopes, weights, gradient)
        return -density, -(gradient + self._shapes - 1.0 - self._rates * hyper)
