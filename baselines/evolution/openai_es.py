"""OpenAI-ES: a cloud of one fixed width, mirrored pairs, centred ranks, Adam and weight decay.

Source: Salimans, Ho, Chen, Sidor and Sutskever (2017), Evolution strategies as a scalable
alternative to reinforcement learning, algorithm 2, with the settings of their published code.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from rolecast.baselines.evolution.ascent import Adam
from rolecast.baselines.evolution.search import RADIUS, EvolutionSearch, check_evolution
from rolecast.baselines.evolution.utilities import centered_ranks
from rolecast.envs.errors import ConfigError
from rolecast.envs.spec import Float
from rolecast.platform.optimizers.proposals import many_cheap
from rolecast.platform.optimizers.protocol import Proposal

AUTHORS_NOISE: Final = 0.02
"""The authors' standard deviation: the unit in which their step and their decay are numbers."""


@dataclass(frozen=True, kw_only=True)
class OpenAiEsConfig:
    """Evolution strategies from the middle of the cube.

    The authors' weights are y = (x - 0.5) AUTHORS_NOISE / sigma, so that their settings mean here
    what they mean there, however wide the cube is.
    """

    radius: float = RADIUS
    """Root mean square distance of candidates from the mean: sigma sqrt(D)."""

    population: int | None = None
    """Candidates of one generation, even; None: the size of the first batch."""

    step_size: float = 0.01
    """Adam's, where the noise is 0.02; the authors' value."""

    decay: float = 0.005
    """Weight decay towards the middle of the cube; the authors' value."""

    def __post_init__(self) -> None:
        check_evolution("OpenAiEsConfig", self.radius, self.population, paired=True)
        if not self.step_size > 0.0:
            raise ConfigError("OpenAiEsConfig.step_size", self.step_size, "above 0")
        if not self.decay >= 0.0:
            raise ConfigError("OpenAiEsConfig.decay", self.decay, ">= 0")

    def build(self, *, dimension: int, seed: int) -> EvolutionSearch:
        """Return a fresh optimiser."""
        if dimension < 1:
            raise ConfigError("OpenAiEsConfig dimension", dimension, "an integer >= 1")
        rule = OpenAiEs(self, dimension)
        return EvolutionSearch(rule, dimension=dimension, seed=seed, population=self.population)

    def proposal(self, budget_episodes: int) -> Proposal:
        """Divide a budget as the local searches do."""
        return many_cheap(budget_episodes)


class OpenAiEs:
    """Steps by Adam along the estimated gradient less the decay."""

    paired = True

    def __init__(self, config: OpenAiEsConfig, dimension: int) -> None:
        self._sigma = config.radius / np.sqrt(dimension)
        self._decay, self._adam = config.decay, Adam(dimension, step_size=config.step_size)
        self.spread = np.full(dimension, self._sigma)

    def step(self, mean: Float, draws: Float, returns: Float) -> Float:
        """Return the next mean [D]."""
        unit = self._sigma / AUTHORS_NOISE
        utilities = centered_ranks(returns)
        uphill = (utilities[0::2] - utilities[1::2]) @ draws[0::2] / len(returns)
        return np.asarray(mean + unit * self._adam.step(uphill - self._decay * (mean - 0.5) / unit))

    def state_dict(self) -> dict[str, Any]:
        """Return Adam's state."""
        return {"adam": self._adam.state_dict()}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue from Adam's state."""
        self._adam.load_state_dict(state["adam"])
