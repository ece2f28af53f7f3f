"""Computes chunks in this process, on one thread or several."""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

from rolecast.envs.spec import BatchedTask
from rolecast.platform.rollout.chunks import Chunk, ChunkResult, evaluate_chunk
from rolecast.policies.protocol import Policy


class LocalEvaluator:
    """Shares chunks among threads of this process: whoever is idle takes the next."""

    def __init__(self, task: BatchedTask, policy: Policy, threads: int = 1) -> None:
        """Set up.

        Args:
            task: closed by the caller.
            policy: of its sizes.
            threads: for a compiled task. Its kernels release Python's lock, and its episodes keep
                their state in each call. Any other task takes one; a MuJoCo robot has its own.
        """
        self.workers = threads if hasattr(task, "lanes") else 1
        self._task, self._policy = task, policy
        self._busy_s = 0.0
        self._pool = ThreadPoolExecutor(self.workers) if self.workers > 1 else None

    @property
    def nodes(self) -> Mapping[str, int]:
        """Nothing: all runs here."""
        return {}

    @property
    def busy_s(self) -> float:
        """Seconds so far in which the threads were computing, as if all shared alike."""
        return self._busy_s

    def evaluate(self, chunks: Sequence[Chunk]) -> list[ChunkResult]:
        """Compute all chunks."""
        share = map if self._pool is None or len(chunks) == 1 else self._pool.map
        results = list(share(self._play, chunks))
        self._busy_s += sum(result.seconds for result in results) / min(self.workers, len(chunks))
        return results

    def close(self) -> None:
        """End the threads; who made the task closes it."""
        if self._pool is not None:
            self._pool.shutdown()

    def _play(self, chunk: Chunk) -> ChunkResult:
        return evaluate_chunk(self._task, self._policy, chunk)
