"""Random interventions: a set, all alike, and its values."""

from dataclasses import dataclass

from rolecast.platform.optimizers.mcbo.config import CausalConfig
from rolecast.platform.optimizers.mcbo.search import CausalSearch


@dataclass(frozen=True, kw_only=True)
class CausalRandomConfig(CausalConfig):
    """Random interventions of random sets after the initial design of the others."""

    def build(self, *, dimension: int, seed: int) -> CausalSearch:
        """Return a fresh search."""
        graph = self.resolved_graph(dimension)
        return CausalSearch(graph, None, dimension=dimension, seed=seed)
