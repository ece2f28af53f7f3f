"""Random search: independent uniform candidates, the lowest baseline."""

import math
from array import array
from bisect import bisect_left
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
"""Candidates told at once that are copied before any of them is dropped."""


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
        places = [*self._kept]
        returns = np.array([self._returns[place] for place in places])
        noises = np.array([self._stderrs[place] for place in places])
        largest = float(np.abs(returns).max())
        # An unknown noise is that of others, told later too: it is neither greater nor smaller.
        for rows in (np.flatnonzero(np.isnan(noises)), np.flatnonzero(~np.isnan(noises))):
            for row in rows[beaten_rows(returns[rows], np.nan_to_num(noises[rows]), largest)]:
                if places[row] > 0:  # the first wins where all are equal
                    del self._kept[places[row]]


def beaten_rows(returns: Float, noises: Float, largest: float) -> list[int]:
    """Return the rows of candidates that another of no greater noise [K] beats, of K returns.

    It has a clearly higher return, or no lower one and came before. Work grows as K log K.

    Args:
        returns: [K].
        noises: [K].
        largest: size of the largest return, by which a lead is clear.
    """
    margin = TIE_SHARE * largest  # less may be lost in rounding
    order = np.argsort(-returns, kind="stable").tolist()
    paid, noise = returns.tolist(), noises.tolist()
    clear, least_of_clear = 0, math.inf
    # Of those with no lower return: rows in order, each with less noise than all before it.
    steps: list[int] = []
    beaten = []
    for row in order:
        while paid[order[clear]] - paid[row] > margin:
            least_of_clear = min(least_of_clear, noise[order[clear]])
            clear += 1
        at = bisect_left(steps, row)
        as_good = at > 0 and noise[steps[at - 1]] <= noise[row]
        if as_good or least_of_clear <= noise[row]:
            beaten.append(row)
        if not as_good:
            stop = at
            while stop < len(steps) and noise[steps[stop]] >= noise[row]:
                stop += 1
            steps[at:stop] = [row]
    return beaten


def shrunk_returns(
    returns: Float, stderrs: Float, rows: Sequence[int] | slice = slice(None)
) -> Float:
    """Return posterior means of some rows, less the mean of all, under independent normal returns.

    With prior N(m, v) and noise s^2 the posterior mean is m + v / (v + s^2) (y - m). A noisy
    return is shrunk more than a precise one. An unknown noise counts as the median of the known
    ones; where none is known, returns count as exact.
    """
    known = stderrs[~np.isnan(stderrs)]
    noise = np.nan_to_num(stderrs, nan=float(np.median(known)) if len(known) else 0.0) ** 2
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
