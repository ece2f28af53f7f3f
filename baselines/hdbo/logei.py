"""A plain Gaussian process with a good prior: BoTorch's defaults of today.

Source: Hvarfner et al. (2024), Vanilla Bayesian optimization performs great in high dimensions, for
the prior: lengthscales grow with the root of the dimension; Ament et al. (2023), Unexpected
improvements to expected improvement, for the acquisition function.
"""

from dataclasses import dataclass

import numpy as np
from botorch.models.model import Model

from rolecast.baselines.hdbo.acquisition import AcquisitionConfig, expected_improvement, maximise
from rolecast.baselines.hdbo.search import Beliefs, Plain, SurrogateSearch
from rolecast.core.types import Float


@dataclass(frozen=True, kw_only=True)
class LogEiConfig(AcquisitionConfig):
    """One process over the whole cube, candidates of greatest noisy expected improvement."""

    def build(self, *, dimension: int, seed: int) -> SurrogateSearch:
        """Return a fresh optimiser."""
        method = LogEi(self, dimension)
        initial = min(2 * dimension, 30)
        return SurrogateSearch(self, method, dimension=dimension, seed=seed, initial=initial)


class LogEi(Plain):
    """Proposes by noisy expected improvement."""

    def __init__(self, config: AcquisitionConfig, dimension: int) -> None:
        super().__init__(dimension)
        self._config = config

    def model(self, beliefs: Beliefs, rng: np.random.Generator) -> Model | None:
        """Return the process of the acquisition function; None: that of the beliefs."""

    def propose(self, beliefs: Beliefs, q: int, rng: np.random.Generator) -> Float:
        """Return q points [q, D], chosen greedily."""
        model = self.model(beliefs, rng)
        acquisition = expected_improvement(beliefs, self._config, rng, model=model)
        corners = np.zeros(self.dimension), np.ones(self.dimension)
        return maximise(
            acquisition,
            q,
            rng,
            config=self._config,
            bounds=corners,
            pending=beliefs.pending,
        )
