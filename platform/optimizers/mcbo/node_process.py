"""Gaussian processes of a graph's nodes, given their hyperparameters and what was observed."""

import numpy as np
import torch
from torch import Tensor

from rolecast.core.types import Float
from rolecast.platform.optimizers.mcbo.hyperparameters import Hyperparameters
from rolecast.platform.optimizers.mcbo.moments import (
    CompiledMoments,
    Conditioned,
    Moments,
    TorchMoments,
    matern52,
)
from rolecast.platform.optimizers.mcbo.node_data import NodeTargets


class NodeProcess:
    """Posterior of one node: `posterior` gives mean and deviation of inputs in their own units."""

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

        units = data.units
        low, width = tensor(units.low[place, :size]), tensor(units.width[place, :size])
        self._width = width
        lengths = tensor(hyper.lengthscales[place, :size])
        points = tensor(data.inputs[place, rows, :size]) / lengths
        scale, mean_variance = float(hyper.scales[place]), hyper.mean_variance
        apart = (points[:, None] - points[None]).square().sum(-1)
        covariance = scale * matern52(apart) + mean_variance
        factor = torch.linalg.cholesky(covariance + torch.diag(tensor(data.noise[place, rows])))
        eye = torch.eye(len(rows), dtype=torch.float64, device=device)
        # The inverse of the factor makes a posterior two products of matrices.
        inverse = torch.linalg.solve_triangular(factor, eye, upper=False)
        self.known = Conditioned(
            low=low,
            spread=width * lengths,
            points=points,
            inverse=inverse,
            weights=inverse.T @ (inverse @ tensor(data.targets[place, rows])),
            scale=scale,
            mean_variance=mean_variance,
            zero=float(units.mean[place]),
            unit=float(units.deviation[place]),
        )
        moments = CompiledMoments if device == "cpu" else TorchMoments
        self.posterior: Moments = moments(self.known)

    def scaled(self, features: Tensor) -> Tensor:
        """Return inputs [..., P] in [0, 1] where observed, of parents' values and places."""
        return (features - self.known.low) / self._width
