"""ARS: steps along the best of random directions, in units of the returns' own spread.

Source: Mania, Guy and Recht (2018), Simple random search provides a competitive approach to
reinforcement learning, versions V1 and V1-t: the normalisation of observations that makes V2
belongs to the policy, which a black box does not show.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from rolecast.baselines.evolution.search import RADIUS, EvolutionSearch, check_evolution
from rolecast.envs.errors import ConfigError
from rolecast.envs.spec import Float
from rolecast.platform.optimizers.proposals import many_cheap
from rolecast.platform.optimizers.protocol import Proposal


@dataclass(frozen=True, kw_only=True)
class ArsConfig:
    """Augmented random search from the middle of the cube."""

    radius: float = RADIUS
    """Root mean square distance of candidates from the mean: sigma sqrt(D)."""

    population: int | None = None
    """Candidates of one generation, even; None: the size of the first batch."""

    step_size: float = 2.0 / 3.0
    """Step in units of sigma; the authors' 0.02 where the noise is 0.03 (HalfCheetah)."""

    top_share: float = 1.0
    """Share of directions used, those whose better end pays most; below 1 it is their V1-t, the
    authors' choice differs by task, and all 8 of 8 is that for HalfCheetah."""

    def __post_init__(self) -> None:
        check_evolution("ArsConfig", self.radius, self.population, paired=True)
        if not self.step_size > 0.0:
            raise ConfigError("ArsConfig.step_size", self.step_size, "above 0")
        if not 0.0 < self.top_share <= 1.0:
            raise ConfigError("ArsConfig.top_share", self.top_share, "in (0, 1]")

    def build(self, *, dimension: int, seed: int) -> EvolutionSearch:
        """Return a fresh optimiser."""
        if dimension < 1:
            raise ConfigError("ArsConfig dimension", dimension, "an integer >= 1")
        rule = Ars(self, dimension)
        return EvolutionSearch(rule, dimension=dimension, seed=seed, population=self.population)

    def proposal(self, budget_episodes: int) -> Proposal:
        """Divide a budget as the local searches do."""
        return many_cheap(budget_episodes)


class Ars:
    """Has no state of its own: width and step are fixed."""

    paired = True

    def __init__(self, config: ArsConfig, dimension: int) -> None:
        self._config = config
        self.spread = np.full(dimension, config.radius / np.sqrt(dimension))

    def step(self, mean: Float, draws: Float, returns: Float) -> Float:
        """Return the next mean [D]; where the used returns are all alike, the mean of now."""
        pairs = returns.reshape(-1, 2)
        count = max(1, round(self._config.top_share * len(pairs)))
        used = np.argsort(-pairs.max(1), kind="stable")[:count]
        deviation = float(pairs[used].std())
        if deviation == 0.0:
            return mean
        uphill = (pairs[used, 0] - pairs[used, 1]) @ draws[0::2][used]
        step = self._config.step_size / (count * deviation) * self.spread * uphill
        return np.asarray(mean + step)

    def state_dict(self) -> dict[str, Any]:
        """Return nothing."""
        return {}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue from nothing."""
