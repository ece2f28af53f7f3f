"""Shared ask and tell of the evolution strategies: a Gaussian distribution with a moving mean.

A strategy is a rule that turns a generation's draws and returns into the next mean. The normal draw
behind a pending candidate is kept with it. So evaluations may come in any order, and the papers'
estimators hold for candidates of an earlier mean too.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from rolecast.core.errors import ConfigError, RequestError
from rolecast.core.types import Float
from rolecast.core.validation import POSITIVE_NUMBER, at_least, check, even_at_least, or_none
from rolecast.platform.optimizers.batch_plan import default_batch_plan
from rolecast.platform.optimizers.observations import Observations, require_batch
from rolecast.platform.optimizers.protocol import Proposal
from rolecast.platform.optimizers.recombination import (
    LEAST_GENERATION,
    first_population,
    recombination_weights,
)

FIRST_RADIUS: Final = 0.376
"""Root mean square distance of the first candidates from the middle, that of `cmaes`."""

LEAST_SPREAD: Final = 1e-6
"""Smallest standard deviation of a coordinate; the cube has side 1."""

CUBE_MARGIN: Final = 1e-3
"""Least distance of the mean from the cube's faces, in standard deviations. In a corner, the two
candidates of a pair would be reflected to one point."""


class Rule(Protocol):
    """What makes one evolution strategy differ from another."""

    @property
    def spread(self) -> Float:
        """Standard deviation [D] of the next candidates."""

    def step(self, mean: Float, draws: Float, returns: Float) -> Float:
        """Return the next mean [D], and adapt the spread.

        Args:
            mean: [D], of now.
            draws: [n, D], standard normal: candidates are mean + spread * draw. Where candidates
                are paired, rows 2i and 2i + 1 are a draw and its negative.
            returns: [n].
        """

    def state_dict(self) -> dict[str, Any]:
        """Return all that decides future steps."""

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue from a state."""


@dataclass(frozen=True, kw_only=True)
class EvolutionConfig(ABC):
    """Settings of all strategies; all begin in the middle of the cube."""

    radius: float | None = None
    """Root mean square distance of the first candidates from the mean, sigma sqrt(D). None: 0.376,
    that of `cmaes`, but at most `widest` in a coordinate. A strategy climbs its function smoothed
    by its search distribution. In two dimensions, 0.376 is as wide as the cube and hides all
    maxima."""

    population: int | None = None
    """Candidates of one generation, even where they come in pairs. None: the size of the first
    batch, or 4 + 3 ln D for one below 4. A larger batch is one generation too."""

    widest: ClassVar[float] = 0.07
    """Largest first standard deviation of a coordinate where `radius` is None; that of 0.376 in 29
    dimensions."""

    def __post_init__(self) -> None:
        population = even_at_least(LEAST_GENERATION) if self.pairs else at_least(LEAST_GENERATION)
        rules = {"radius": or_none(POSITIVE_NUMBER), "population": or_none(population)}
        check(type(self).__name__, vars(self), rules)

    @property
    def pairs(self) -> bool:
        """Whether candidates come in pairs, mean + draw and mean - draw, on the same episodes."""
        return True

    def first_spread(self, dimension: int) -> float:
        """Return the standard deviation of each coordinate of the first candidates."""
        root = float(np.sqrt(dimension))
        return min(FIRST_RADIUS / root, self.widest) if self.radius is None else self.radius / root

    @abstractmethod
    def rule(self, dimension: int) -> Rule:
        """Return a fresh rule."""

    def build(self, *, dimension: int, seed: int) -> "EvolutionSearch":
        """Return a fresh optimiser."""
        if dimension < 1:
            raise ConfigError(f"{type(self).__name__} dimension", dimension, "an integer >= 1")
        return EvolutionSearch(self, dimension=dimension, seed=seed)

    def proposal(self, budget_episodes: int) -> Proposal:
        """Divide a budget as the local searches do."""
        return default_batch_plan(budget_episodes)


def reflected(points: Float) -> Float:
    """Return points folded back into the unit cube at its faces, however far outside.

    Values beyond a face are those before it, mirrored: the function is continuous there. Clipping
    would map several draws to one point.
    """
    return np.asarray(1.0 - np.abs(1.0 - np.mod(points, 2.0)))


class EvolutionSearch:
    """Draws generations and hands them to a rule, whatever the sizes of batches."""

    def __init__(self, config: EvolutionConfig, *, dimension: int, seed: int) -> None:
        self._rule, self._paired = config.rule(dimension), config.pairs
        self._seed, self._population = seed, config.population
        self._data = Observations(dimension)
        self._mean = np.full(dimension, 0.5)
        self._asks, self._pairs = 0, 0
        # Rows: pair, sign, point [D], draw [D]. Waiting rows were told: also their return.
        self._pending = np.empty((0, 2 + 2 * dimension))
        self._waiting = np.empty((0, 3 + 2 * dimension))
        self._mirror = np.empty((0, 2 + 2 * dimension))
        self._episode_rows = np.zeros(0, dtype=np.int64)

    def ask(self, q: int) -> Float:
        """Return q draws [q, D] from the search distribution; pairs follow each other."""
        count = require_batch(q)
        dimension = self._data.dimension
        if self._population is None:
            self._population = first_population(count, dimension, paired=self._paired)
        rng = np.random.default_rng(np.random.SeedSequence((self._seed, self._asks)))
        self._asks += 1
        missing = count - len(self._mirror)
        directions = (missing + 1) // 2 if self._paired else missing
        rows = np.empty((directions, 2 if self._paired else 1, 2 + 2 * dimension))
        rows[:, :, 0] = self._pairs + np.arange(directions)[:, None]
        rows[:, :, 1] = [1.0, -1.0][: rows.shape[1]]
        rows[:, :, -dimension:] = rng.standard_normal((directions, 1, dimension))
        rows[:, :, -dimension:] *= rows[:, :, 1:2]
        moved = self._mean + self._rule.spread * rows[:, :, -dimension:]
        rows[:, :, 2:-dimension] = reflected(moved)
        self._pairs += directions
        drawn = np.concatenate([self._mirror, rows.reshape(-1, 2 + 2 * dimension)])
        self._mirror = drawn[count:]
        self._pending = np.concatenate([self._pending, drawn[:count]])
        _, firsts, places = np.unique(drawn[:count, 0], return_index=True, return_inverse=True)
        self._episode_rows = firsts[places]
        return drawn[:count, 2:-dimension].copy()

    def episode_rows(self) -> NDArray[np.int64]:
        """Return the row [q] of the last `ask` whose episodes each candidate meets: its pair's."""
        return self._episode_rows

    def tell(self, candidates: Float, returns: Float, stderrs: Float | None = None) -> None:
        """Take in evaluations; each full generation of them moves the mean.

        Points told before the first ask set the first mean, their average weighted by rank. Other
        points that were never asked for are no draws of the search distribution. The estimators do
        not hold for them, so they are kept and move nothing.
        """
        before = len(self._data)
        self._data.add(candidates, returns, stderrs)
        if self._asks == 0:
            weights = recombination_weights(self._data.returns)
            self._mean = self._inside(weights @ self._data.candidates)
            return
        dimension = self._data.dimension
        place = {row.tobytes(): at for at, row in enumerate(self._pending[:, 2:-dimension])}
        told = []
        for point, value in zip(
            self._data.candidates[before:], self._data.returns[before:], strict=True
        ):
            at = place.pop(point.tobytes(), None)
            if at is not None:
                told.append((at, value))
        self._data.drop(1)  # what was told is in the mean, or waits for its generation
        if not told:
            return
        indices = [at for at, _ in told]
        values = np.array([[value] for _, value in told])
        fresh = np.concatenate([values, self._pending[indices]], axis=1)
        self._pending = np.delete(self._pending, indices, axis=0)
        self._waiting = np.concatenate([self._waiting, fresh])
        self._learn()

    def best(self) -> Float:
        """Return the mean of the search distribution, which no single lucky draw decides."""
        if not len(self._data):
            raise RequestError("best() needs at least one evaluation; none was told yet")
        return self._mean.copy()

    def state_dict(self) -> dict[str, Any]:
        """Return data, distribution, the rule's state, and all draws that are not used up."""
        return {
            "data": self._data.state_dict(),
            "mean": self._mean.copy(),
            "counts": [self._asks, self._pairs],
            "seed": self._seed,
            "population": self._population,
            "pending": self._pending.copy(),
            "waiting": self._waiting.copy(),
            "mirror": self._mirror.copy(),
            "rule": self._rule.state_dict(),
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue from a state."""
        self._data.load_state_dict(state["data"])
        self._asks, self._pairs = map(int, state["counts"])
        self._seed = int(state["seed"])
        population = state["population"]
        self._population = None if population is None else int(population)
        self._mean = np.array(state["mean"], dtype=np.float64)
        self._pending = np.array(state["pending"], dtype=np.float64)
        self._waiting = np.array(state["waiting"], dtype=np.float64)
        self._mirror = np.array(state["mirror"], dtype=np.float64)
        self._rule.load_state_dict(state["rule"])

    def explain(self) -> dict[str, float]:
        """Return the root mean square distance of candidates from the mean."""
        return {"cloud_radius": float(np.linalg.norm(self._rule.spread))}

    def _learn(self) -> None:
        """Give the rule all that is ready where it is a generation at least.

        A batch larger than one generation makes one better step, not several. Several steps from
        the one mean of the batch would overshoot.
        """
        dimension, ready = self._data.dimension, self._ready()
        if len(ready) < (self._population or LEAST_GENERATION):
            return
        rows = self._waiting[ready]
        self._mean = self._inside(self._rule.step(self._mean, rows[:, -dimension:], rows[:, 0]))
        self._waiting = np.delete(self._waiting, ready, axis=0)

    def _ready(self) -> list[int]:
        """Return which waiting rows a generation may have; of pairs, both or none, in order."""
        if not self._paired:
            return list(range(len(self._waiting)))
        order = np.lexsort((-self._waiting[:, 2], self._waiting[:, 1]))
        pairs = self._waiting[order, 1]
        both = np.flatnonzero(pairs[1:] == pairs[:-1])
        return [int(order[at + half]) for at in both for half in (0, 1)]

    def _inside(self, mean: Float) -> Float:
        margin = np.minimum(CUBE_MARGIN * self._rule.spread, 0.5)
        return np.clip(mean, margin, 1.0 - margin)
