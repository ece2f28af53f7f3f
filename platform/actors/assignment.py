"""Who computes which chunk: workers, the calls that they owe, and the chunks of a batch."""

import time
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from rolecast.platform.rollout.chunks import Chunk, ChunkResult


@dataclass(eq=False)
class Worker:
    """A rollout actor and what it is computing."""

    handle: Any
    node: str = ""
    """Machine on which it started, or started again."""

    pid: int = 0
    """Process id there."""

    calls: int = 0
    """Calls that it has not answered."""

    busy_s: float = 0.0
    """Seconds that it computed in this batch."""


@dataclass(eq=False)
class Call:
    """One chunk that a worker has been given."""

    worker: Worker
    batch: int
    chunk: int
    since: float


@dataclass(eq=False)
class OpenBatch:
    """Chunks that are being computed: those of a batch, or of a stream, which takes more."""

    number: int
    owed: dict[int, Chunk] = field(default_factory=dict)
    """Number to chunk, of those without a result."""

    waiting: deque[int] = field(default_factory=deque)
    """Those of them that no worker was given."""

    results: dict[int, ChunkResult] = field(default_factory=dict)
    since: float = field(default_factory=time.monotonic)
    """When it began, or had a result last."""

    count: int = 0
    """Chunks so far."""

    def add(self, chunks: Sequence[Chunk]) -> list[int]:
        """Add chunks; return their numbers."""
        numbers = list(range(self.count, self.count + len(chunks)))
        self.count += len(chunks)
        self.owed.update(zip(numbers, chunks, strict=True))
        self.waiting.extend(numbers)
        return numbers

    def take(self, number: int, result: ChunkResult) -> bool:
        """Keep a result unless it came before; return whether it was kept."""
        if self.owed.pop(number, None) is None:
            return False
        self.results[number] = result
        self.since = time.monotonic()
        return True

    def copies(self, calls: Iterable[Call], number: int) -> int:
        """Return how many of these calls compute a chunk."""
        return sum(call.batch == self.number and call.chunk == number for call in calls)

    def late(self, calls: Iterable[Call], before: float) -> list[Call]:
        """Return one call each of the chunks that are owed and were given out before a time only.

        Args:
            calls: all that have no answer.
            before: monotonic seconds; a later call may still answer in time.
        """
        latest: dict[int, Call] = {}
        for call in calls:
            if call.batch == self.number and call.chunk in self.owed:
                known = latest.get(call.chunk)
                if known is None or known.since < call.since:
                    latest[call.chunk] = call
        return [call for call in latest.values() if call.since < before]
