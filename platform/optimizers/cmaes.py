"""Covariance matrix adaptation (CMA-ES), full and separable, by the `cmaes` library.

Source: Hansen (2016); separable: Ros and Hansen (2008); learning-rate adaptation for noise: Nomura
et al. (2023). Mirrored sampling: Brockhoff, Auger, Hansen, Arnold and Hohm (2010).
"""

from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from cmaes import CMA, SepCMA
from numpy.typing import NDArray

from rolecast.core.errors import ConfigError, RequestError
from rolecast.core.types import Float
from rolecast.core.validation import BOOLEAN_VALUE, POSITIVE_NUMBER, at_least, check, or_none
from rolecast.platform.optimizers.batch_plan import default_batch_plan
from rolecast.platform.optimizers.observations import (
    Observations,
    in_pairs,
    pair_rows,
    require_batch,
)
from rolecast.platform.optimizers.protocol import Proposal
from rolecast.platform.optimizers.recombination import (
    LEAST_GENERATION,
    first_population,
    recombination_weights,
)


@dataclass(frozen=True, kw_only=True)
class CmaesConfig:
    """CMA-ES that starts at the centre of the cube."""

    separable: bool = True
    """Diagonal covariance matrix: variances alone are adapted. The full matrix takes D^2 memory
    and D^3 time."""

    radius: float = 0.376
    """Initial radius sigma sqrt(D), above 0, in sides of the cube. It is the root mean square
    distance of the first candidates from the centre."""

    population: int | None = None
    """Population size, candidates of one generation, at least 4. None: the size of the first
    batch, or 4 + 3 ln D for one below 4."""

    mirrored: bool = False
    """Mirrored sampling (Brockhoff et al. 2010): candidates in pairs, the second the mirror image
    of the first in the mean, on the same episodes."""

    lr_adapt: bool = False
    """Learning-rate adaptation to noise (Nomura et al. 2023). Requires `separable` = false."""

    def __post_init__(self) -> None:
        rules = {
            "separable": BOOLEAN_VALUE,
            "radius": POSITIVE_NUMBER,
            "population": or_none(at_least(LEAST_GENERATION)),
            "mirrored": BOOLEAN_VALUE,
            "lr_adapt": BOOLEAN_VALUE,
        }
        check("CmaesConfig", vars(self), rules)
        if self.lr_adapt and self.separable:
            raise ConfigError("CmaesConfig.lr_adapt", True, "false where separable is true")

    def build(self, *, dimension: int, seed: int) -> "Cmaes":
        """Return a fresh optimiser."""
        if dimension < 2:
            raise ConfigError("CmaesConfig dimension", dimension, "an integer >= 2")
        return Cmaes(self, dimension, seed)

    def proposal(self, budget_episodes: int) -> Proposal:
        """Return the batch plan of the local searches, which suits CMA-ES too."""
        return default_batch_plan(budget_episodes)


class Cmaes:
    """CMA-ES with batches of any size; the library gets complete generations."""

    def __init__(self, config: CmaesConfig, dimension: int, seed: int) -> None:
        self._config, self._seed = config, seed
        self._data = Observations(dimension)
        self._used, self._asks = 0, 0
        self._episode_rows = np.zeros(0, dtype=np.int64)
        self._strategy: CMA | SepCMA | None = None

    def _start(self, population: int) -> CMA | SepCMA:
        dimension = self._data.dimension
        settings: dict[str, Any] = {
            "mean": self._first_mean(),
            "sigma": self._config.radius / np.sqrt(dimension),
            "bounds": np.tile([0.0, 1.0], (dimension, 1)),
            "population_size": population,
        }
        started = (
            SepCMA(**settings)
            if self._config.separable
            else CMA(**settings, lr_adapt=self._config.lr_adapt)
        )
        # The library leaves its memory of past values as it was allocated, and we save it: what
        # else this process had in memory would be on disk.
        vars(started)["_funhist_values"][:] = 0.0
        return started

    def _first_mean(self) -> Float:
        """Return the first mean: recombined from earlier evaluations, or the centre of the cube."""
        if not len(self._data):
            return np.full(self._data.dimension, 0.5)
        mean = recombination_weights(self._data.returns) @ self._data.candidates
        return np.clip(mean, 0.0, 1.0)  # rounding may leave the cube, which the library refuses

    def ask(self, q: int) -> Float:
        """Return q draws [q, D] from the search distribution."""
        count = require_batch(q)
        if self._strategy is None:
            population = self._config.population or first_population(count, self._data.dimension)
            self._strategy = self._start(population)
            self._used = len(self._data)
        # The generator is not in the saved state, so each batch has a seed of its own.
        entropy = np.random.SeedSequence((self._seed, self._asks)).generate_state(1)
        self._strategy.reseed_rng(int(entropy[0]))
        self._asks += 1
        if not self._config.mirrored:
            self._episode_rows = np.arange(count)
            return np.stack([self._strategy.ask() for _ in range(count)])
        self._episode_rows = pair_rows(count)
        drawn = np.stack([self._strategy.ask() for _ in range((count + 1) // 2)])
        images = np.clip(2.0 * self._strategy.mean - drawn, 0.0, 1.0)
        return in_pairs(drawn, images, count)

    def episode_rows(self) -> NDArray[np.int64]:
        """Return the row [q] of the last `ask` whose episodes each candidate meets."""
        return self._episode_rows

    def tell(self, candidates: Float, returns: Float, stderrs: Float | None = None) -> None:
        """Add evaluations; each full population makes one generation.

        Points told before the first ask set the first mean, an average weighted by rank.
        """
        self._data.add(candidates, returns, stderrs)
        if self._strategy is None:
            return
        size = self._strategy.population_size
        while len(self._data) - self._used >= size:
            rows = slice(self._used, self._used + size)
            solutions = zip(self._data.candidates[rows], -self._data.returns[rows], strict=True)
            self._strategy.tell([(point.copy(), float(loss)) for point, loss in solutions])
            self._used += size

    def best(self) -> Float:
        """Return the mean of the search distribution, an average over many noisy returns."""
        if not len(self._data):
            raise RequestError("best() needs at least one evaluation; none was told yet")
        mean = self._first_mean() if self._strategy is None else self._strategy.mean
        return np.asarray(np.clip(mean, 0.0, 1.0))

    def state_dict(self) -> dict[str, Any]:
        """Return data, seed, counts and the state of the library, as numbers and arrays."""
        strategy = None
        if self._strategy is not None:
            # Not the library's own `__getstate__`: it rounds the covariance to a symmetric one.
            saved = vars(self._strategy).items()
            strategy = {name: _plain(value) for name, value in saved if name != "_rng"}
        return {
            "data": self._data.state_dict(),
            "counts": [self._used, self._asks],
            "seed": self._seed,
            "strategy": strategy,
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue from a state."""
        self._data.load_state_dict(state["data"])
        self._used, self._asks = map(int, state["counts"])
        self._seed = int(state["seed"])
        self._strategy = None
        if state["strategy"] is not None:
            self._strategy = self._start(LEAST_GENERATION)
            for name, value in state["strategy"].items():
                setattr(self._strategy, name, _plain(value))


def _plain(value: Any) -> Any:
    """Return a copy of an array, which the library changes in place, or a Python scalar."""
    return value.item() if isinstance(value, np.generic) else copy(value)
