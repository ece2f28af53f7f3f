"""Settings of DUETS as an ask/tell optimiser of the unit cube."""

from dataclasses import dataclass
from typing import Any, Final

from rolecast.core.errors import ConfigError
from rolecast.core.validation import BOOLEAN_VALUE, check, number_in, one_of, or_none
from rolecast.platform.optimizers.batch_plan import default_batch_plan
from rolecast.platform.optimizers.duets.kernel import KERNEL_FORMS, StationaryKernel
from rolecast.platform.optimizers.duets.protocol import PROTOCOL_RULES, DuetsProtocol
from rolecast.platform.optimizers.protocol import Optimizer, Proposal

USUAL_ROUNDS: Final = 50
"""Rounds where no budget is known."""

MOST_DIMENSIONS: Final = 10
"""Most dimensions of a search: uniform points of more say too little of a function."""


@dataclass(frozen=True, kw_only=True)
class DuetsConfig:
    """Uniform exploration of trimmed sets, for at most 10 dimensions and few exchanges.

    Source: Pavlovic, Salgia and Zhao (2024), Algorithms 1 and 2.
    """

    agents: int = 10
    """N, agents that share the work; each has a coin of its own. At least 1."""

    rounds: int | None = None
    """T, evaluations of each agent. None: those that the budget of a search pays, else 50. After
    N T evaluations candidates are further uniform points of the last region."""

    first_epoch: int = 2
    """T_1, evaluations of each agent before the first trimming, from 1 to T."""

    beta: float = 1.0
    """Width of the confidence band in posterior deviations, above 0. A point stays where its mean
    reaches the largest less 2 beta deviations."""

    inducing_factor: float = 10.0
    """p_0, above 0: a point is an inducing point with probability p_0 s_max^2."""

    noise_variance: float = 0.04
    """lambda, variance of the noise in units of the variance of the first epoch's returns. A small
    one needs a greater `inducing_factor`: otherwise one point may stand for all."""

    kernel: str = "squared_exponential"
    """Prior covariance: "squared_exponential", "matern12", "matern32" or "matern52"."""

    lengthscale: float | None = None
    """Lengthscale in sides of the cube, from 1e-6 to 1e6. None: 0.2 sqrt(D)."""

    standardise: bool = True
    """Whether returns are centred by each epoch's mean and scaled by the first's deviation."""

    def __post_init__(self) -> None:
        rules = {
            **{name: rule for name, rule in PROTOCOL_RULES.items() if name != "seed"},
            "rounds": or_none(PROTOCOL_RULES["rounds"]),
            "kernel": one_of(*KERNEL_FORMS),
            "standardise": BOOLEAN_VALUE,
            "lengthscale": or_none(number_in(1e-6, 1e6)),
        }
        check(type(self).__name__, vars(self), rules)
        if self.rounds is not None and self.rounds < self.first_epoch:
            expected = f"an integer >= {self.first_epoch}, the first epoch"
            raise ConfigError(f"{type(self).__name__}.rounds", self.rounds, expected)

    def build(self, *, dimension: int, seed: int) -> Optimizer:
        """Return a fresh optimiser.

        Raises:
            ConfigError: there are more than 10 dimensions.
        """
        if dimension > MOST_DIMENSIONS:
            raise ConfigError(
                "dimension of optimizer 'duets'",
                dimension,
                f"at most {MOST_DIMENSIONS}, for it samples a whole region uniformly; local_gp or "
                "dss_gp_ucb search more dimensions",
            )
        from rolecast.platform.optimizers.duets.domain import Box
        from rolecast.platform.optimizers.duets.search import DuetsSearch

        protocol = DuetsProtocol(
            domain=Box.unit(dimension),
            kernel=StationaryKernel(self.kernel, self.lengthscale or 0.2 * dimension**0.5),
            agents=self.agents,
            rounds=self.rounds or max(USUAL_ROUNDS, self.first_epoch),
            seed=seed,
            first_epoch=self.first_epoch,
            beta=self.beta,
            inducing_factor=self.inducing_factor,
            noise_variance=self.noise_variance,
        )
        return DuetsSearch(protocol, standardise=self.standardise)

    def evaluation_hints(self, count: int) -> dict[str, Any]:
        """Return the rounds by which the last epoch ends with so many evaluations."""
        return {"rounds": max(self.first_epoch, count // self.agents)}

    def proposal(self, budget_episodes: int) -> Proposal:
        """Return the batch plan of the local searches."""
        return default_batch_plan(budget_episodes)
