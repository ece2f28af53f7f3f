"""RDUCB: an additive process over a forest drawn at random for every point, whatever the data say.

Source: Ziomek and Bou-Ammar (2023), Are random decompositions all we need in high dimensional
Bayesian optimisation?, algorithm 1. Settings are those of their published configurations.
"""

from dataclasses import dataclass

import numpy as np

from rolecast.baselines.hdbo.forest.cliques import random_forest
from rolecast.baselines.hdbo.forest.process import term_posterior
from rolecast.baselines.hdbo.forest.search import ForestConfig, ForestMethod, ForestSearch
from rolecast.baselines.hdbo.search import Beliefs
from rolecast.core.types import Float
from rolecast.core.validation import OPEN_FRACTION, check


@dataclass(frozen=True, kw_only=True)
class RducbConfig(ForestConfig):
    """RDUCB: an additive process over forests that are drawn at random."""

    edges: float = 0.2
    """Edges of a forest as a share of the dimensions, at least one; the authors'."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check("RducbConfig", vars(self), {"edges": OPEN_FRACTION})

    def build(self, *, dimension: int, seed: int) -> ForestSearch:
        """Return a fresh optimiser."""
        return ForestSearch(self, Rducb(self, dimension), dimension=dimension, seed=seed)


class Rducb(ForestMethod):
    """Draws a forest for each point of a batch; hyperparameters are fitted over the last one."""

    def __init__(self, config: RducbConfig, dimension: int) -> None:
        super().__init__(config, dimension)
        self._count = max(int(config.edges * dimension), 1)

    def propose(self, beliefs: Beliefs, q: int, rng: np.random.Generator) -> Float:
        """Return points of greatest bound [q, D], each over a forest of its own."""
        pending = beliefs.pending
        for place in range(q):
            self.edges = random_forest(self.dimension, self._count, rng)
            posterior = term_posterior(beliefs.model, self.edges, pending)
            chosen = self.highest(posterior, beliefs.told + place + 1, rng)
            pending = np.concatenate([pending, chosen[None]])
        return pending[-q:]
