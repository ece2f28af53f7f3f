"""Random search: independent uniform candidates, the lowest baseline."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from rolecast.core.errors import RequestError
from rolecast.core.types import Float
from rolecast.platform.optimizers.batch_plan import default_batch_plan
from rolecast.platform.optimizers.observations import (
    Observations,
    generator_state,
    require_batch,
    restored_generator,
)
from rolecast.platform.optimizers.protocol import Proposal


@dataclass(frozen=True, kw_only=True)
class RandomConfig:
    """Uniform draws from the cube, without settings."""

    def build(self, *, dimension: int, seed: int) -> "RandomSearch":
        """Return a fresh optimiser."""
        return RandomSearch(dimension, seed)

    def proposal(self, budget_episodes: int) -> Proposal:
        """Return the batch plan of the local searches."""
        return default_batch_plan(budget_episodes)


class RandomSearch:
    """Random search; the incumbent is the best point after shrinkage to the mean."""

    def __init__(self, dimension: int, seed: int) -> None:
        self._data = Observations(dimension)
        self._rng = np.random.default_rng(seed)

    def ask(self, q: int) -> Float:
        """Return q uniform points [q, D]."""
        return self._rng.random((require_batch(q), self._data.dimension))

    def tell(self, candidates: Float, returns: Float, stderrs: Float | None = None) -> None:
        """Add evaluations."""
        self._data.add(candidates, returns, stderrs)

    def best(self) -> Float:
        """Return the candidate of highest posterior mean under independent normal returns."""
        return shrunk_best(self._data)

    def state_dict(self) -> dict[str, Any]:
        """Return data and generator."""
        return {"data": self._data.state_dict(), "rng": generator_state(self._rng)}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue from a state."""
        self._data.load_state_dict(state["data"])
        self._rng = restored_generator(state["rng"])


def shrunk_best(data: Observations) -> Float:
    """Return the candidate [D] of highest posterior mean under independent normal returns.

    With prior N(m, v) and noise s^2 the posterior mean is m + v / (v + s^2) (y - m). A noisy
    return is shrunk more than a precise one.

    Raises:
        RequestError: there is none.
    """
    if not len(data):
        raise RequestError("best() needs at least one evaluation; tell() came first for none")
    returns, noise = data.returns, np.nan_to_num(data.stderrs) ** 2
    prior = max(float(returns.var() - noise.mean()), 1e-3 * float(returns.var()))
    shrunk = (returns - returns.mean()) * prior / np.maximum(prior + noise, 1e-300)
    return np.array(data.candidates[int(np.argmax(shrunk))])
