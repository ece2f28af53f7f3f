"""Plain GP-UCB over the whole cube, without structure: what the structure is compared with."""

from dataclasses import dataclass
from typing import Final

from rolecast.core.validation import POSITIVE, Rule, Rules, at_least, check
from rolecast.platform.optimizers.batch_plan import many_cheap
from rolecast.platform.optimizers.protocol import Optimizer, Proposal
from rolecast.platform.surrogate.outcome_transform import LEVELLING

GLOBAL_RULES: Final[Rules] = {
    "beta": POSITIVE,
    "max_points": at_least(4),
    "pool": Rule(
        lambda value: type(value) is int and value >= 2 and value & (value - 1) == 0,
        "a power of 2, at least 2",
    ),
}
"""Settings of a global search."""


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
        check(type(self).__name__, vars(self), {**GLOBAL_RULES, "levelling": LEVELLING})

    def build(self, *, dimension: int, seed: int) -> Optimizer:
        """Return a fresh optimiser."""
        from rolecast.platform.optimizers.dss_gp_ucb.paper_search import GlobalSearch

        return GlobalSearch(self, dimension=dimension, seed=seed, cliques=None)

    def proposal(self, budget_episodes: int) -> Proposal:
        """Divide a budget as the local searches do."""
        return many_cheap(budget_episodes)
