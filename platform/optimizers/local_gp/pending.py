"""Candidates of a local search that were asked for and are not told yet, with their pairs."""

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rolecast.core.types import Float

NEVER_ASKED: Final = -1
"""Pair of a candidate that was never asked for."""


class PendingPairs:
    """Pending candidates [P, D]; those of one pair share their episodes."""

    def __init__(self, dimension: int) -> None:
        self.points = np.empty((0, dimension))
        """Candidates [P, D], in the order in which they were asked for."""
        self._pairs = np.zeros(0, dtype=np.int64)

    def __len__(self) -> int:
        return len(self.points)

    def add(self, asked: Float, pairs: NDArray[np.int64]) -> None:
        """Add candidates [q, D] and the numbers [q] of their pairs."""
        self.points = np.concatenate([self.points, asked])
        self._pairs = np.concatenate([self._pairs, pairs])

    def forget(self) -> None:
        """Forget all candidates."""
        self.points, self._pairs = self.points[:0], self._pairs[:0]

    def take(self, told: Float) -> NDArray[np.int64]:
        """Take off the candidates told [q, D]; return their pairs [q], or `NEVER_ASKED`."""
        places = {row.tobytes(): place for place, row in enumerate(self.points)}
        found = np.full(len(told), NEVER_ASKED)
        waiting = np.ones(len(self.points), dtype=bool)
        for number, row in enumerate(np.asarray(told, dtype=np.float64)):
            place = places.get(row.tobytes())
            if place is not None:
                found[number] = self._pairs[place]
                waiting[place] = False
        self.points, self._pairs = self.points[waiting], self._pairs[waiting]
        return found

    def state_dict(self) -> dict[str, Any]:
        """Return the candidates and their pairs."""
        return {"pending": self.points.copy(), "pending_pairs": self._pairs.copy()}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue from a state."""
        self.points = np.array(state["pending"], dtype=np.float64)
        self._pairs = np.array(state["pending_pairs"], dtype=np.int64)
