"""Several starts of a local search, of which the better half goes on (successive halving).

A start may climb soon, or stay on a plateau for long. K independent searches begin in the middle of
the cube and take batches in turn. Between two halvings each start gets the same share of the
budget. Source: successive halving (Jamieson and Talwalkar 2016). Differs: starts go on, rather than
begin anew; they are ranked by the mean of their latest returns.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rolecast.core.errors import RequestError
from rolecast.core.types import Float
from rolecast.platform.optimizers.local_gp.constants import SEARCH_CONSTANTS
from rolecast.platform.optimizers.local_gp.search import LocalSearch
from rolecast.platform.optimizers.local_gp.settings import LocalGpSettings
from rolecast.platform.optimizers.observations import Observations, require_batch


class SeveralStarts:
    """K local searches with the interface of one; see the module."""

    def __init__(self, config: LocalGpSettings, *, starts: int, dimension: int, seed: int) -> None:
        """Begin all starts.

        Args:
            config: settings of each start, whose `restart_at_centre` is off.
            starts: K, at least 1.
            dimension: D.
            seed: seed from which each start has its own.
        """
        evaluations = config.evaluations
        if evaluations is not None and config.groups is None:  # a start's own schedule ends with it
            evaluations = max(1, round(evaluations * winner_share(starts)))
        each = replace(config, restart_at_centre=False, evaluations=evaluations)
        seeds = np.random.SeedSequence(seed).generate_state(starts, np.uint64).tolist()
        self._starts = [LocalSearch(each, dimension=dimension, seed=one) for one in seeds]
        self._returns: list[list[float]] = [[] for _ in seeds]
        self._alive = list(range(starts))
        self._black_box = config.groups is None
        self._planned = config.evaluations or SEARCH_CONSTANTS.schedule_evaluations
        self._turn, self._halvings, self._told = 0, 0, 0
        self._spent: float | None = None
        self._asking = 0
        self._owners: dict[bytes, int] = {}
        self._dimension = dimension

    @property
    def alive(self) -> tuple[int, ...]:
        """Numbers of the starts that go on, the best first after each halving."""
        return tuple(self._alive)

    def pace(self, spent: float) -> None:
        """Set the share of the budget spent; halve the starts where that is due."""
        self._spent = spent
        for start in self._alive:
            self._starts[start].pace(spent)
        self._halve()

    def ask(self, q: int) -> Float:
        """Return q points [q, D] of the start whose turn it is."""
        require_batch(q)
        self._asking = self._alive[self._turn % len(self._alive)]
        asked = self._starts[self._asking].ask(q)
        self._turn += 1
        self._owners.update((row.tobytes(), self._asking) for row in asked)
        return asked

    def forget_pending(self) -> None:
        """Forget candidates that will not be told."""
        for start in self._alive:
            self._starts[start].forget_pending()
        self._owners.clear()

    def episode_rows(self) -> NDArray[np.int64]:
        """Return the row [q] of the last `ask` whose episodes each candidate meets."""
        return self._starts[self._asking].episode_rows()

    def episodes(self, planned: int) -> int:
        """Return the episodes of each candidate asked for last, from 1 to `planned`."""
        return self._starts[self._asking].episodes(planned)

    def tell(self, candidates: Float, returns: Float, stderrs: Float | None = None) -> None:
        """Tell each start of its candidates, and all that go on of points never asked for."""
        Observations(self._dimension).add(candidates, returns, stderrs)  # refuses all or nothing
        points, values = np.asarray(candidates, dtype=np.float64), np.asarray(returns)
        owners = np.array([self._owners.pop(row.tobytes(), -1) for row in points])
        for start in self._alive:
            own = (owners == start) | (owners == -1)
            if own.any():
                errors = None if stderrs is None else np.asarray(stderrs)[own]
                self._starts[start].tell(points[own], values[own], errors)
                kept = self._returns[start] + values[own].tolist()
                self._returns[start] = kept[-SEARCH_CONSTANTS.ranked_evaluations :]
        self._told += int((owners >= 0).sum()) if self._black_box else len(points)
        self._halve()

    def best(self) -> Float:
        """Return the incumbent [D] of the start with the greatest mean of its latest returns."""
        if not any(self._returns):
            raise RequestError("best() needs at least one evaluation; none was told yet")
        return self._starts[self._ranked()[0]].best()

    def explain(self) -> dict[str, float]:
        """Return the quantities of the best start, and the number of starts that go on."""
        return self._starts[self._ranked()[0]].explain() | {"starts": float(len(self._alive))}

    def state_dict(self) -> dict[str, Any]:
        """Return the states of the starts that go on, their latest returns, and whose turn it is.

        Those that have ended are left out: nothing asks them any more.
        """
        return {
            "starts": {str(start): self._starts[start].state_dict() for start in self._alive},
            "returns": {str(start): list(self._returns[start]) for start in self._alive},
            "alive": list(self._alive),
            "counts": [self._turn, self._halvings, self._told, self._asking],
            "spent": self._spent,
            "pending": np.frombuffer(b"".join(self._owners), dtype=np.float64)
            .reshape(-1, self._dimension)
            .copy(),
            "owners": list(self._owners.values()),
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue from a state."""
        self._alive = [int(start) for start in state["alive"]]
        for start in self._alive:
            self._starts[start].load_state_dict(state["starts"][str(start)])
            self._returns[start] = [float(value) for value in state["returns"][str(start)]]
        self._turn, self._halvings, self._told, self._asking = map(int, state["counts"])
        self._spent = None if state["spent"] is None else float(state["spent"])
        pending = np.array(state["pending"], dtype=np.float64).reshape(-1, self._dimension)
        pairs = zip(pending, state["owners"], strict=True)
        self._owners = {row.tobytes(): int(owner) for row, owner in pairs}

    def _ranked(self) -> list[int]:
        """Return the starts that go on, by the mean of their latest returns; ties as they were."""
        means = {s: np.mean(self._returns[s]) if self._returns[s] else -np.inf for s in self._alive}
        return sorted(self._alive, key=lambda start: -means[start])

    def _halve(self) -> None:
        """End the worse half of the starts as often as the share of the budget spent asks for."""
        spent = self._told / self._planned if self._spent is None else self._spent
        for due, left in halvings(len(self._starts))[self._halvings :]:
            if spent < due:
                break
            self._alive = self._ranked()[:left]
            self._halvings += 1


def halvings(starts: int) -> list[tuple[float, int]]:
    """Return the shares of the budget at which starts are halved, and how many then go on."""
    rounds, left, found = (starts - 1).bit_length(), starts, []
    for number in range(1, rounds + 1):
        left = -(-left // 2)
        found.append((SEARCH_CONSTANTS.halving_share * number / rounds, left))
    return found


def winner_share(starts: int) -> float:
    """Return the share of the budget that the start has which is left."""
    begin, alive, share = 0.0, starts, 0.0
    for due, left in halvings(starts):
        share += (due - begin) / alive
        begin, alive = due, left
    return share + (1.0 - begin) / alive
