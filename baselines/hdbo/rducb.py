"""RDUCB: an additive process over a forest drawn at random for every point, whatever the data say.

Source: Ziomek and Bou-Ammar (2023), Are random decompositions all we need in high dimensional
Bayesian optimisation?, algorithm 1, with the settings of their published configurations.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from gpytorch.kernels import Kernel

from rolecast.baselines.hdbo.forest import random_forest
from rolecast.baselines.hdbo.forest_search import (
    ForestConfig,
    ForestKernel,
    ForestSearch,
    edges_from,
    edges_state,
    term_posterior,
    zoomed,
)
from rolecast.baselines.hdbo.search import Beliefs, Plain
from rolecast.envs.errors import ConfigError
from rolecast.envs.spec import Float

INITIAL: Final = 10
"""Random points before the first forest; the authors'."""


@dataclass(frozen=True, kw_only=True)
class RducbConfig(ForestConfig):
    """Random decompositions."""

    edges: float = 0.2
    """Edges of a forest as a share of the dimensions, at least one; the authors'."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0.0 < self.edges <= 1.0:
            raise ConfigError("RducbConfig.edges", self.edges, "in (0, 1]")

    def build(self, *, dimension: int, seed: int) -> ForestSearch:
        """Return a fresh optimiser."""
        method = Rducb(self, dimension)
        return ForestSearch(self, method, dimension=dimension, seed=seed, initial=INITIAL)


class Rducb(Plain):
    """Draws a forest for each point of a batch; hyperparameters are fitted over the last one."""

    def __init__(self, config: RducbConfig, dimension: int) -> None:
        super().__init__(dimension)
        self._config = config
        self.edges: tuple[tuple[int, int], ...] = ()

    def kernel(self) -> Kernel:
        """Return the sum over the last forest."""
        return ForestKernel(self.edges, self.dimension, self._config.lengthscale)

    def design(self, q: int, rng: np.random.Generator) -> Float:
        """Return uniform points [q, D], as the authors do."""
        return rng.random((q, self.dimension))

    def propose(self, beliefs: Beliefs, q: int, rng: np.random.Generator) -> Float:
        """Return points of greatest bound [q, D], each over a forest of its own."""
        pending = beliefs.pending
        count = max(int(self._config.edges * self.dimension), 1)
        for place in range(q):
            self.edges = random_forest(self.dimension, count, rng)
            posterior = term_posterior(beliefs.model, self.edges, pending)
            kappa = self._config.exploration * np.log(2.0 * (beliefs.told + place + 1))
            chosen = zoomed(posterior, kappa, self._config, rng)
            pending = np.concatenate([pending, chosen[None]])
        return pending[-q:]

    def state_dict(self) -> dict[str, Any]:
        """Return the last forest."""
        return {"edges": edges_state(self.edges)}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Replace it."""
        self.edges = edges_from(state["edges"])
