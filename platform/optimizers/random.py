"""Random search: independent uniform candidates, the lowest baseline."""

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

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

TIE_SHARE: Final = 1e-9
"""Lead of a return, as a share of the largest, below which rounding may make two equal."""

PIECE_ROWS: Final = 1024
"""Candidates that are compared with each other at once; memory grows with the square."""


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
    """Random search; the incumbent is the best point after shrinkage to the mean.

    Returns are all kept, and the few candidates that can still be the best: a candidate of lower
    return and no smaller noise than another never is again.
    """

    def __init__(self, dimension: int, seed: int) -> None:
        self._dimension = dimension
        Observations(dimension)  # refuses what is no dimension
        self._returns, self._stderrs = array("d"), array("d")
        self._kept: dict[int, Float] = {}
        self._rng = np.random.default_rng(seed)

    def ask(self, q: int) -> Float:
        """Return q uniform points [q, D]."""
        return self._rng.random((require_batch(q), self._dimension))

    def tell(self, candidates: Float, returns: Float, stderrs: Float | None = None) -> None:
        """Add evaluations."""
        told = Observations(self._dimension)
        told.add(candidates, returns, stderrs)
        self._take(told)

    def best(self) -> Float:
        """Return the candidate of highest posterior mean under independent normal returns."""
        if not self._returns:
            raise RequestError("best() needs at least one evaluation; tell() came first for none")
        places = [*self._kept]
        shrunk = shrunk_returns(np.array(self._returns), np.array(self._stderrs), places)
        return self._kept[places[int(np.argmax(shrunk))]].copy()

    def state_dict(self) -> dict[str, Any]:
        """Return data and generator."""
        return {
            "returns": np.array(self._returns),
            "stderrs": np.array(self._stderrs),
            "places": [*self._kept],
            "candidates": np.array([*self._kept.values()]).reshape(-1, self._dimension),
            "rng": generator_state(self._rng),
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue from a state."""
        self._returns, self._stderrs, self._kept = array("d"), array("d"), {}
        if "data" in state:  # of a release that kept all candidates
            told = Observations(self._dimension)
            told.load_state_dict(state["data"])
            self._take(told)
        else:
            self._returns = array("d", state["returns"])
            self._stderrs = array("d", state["stderrs"])
            candidates = np.array(state["candidates"], dtype=np.float64)
            self._kept = {int(at): row for at, row in zip(state["places"], candidates, strict=True)}
        self._rng = restored_generator(state["rng"])

    def _take(self, told: Observations) -> None:
        """Add evaluations, and drop candidates that cannot be the best any more."""
        for first in range(0, len(told), PIECE_ROWS):
            rows = slice(first, first + PIECE_ROWS)
            points = enumerate(told.candidates[rows], start=len(self._returns))
            self._kept |= {place: np.array(point) for place, point in points}
            self._returns.extend(told.returns[rows])
            self._stderrs.extend(told.stderrs[rows])
            self._drop_beaten()

    def _drop_beaten(self) -> None:
        places = np.array([*self._kept])
        returns = np.array([self._returns[place] for place in self._kept])
        noises = np.nan_to_num([self._stderrs[place] for place in self._kept])
        lead = returns[:, None] - returns
        clear = lead > TIE_SHARE * np.abs(returns).max()  # less may be lost in rounding
        as_good = (lead >= 0.0) & (places[:, None] < places)
        beaten = ((clear | as_good) & (noises[:, None] <= noises)).any(axis=0)
        for place in places[beaten & (places > 0)].tolist():  # the first wins where all are equal
            del self._kept[place]


def shrunk_returns(
    returns: Float, stderrs: Float, rows: Sequence[int] | slice = slice(None)
) -> Float:
    """Return posterior means of some rows, less the mean of all, under independent normal returns.

    With prior N(m, v) and noise s^2 the posterior mean is m + v / (v + s^2) (y - m). A noisy
    return is shrunk more than a precise one.
    """
    noise = np.nan_to_num(stderrs) ** 2
    variance = float(returns.var())
    prior = max(variance - float(noise.mean()), 1e-3 * variance)
    lead = returns[rows] - returns.mean()
    return np.asarray(lead * prior / np.maximum(prior + noise[rows], 1e-300))


def shrunk_best(data: Observations) -> Float:
    """Return the candidate [D] of highest posterior mean under independent normal returns.

    Raises:
        RequestError: there is none.
    """
    if not len(data):
        raise RequestError("best() needs at least one evaluation; tell() came first for none")
    return np.array(data.candidates[int(np.argmax(shrunk_returns(data.returns, data.stderrs)))])
