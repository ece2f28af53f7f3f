"""Plain GP-UCB over the whole cube, the baseline without structure."""

from dataclasses import dataclass
from typing import Final

from rolecast.core.errors import ConfigError
from rolecast.core.validation import POSITIVE_NUMBER, Rule, Rules, at_least, check
from rolecast.platform.optimizers.batch_plan import default_batch_plan
from rolecast.platform.optimizers.protocol import Optimizer, Proposal
from rolecast.platform.surrogate.outcome_transform import OUTCOME_TRANSFORM_RULE

GLOBAL_RULES: Final[Rules] = {
    "beta": POSITIVE_NUMBER,
    "max_points": at_least(4),
    "pool": Rule(
        lambda value: type(value) is int and value >= 2 and value & (value - 1) == 0,
        "a power of 2, at least 2",
    ),
}
"""Allowed values of the settings of a global search."""

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
class GpUcbConfig:
    """One Matérn-5/2 kernel over all dimensions, lengthscale prior proportional to sqrt(D).

    Source of the prior: Hvarfner et al. (2024), dimension-scaled lengthscales.
    """

    beta: float = 0.2
    """Exploration factor of the upper confidence bound, above 0: beta_t = beta log(2 t), t
    evaluations."""

    outcome_transform: str | None = None
    """Transform of the returns before the fit: "signed_sqrt", "rank", "none" or "automatic".
    "automatic" is "none" once a return below 0 was told, "signed_sqrt" until then.
    None: "automatic" for a policy's weights, "none" for a black box. Old name: `levelling`."""

    max_points: int = 500
    """Maximum evaluations in the Gaussian process, at least 4. Half are those of highest posterior
    mean, half the latest."""

    pool: int = 2048
    """Number of Sobol points from which a batch is chosen, a power of 2. A quarter as many near
    the incumbent are added."""

    def __post_init__(self) -> None:
        check(
            type(self).__name__,
            vars(self),
            {**GLOBAL_RULES, "outcome_transform": OUTCOME_TRANSFORM_RULE},
        )

    def build(self, *, dimension: int, seed: int) -> Optimizer:
        """Return a fresh optimiser."""
        from rolecast.platform.optimizers.dss_gp_ucb.paper_search import GlobalSearch

        require_sobol_points(dimension)
        return GlobalSearch(self, dimension=dimension, seed=seed, cliques=None)

    def proposal(self, budget_episodes: int) -> Proposal:
        """Return the batch plan of the local searches."""
        return default_batch_plan(budget_episodes)
