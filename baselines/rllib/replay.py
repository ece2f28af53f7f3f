"""The replay buffer: one contiguous float32 array a column, overwritten in a ring."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from rolecast.baselines.rllib.transitions import COLUMN_NAMES, Transitions
from rolecast.core.errors import ConfigError, RequestError
from rolecast.core.types import Float32

Batch = dict[str, Float32]
"""Column of `Transitions` to its rows."""


class ReplayBuffer:
    """Keeps the last `capacity` joint transitions, and draws uniformly from them.

    Memory is claimed as it is filled, by doubling, so a short run does not pay for a long one.
    """

    def __init__(
        self,
        capacity: int,
        seed: int | np.random.SeedSequence,
        augment: Callable[[Batch, np.random.Generator], Batch] | None = None,
    ) -> None:
        """Make an empty buffer.

        Args:
            capacity: transitions kept, >= 1.
            seed: decides the draws.
            augment: maps each batch that is drawn, with random numbers of the buffer's own.
        """
        if type(capacity) is not int or capacity < 1:
            raise ConfigError("replay_capacity", capacity, "an integer >= 1")
        self.capacity = capacity
        self._columns: Batch = {}
        self._size = self._next = 0
        self._random = np.random.default_rng(seed)
        self._augment = augment

    def __len__(self) -> int:
        return self._size

    def add(self, transitions: Transitions) -> None:
        """Append transitions; the oldest make room."""
        count = len(transitions)
        new = {name: getattr(transitions, name)[-self.capacity :] for name in COLUMN_NAMES}
        self._next = (self._next + max(count - self.capacity, 0)) % self.capacity
        kept = min(count, self.capacity)
        self._claim(min(self._size + kept, self.capacity), new)
        first = min(kept, self.capacity - self._next)
        for name, rows in new.items():
            column = self._columns[name]
            column[self._next : self._next + first] = rows[:first]
            column[: kept - first] = rows[first:]
        self._next = (self._next + kept) % self.capacity
        self._size = min(self._size + kept, self.capacity)

    def sample(self, batch_size: int) -> Batch:
        """Return `batch_size` transitions, each drawn uniformly from all that are kept.

        Raises:
            RequestError: the buffer is empty.
        """
        if not self._size:
            raise RequestError("the replay buffer is empty; expected transitions before a sample")
        rows = self._random.integers(0, self._size, batch_size)
        batch = {name: column.take(rows, axis=0) for name, column in self._columns.items()}
        return batch if self._augment is None else self._augment(batch, self._random)

    def get_state(self) -> dict[str, Any]:
        """Return what `set_state` needs: contents, place and random state; arrays are copies."""
        return {
            "columns": {
                name: column[: self._size].copy() for name, column in self._columns.items()
            },
            "size": self._size,
            "next": self._next,
            "random": self._random.bit_generator.state,
        }

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Go on where a buffer of this or another capacity stood.

        Raises:
            RequestError: more is in it than this one holds.
        """
        size, oldest = int(state["size"]), int(state["next"]) % max(int(state["size"]), 1)
        if size > self.capacity:
            raise RequestError(
                f"the saved replay has {size} transitions; expected at most "
                f"replay_capacity, which is {self.capacity}"
            )
        # A full ring of this capacity stays as it lies, so that draws are those of the original.
        first = oldest if size < self.capacity else 0
        self._columns, self._size = {}, 0
        if size:
            self._claim(size, state["columns"])
            for name, rows in state["columns"].items():
                self._columns[name][: size - first] = rows[first:]
                self._columns[name][size - first : size] = rows[:first]
        self._size, self._next = size, (size + oldest - first) % self.capacity
        self._random.bit_generator.state = state["random"]

    def _claim(self, size: int, like: Mapping[str, Float32]) -> None:
        """Make room for `size` transitions of these shapes."""
        held = len(next(iter(self._columns.values()))) if self._columns else 0
        if size <= held:
            return
        room = min(max(size, 2 * held, 1024), self.capacity)
        for name, rows in like.items():
            grown = np.zeros((room, *rows.shape[1:]), dtype=np.float32)
            if held:
                grown[:held] = self._columns[name]
            self._columns[name] = grown
