"""What computes chunks: this process, its threads, or actors."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from rolecast.platform.rollout.chunks import Chunk, ChunkResult


class Stream(Protocol):
    """Chunks under way, whose results are taken as they come."""

    def put(self, chunks: Sequence[Chunk]) -> list[int]:
        """Add chunks; return their numbers."""

    def take(self) -> list[tuple[int, ChunkResult]]:
        """Return the results that have come since, with their numbers; wait for one at least.

        Raises:
            RunError: as `Evaluator.evaluate`.
        """

    @property
    def running_s(self) -> float:
        """Seconds so far in which at least one chunk was computed, of those that were taken."""


class Evaluator(Protocol):
    """Computes chunks, wherever; results come in the order of the chunks."""

    def evaluate(self, chunks: Sequence[Chunk]) -> list[ChunkResult]:
        """Compute all chunks.

        Raises:
            RunError: the task failed or paid what is no number; names evaluation and seed.
        """

    def stream(self) -> Stream:
        """Return a stream of chunks; one at a time, and not beside `evaluate`."""

    @property
    def workers(self) -> int:
        """Processes, or threads of one, that compute."""

    @property
    def nodes(self) -> Mapping[str, int]:
        """Machine to the workers that have started there; empty: all is in this process."""

    @property
    def busy_s(self) -> float:
        """Seconds so far in which the most loaded worker of each call was computing."""

    def close(self) -> None:
        """Release what it holds."""
