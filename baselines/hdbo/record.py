"""Record of candidates and evaluations, shared by all competitors."""

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rolecast.core.errors import RequestError
from rolecast.core.types import Float
from rolecast.platform.optimizers.observations import Observations

Index = NDArray[np.int64]

FOREIGN_TAG: Final = -1
"""Tag of an evaluated point that was never a candidate."""

POINT_JITTER: Final = 1e-9
"""Every asked point is moved by up to this: then no two are equal, those in a corner included."""


class Record:
    """Told evaluations, pending candidates, and how often it was asked.

    A tag is an integer that the method gives a candidate, and finds again with its evaluation. D
    dimensions, N evaluations.
    """

    def __init__(self, dimension: int, seed: int) -> None:
        self.data = Observations(dimension)
        self.seed = seed
        self.asks = 0
        self.tags: Index = np.empty(0, dtype=np.int64)
        self._pending = np.empty((0, dimension))
        self._pending_tags: Index = np.empty(0, dtype=np.int64)

    def __len__(self) -> int:
        return len(self.data)

    @property
    def dimension(self) -> int:
        """D."""
        return self.data.dimension

    @property
    def pending(self) -> Float:
        """Pending candidates [K, D]."""
        return self._pending

    @property
    def pending_tags(self) -> Index:
        """[K]."""
        return self._pending_tags

    def require_told(self) -> None:
        """Raise RequestError where there is no evaluation, so that no point can be the best."""
        if not len(self):
            raise RequestError("best() needs at least one evaluation; none was told yet")

    def generator(self) -> np.random.Generator:
        """Return the generator of the next ask: of the seed and the number of asks alone."""
        return np.random.default_rng((self.seed, self.asks))

    def asked(self, points: Float, rng: np.random.Generator, tags: Index | None = None) -> Float:
        """Make points [q, D] pending, each moved by less than can matter; return them."""
        jitter = POINT_JITTER
        known = {row.tobytes() for row in (*self.data.candidates, *self._pending)}
        moved = _moved(points, rng, jitter)
        while len({row.tobytes() for row in moved} - known) < len(moved):
            jitter *= 2.0
            moved = _moved(points, rng, jitter)
        fresh = np.zeros(len(points), dtype=np.int64) if tags is None else tags
        self._pending = np.concatenate([self._pending, moved])
        self._pending_tags = np.concatenate([self._pending_tags, fresh])
        self.asks += 1
        return moved.copy()

    def forget_pending(self) -> None:
        """Forget candidates that will not be told."""
        self._pending, self._pending_tags = self._pending[:0], self._pending_tags[:0]

    def told(self, candidates: Float, returns: Float, stderrs: Float | None) -> None:
        """Take in q evaluations; what of them was pending is so no more."""
        self.data.add(candidates, returns, stderrs)
        places = {row.tobytes(): place for place, row in enumerate(self._pending)}
        fresh = self.data.candidates[len(self.tags) :]
        found = [places.get(row.tobytes(), -1) for row in fresh]
        tags = [FOREIGN_TAG if place < 0 else int(self._pending_tags[place]) for place in found]
        self.tags = np.concatenate([self.tags, np.array(tags, dtype=np.int64)])
        waiting = np.ones(len(self._pending), dtype=bool)
        waiting[[place for place in found if place >= 0]] = False
        self._pending, self._pending_tags = self._pending[waiting], self._pending_tags[waiting]

    def state_dict(self) -> dict[str, Any]:
        """Return all of it, as arrays and JSON values."""
        return {
            "data": self.data.state_dict(),
            "tags": self.tags.copy(),
            "pending": self._pending.copy(),
            "pending_tags": self._pending_tags.copy(),
            "seed": self.seed,
            "asks": self.asks,
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Replace all of it."""
        self.data.load_state_dict(state["data"])
        self.tags = np.array(state["tags"], dtype=np.int64)
        self._pending = np.array(state["pending"], dtype=np.float64)
        self._pending_tags = np.array(state["pending_tags"], dtype=np.int64)
        self.seed, self.asks = int(state["seed"]), int(state["asks"])


def _moved(points: Float, rng: np.random.Generator, jitter: float) -> Float:
    """Move points by up to the jitter in every dimension, reflected at the faces of the cube."""
    moved = np.abs(np.clip(points, 0.0, 1.0) + rng.uniform(-jitter, jitter, points.shape))
    return np.asarray(1.0 - np.abs(1.0 - moved))
