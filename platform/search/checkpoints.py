"""When a search saves its optimiser's state: seldom enough that it costs little of the time."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

CHECKPOINT_INTERVAL_S: Final = 10.0
"""Least time between two checkpoints."""

CHECKPOINT_SHARE: Final = 0.05
"""Share of the time that checkpoints may take; the interval grows until they do not."""


class CheckpointTimer:
    """Tells when the next checkpoint is due."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._last = clock()
        self._interval = CHECKPOINT_INTERVAL_S

    @property
    def due(self) -> bool:
        """Whether it is time for one."""
        return self._clock() - self._last >= self._interval

    @contextmanager
    def timed(self) -> Iterator[None]:
        """Write one inside; the next is due the later, the longer it takes."""
        began = self._clock()
        yield
        self._last = self._clock()
        self._interval = max(CHECKPOINT_INTERVAL_S, (self._last - began) / CHECKPOINT_SHARE)
