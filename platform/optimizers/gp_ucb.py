"""Plain GP-UCB over the whole cube, without structure: what the structure is compared with."""

from dataclasses import dataclass

from rolecast.envs.errors import ConfigError
from rolecast.platform.optimizers.proposals import many_cheap
from rolecast.platform.optimizers.protocol import Optimizer, Proposal
from rolecast.platform.surrogate.levelling import check_levelling


@dataclass(frozen=True, kw_only=True)
class GpUcbConfig:
    """One Matérn-5/2 over all dimensions, lengthscale prior growing as the root of D.

    Source of the prior: Hvarfner et al. (2024), dimension-scaled lengthscales.
    """

    beta: float = 0.2
    """Factor of beta_t = beta log(2 t)."""

    levelling: str | None = None
    """How returns are made comparable: "signed_sqrt", "rank" or "none". A search of a policy's
    weights fills it with "signed_sqrt"; None is "none"."""

    max_points: int = 500
    """Most evaluations in the process: half the best, half the latest."""

    pool: int = 2048
    """Sobol points among which a batch is chosen, besides a quarter as many near the incumbent."""

    def __post_init__(self) -> None:
        check_global_settings(type(self).__name__, self.beta, self.max_points, self.pool)
        check_levelling(self.levelling)

    def build(self, *, dimension: int, seed: int) -> Optimizer:
        """Return a fresh optimiser."""
        from rolecast.platform.optimizers.dss_gp_ucb.global_search import GlobalSearch

        return GlobalSearch(self, dimension=dimension, seed=seed, cliques=None)

    def proposal(self, budget_episodes: int) -> Proposal:
        """Divide a budget as the local searches do."""
        return many_cheap(budget_episodes)


def check_global_settings(owner: str, beta: float, max_points: int, pool: int) -> None:
    """Raise ConfigError where a setting of a global search is out of range."""
    if not beta > 0.0:
        raise ConfigError(f"{owner}.beta", beta, "above 0")
    if type(max_points) is not int or max_points < 4:
        raise ConfigError(f"{owner}.max_points", max_points, "an integer >= 4")
    if type(pool) is not int or pool < 2 or pool & (pool - 1):
        raise ConfigError(f"{owner}.pool", pool, "a power of 2, at least 2")
