"""EIFN: expected improvement through the function network (Astudillo and Frazier 2021).

The processes of the nodes are those of MCBO. Posterior samples of parents feed those of children.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from rolecast.core.types import Float
from rolecast.platform.optimizers.mcbo.config import ClimbConfig, climbed
from rolecast.platform.optimizers.mcbo.graph_model import Deviates, GraphModel
from rolecast.platform.optimizers.mcbo.maximisation import drawn_points
from rolecast.platform.optimizers.mcbo.search import CausalSearch


@dataclass(frozen=True, kw_only=True)
class EifnConfig(ClimbConfig):
    """Expected improvement through the function network, by common posterior samples.

    Differs: the value to improve on is the highest posterior mean of what was evaluated, so that
    noise does not raise it; the mechanisms are sampled, and the nodes' noise is left out.
    """

    samples: int = 128
    """Common samples of the posterior."""

    def build(self, *, dimension: int, seed: int) -> CausalSearch:
        """Return a fresh search."""
        graph = self.resolved_graph(dimension)
        return self.search_of(graph, _ImprovementProposer(self), dimension=dimension, seed=seed)


class _ImprovementProposer:
    """Maximiser of expected improvement."""

    def __init__(self, config: EifnConfig) -> None:
        self._config = config

    def propose(
        self, model: GraphModel, good: Float, rng: np.random.Generator
    ) -> tuple[Float, float]:
        """Return the candidate [D] of highest expected improvement, and that improvement."""
        config, nodes = self._config, len(model.processes)
        quiet = torch.zeros((config.samples, nodes), dtype=torch.float64, device=config.device)
        deviates = normal_deviates(config.samples, nodes, rng, config.device)
        best = float(model.mean_rewards(good, quiet[:1]).max())

        def value(places: Tensor, chosen: Tensor, _: Tensor) -> Tensor:
            found = model.rollout(places, chosen, noise=quiet, deviates=deviates)
            return (found[..., -1] - best).clamp_min(0.0).mean(dim=1)

        def none(count: int, _: np.random.Generator) -> Float:
            return np.zeros((count, 0))

        points = drawn_points(model.space, none, config.raw_samples, good, rng)
        return climbed(config, model, value, points, [])


def normal_deviates(samples: int, nodes: int, rng: np.random.Generator, device: str) -> Deviates:
    """Return common normal draws [S] for each node, by scrambled Sobol points."""
    sobol: type = torch.quasirandom.SobolEngine
    uniforms = sobol(nodes, scramble=True, seed=int(rng.integers(2**31))).draw(samples)
    normals: Tensor = torch.special.ndtri(uniforms.double().clamp(1e-9, 1.0 - 1e-9)).to(device)

    def eta(place: int, inputs: Callable[[], Tensor]) -> Tensor:
        return normals[:, place]

    return eta
