"""Plain GP-UCB over the whole cube, the baseline without structure."""

from dataclasses import dataclass
from typing import Final

from rolecast.core.errors import ConfigError
from rolecast.platform.optimizers.batch_plan import default_batch_plan
from rolecast.platform.optimizers.dss_gp_ucb.global_settings import GlobalSettings
from rolecast.platform.optimizers.protocol import Optimizer, Proposal

SOBOL_DIMENSIONS: Final = 21201
"""Maximum dimensions of SciPy's Sobol points."""


def require_sobol_points(dimension: int) -> None:
    """Refuse a cube that has no Sobol points, before anything is evaluated.

    Raises:
        ConfigError: the dimension is above 21,201.
    """
    if dimension > SOBOL_DIMENSIONS:
        expected = f"at most {SOBOL_DIMENSIONS}, those of Sobol points; local_gp takes more"
        raise ConfigError("optimizer.dimension", dimension, expected)


@dataclass(frozen=True, kw_only=True)
class GpUcbConfig(GlobalSettings):
    """One Matérn-5/2 kernel over all dimensions, lengthscale prior proportional to sqrt(D).

    Source of the prior: Hvarfner et al. (2024), dimension-scaled lengthscales.
    """

    def build(self, *, dimension: int, seed: int) -> Optimizer:
        """Return a fresh optimiser."""
        from rolecast.platform.optimizers.dss_gp_ucb.paper_search import GlobalSearch

        require_sobol_points(dimension)
        return GlobalSearch(self, dimension=dimension, seed=seed, cliques=None)

    def proposal(self, budget_episodes: int) -> Proposal:
        """Return the batch plan of the local searches."""
        return default_batch_plan(budget_episodes)
