"""Computes chunks in this process, on one thread or several."""

import time
from collections import deque
from collections.abc import Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import replace
from functools import partial

from rolecast.core.patience import Patience
from rolecast.core.threads import available_cores
from rolecast.envs.rewards.task import set_patience, set_threads
from rolecast.envs.spec import BatchedTask
from rolecast.platform.rollout.chunks import Chunk, ChunkResult, evaluate_chunk, label_of
from rolecast.platform.rollout.running_time import RunningTime
from rolecast.policies.protocol import Policy


class LocalEvaluator:
    """Shares chunks among threads of this process: whoever is idle takes the next."""

    def __init__(
        self,
        task: BatchedTask,
        policy: Policy,
        threads: int | None = 1,
        *,
        patience: Patience | None = None,
    ) -> None:
        """Set up.

        Args:
            task: closed by the caller.
            policy: of its sizes.
            threads: for a compiled task, whose kernels release Python's lock and whose episodes
                keep their state in each call, and for a simulator with threads of its own, which
                share each chunk. None: one per core, or as many as the simulator has. Any other
                task takes one.
            patience: with the steps of a user's environment; None: these may last for ever.
        """
        compiled = hasattr(task, "lanes")
        self.workers = (available_cores() if threads is None else threads) if compiled else 1
        set_threads(task, threads)
        self._task, self._policy, self._patience = task, policy, patience
        set_patience(task, patience)
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
        results = list(share(self.play, chunks))
        self._busy_s += sum(result.seconds for result in results) / min(self.workers, len(chunks))
        return results

    def stream(self) -> "_LocalStream":
        """Return a stream of chunks."""
        return _LocalStream(self)

    def close(self) -> None:
        """End the threads; who made the task closes it."""
        if self._pool is not None:
            self._pool.shutdown()
        if self._patience is not None:
            self._patience.close()

    def play(self, chunk: Chunk) -> ChunkResult:
        """Compute one chunk in the calling thread."""
        if self._patience is None:
            return evaluate_chunk(self._task, self._policy, chunk)
        self._patience.label_of = partial(label_of, chunk)
        self._patience.failures.clear()
        result = evaluate_chunk(self._task, self._policy, chunk)
        failures = tuple(self._patience.failures)
        return replace(result, failures=failures) if failures else result

    def submit(self, chunk: Chunk) -> Future[tuple[ChunkResult, float]]:
        """Compute one chunk on a thread, or here and now; the result comes with when it ended."""
        if self._pool is not None:
            return self._pool.submit(self._timed, chunk)
        computed: Future[tuple[ChunkResult, float]] = Future()
        computed.set_result(self._timed(chunk))
        return computed

    def took(self, result: ChunkResult) -> None:
        """Count what a chunk of a stream took."""
        self._busy_s += result.seconds / self.workers

    def _timed(self, chunk: Chunk) -> tuple[ChunkResult, float]:
        return self.play(chunk), time.monotonic()


class _LocalStream:
    """Chunks of a stream, begun in the order in which they came."""

    def __init__(self, evaluator: LocalEvaluator) -> None:
        self._evaluator = evaluator
        self._waiting: deque[tuple[int, Chunk]] = deque()
        self._running: dict[Future[tuple[ChunkResult, float]], int] = {}
        self._count = 0
        self._running_time = RunningTime()

    @property
    def running_s(self) -> float:
        """Seconds in which at least one thread computed."""
        return self._running_time.seconds

    def put(self, chunks: Sequence[Chunk]) -> list[int]:
        """Add chunks; return their numbers."""
        numbers = list(range(self._count, self._count + len(chunks)))
        self._count += len(chunks)
        self._waiting.extend(zip(numbers, chunks, strict=True))
        return numbers

    def take(self) -> list[tuple[int, ChunkResult]]:
        """Return the results that have come since; wait for one at least."""
        while self._waiting and len(self._running) < self._evaluator.workers:
            number, chunk = self._waiting.popleft()
            self._running[self._evaluator.submit(chunk)] = number
        done, _ = wait(self._running, return_when=FIRST_COMPLETED)
        results = []
        for each in done:
            result, ended = each.result()
            self._evaluator.took(result)
            self._running_time.add(ended - result.seconds, ended)
            results.append((self._running.pop(each), result))
        return results
