"""Shares the chunks of a batch among rollout actors, whoever of them is there.

A chunk is computed by weights and seeds alone, so it may be computed twice: what a lost or slow
actor owes is given to an idle one, and the first result wins. Actors that have not started get
nothing; they join when they are there.
"""

import time
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import ray

from rolecast.core.errors import RunError
from rolecast.platform.actors.optimizer_actor import answer
from rolecast.platform.actors.rollout_actor import CALL_RETRIES
from rolecast.platform.rollout.chunks import Chunk, ChunkResult
from rolecast.platform.rollout.local_evaluator import LocalEvaluator

CALLS_AHEAD: Final = 2
"""Calls that an actor has at most, of a compiled task: one computed, and one that waits beside it.

Others are computed one by one: a task that ends its process is then blamed for its own call."""

LIGHT_BATCH_S: Final = 0.1
"""Computing time below which a batch of a compiled task stays in this process: messages to actors
would take as long."""

LATE_FACTOR: Final = 3.0
"""Times the median duration after which a call counts as late."""

LATE_S: Final = 2.0
"""Least time after which a call counts as late."""

TIMED_CALLS: Final = 1000
"""Latest calls of a batch or stream whose durations say which call is late."""

LOOK_S: Final = 0.5
"""Longest wait before late calls and new actors are looked for."""

ABSENT_NOTE_S: Final = 10.0
"""Time without any actor after which the user is told what the search waits for."""


@dataclass(eq=False)
class _Actor:
    """A rollout actor and what it is computing."""

    handle: Any
    node: str = ""
    """Machine on which it started."""

    pid: int = 0
    """Process id there, of its first process."""

    calls: int = 0
    """Calls that it has not answered."""

    busy_s: float = 0.0
    """Seconds that it computed in this batch."""


@dataclass(eq=False)
class _Call:
    """One chunk that an actor has been given."""

    actor: _Actor
    batch: int
    chunk: int
    since: float


@dataclass(eq=False)
class _Batch:
    """Chunks that are being computed: those of a batch, or of a stream, which takes more."""

    number: int
    owed: dict[int, Chunk] = field(default_factory=dict)
    """Number to chunk, of those without a result."""

    waiting: deque[int] = field(default_factory=deque)
    """Those of them that no actor was given."""

    results: dict[int, ChunkResult] = field(default_factory=dict)
    durations: deque[float] = field(default_factory=lambda: deque(maxlen=TIMED_CALLS))
    since: float = field(default_factory=time.monotonic)
    count: int = 0
    """Chunks so far."""

    def add(self, chunks: Sequence[Chunk]) -> list[int]:
        """Add chunks; return their numbers."""
        numbers = list(range(self.count, self.count + len(chunks)))
        self.count += len(chunks)
        self.owed.update(zip(numbers, chunks, strict=True))
        self.waiting.extend(numbers)
        return numbers


class RayEvaluator:
    """Rollout actors; each has at most `CALLS_AHEAD` calls."""

    def __init__(
        self,
        actors: Sequence[Any],
        *,
        here: LocalEvaluator | None = None,
        note: Callable[[str], None] = lambda _: None,
    ) -> None:
        """Take up actors, without waiting for them.

        Args:
            actors: handles of `RolloutActor`s, which may be starting.
            here: computes in this process what is too light for actors, and while none has
                started; None: nothing is computed here, as a user's environment may end a process.
            note: tells the user of actors that are absent or late.
        """
        self._starting = {actor.place.remote(): _Actor(actor) for actor in actors}
        self._actors: list[_Actor] = []
        self._calls: dict[Any, _Call] = {}
        self._here, self._note = here, note
        self._episode_s: float | None = None
        self._busy_s = 0.0
        self._batch = 0
        self._said_absent = False
        self.queued = self.repeated = 0
        """Chunks of the last batch; chunks so far that a second actor was given."""

    @property
    def workers(self) -> int:
        """Number of actors that have started, or threads of this process before."""
        self._welcome()
        return len(self._actors) or (self._here.workers if self._here else 1)

    @property
    def nodes(self) -> Mapping[str, int]:
        """Machine to the actors that have started there."""
        self._welcome()
        return dict(Counter(actor.node for actor in self._actors))

    @property
    def busy_s(self) -> float:
        """Seconds so far in which the most loaded actor of each batch was computing."""
        return self._busy_s + (self._here.busy_s if self._here else 0.0)

    def evaluate(self, chunks: Sequence[Chunk]) -> list[ChunkResult]:
        """Compute all chunks.

        Raises:
            RunError: the task failed, or its process died again and again on the same call.
        """
        self._welcome()
        episodes = sum(chunk.seeds.size for chunk in chunks)
        light = self._episode_s is not None and self._episode_s * episodes < LIGHT_BATCH_S
        if self._here is not None and (light or not self._actors):
            results = self._here.evaluate(chunks)
        else:
            results = self._share(chunks)
        self._episode_s = sum(result.seconds for result in results) / episodes
        return results

    def stream(self) -> "_RayStream":
        """Return a stream of chunks; whatever they take, actors compute them."""
        return _RayStream(self)

    def pids(self) -> list[int]:
        """Return the process ids of the actors, once everything in all of them is built."""
        while self._starting:
            self._welcome(wait=True)
        return [actor.pid for actor in self._actors]

    def close(self) -> None:
        """End the actors."""
        for actor in (*self._actors, *self._starting.values()):
            ray.kill(actor.handle)

    def _share(self, chunks: Sequence[Chunk]) -> list[ChunkResult]:
        """Give chunks to actors until each has a result."""
        self.queued = len(chunks)
        batch = self.begun()
        batch.add(chunks)
        while batch.owed:
            self.advance(batch)
        self._busy_s += max((actor.busy_s for actor in self._actors), default=0.0)
        return [batch.results[index] for index in range(len(chunks))]

    def begun(self) -> _Batch:
        """Return a new batch; answers to what is left of one before are dropped."""
        self._batch += 1
        for actor in self._actors:
            actor.busy_s = 0.0
        return _Batch(self._batch)

    def advance(self, batch: _Batch) -> None:
        """Give out what waits, and wait for answers."""
        self._deal(batch)
        for reference in self._answered():
            self._take(reference, batch)
        self._welcome()
        self._repeat_late(batch)
        if not self._actors and time.monotonic() - batch.since > ABSENT_NOTE_S:
            self._say_absent()

    def _answered(self) -> list[Any]:
        """Return all calls that have answers; wait for one, or for an actor that starts.

        All at once, as each look goes through all that is pending.
        """
        pending = [*self._calls, *self._starting]
        first, _ = ray.wait(pending, num_returns=1, timeout=LOOK_S)
        if not first:
            return []
        done, _ = ray.wait(pending, num_returns=len(pending), timeout=0)
        return [reference for reference in done if reference in self._calls]

    def _welcome(self, *, wait: bool = False) -> None:
        """Take in the actors that have started since."""
        if not self._starting:
            return
        begun, _ = ray.wait(
            list(self._starting),
            num_returns=len(self._starting),
            timeout=LOOK_S if wait else 0,
        )
        for reference in begun:
            actor = self._starting.pop(reference)
            actor.node, actor.pid = answer(reference)
            self._actors.append(actor)

    def _deal(self, batch: _Batch) -> None:
        """Give waiting chunks to actors, first to those that have none."""
        if not batch.waiting:
            return
        ahead = CALLS_AHEAD if batch.owed[batch.waiting[0]].compiled else 1
        for most in range(1, 1 + ahead):
            for actor in self._actors:
                if not batch.waiting:
                    return
                if actor.calls < most:
                    self._call(actor, batch, batch.waiting.popleft())

    def _call(self, actor: _Actor, batch: _Batch, index: int) -> None:
        reference = actor.handle.evaluate.remote([batch.owed[index]])
        self._calls[reference] = _Call(actor, batch.number, index, time.monotonic())
        actor.calls += 1

    def took(self, seconds: float) -> None:
        """Count what actors took in a stream, as if all shared alike."""
        self._busy_s += seconds / max(1, len(self._actors))

    def _take(self, reference: Any, batch: _Batch) -> None:
        """Take an answer; one of an earlier batch, or one that came twice, is dropped."""
        call = self._calls.pop(reference)
        call.actor.calls -= 1
        owed = call.batch == batch.number and call.chunk in batch.owed
        try:
            (result,) = answer(reference)
        except ray.exceptions.RayActorError as error:
            if owed and not self._copies(batch)[call.chunk]:
                raise RunError(
                    f"{batch.owed[call.chunk].labels[0]}: the process that runs the task died "
                    f"{CALL_RETRIES + 1} times; expected a task that does not end its process"
                ) from error
            return
        if owed:
            batch.results[call.chunk] = result
            del batch.owed[call.chunk]
            batch.durations.append(time.monotonic() - call.since)
            call.actor.busy_s += result.seconds

    def _copies(self, batch: _Batch) -> Counter[int]:
        """Return the number of calls by which each chunk of a batch is being computed."""
        return Counter(call.chunk for call in self._calls.values() if call.batch == batch.number)

    def _repeat_late(self, batch: _Batch) -> None:
        """Give what is late to idle actors too."""
        idle = [actor for actor in self._actors if not actor.calls]
        if batch.waiting or not idle or not batch.durations:
            return
        median = sorted(batch.durations)[len(batch.durations) // 2]
        limit = time.monotonic() - max(LATE_S, LATE_FACTOR * median)
        copies = self._copies(batch)
        late = [
            call
            for call in self._calls.values()
            if call.batch == batch.number
            and call.since < limit
            and call.chunk in batch.owed
            and copies[call.chunk] == 1
        ]
        for actor, call in zip(idle, late, strict=False):
            self._call(actor, batch, call.chunk)
            self.repeated += 1
            if self.repeated == 1:
                self._note("a worker is slow or lost; others repeat what it owes")

    def _say_absent(self) -> None:
        if not self._said_absent:
            self._said_absent = True
            count = len(self._starting)
            self._note(f"none of {count} workers has started; the search waits for the cluster")


class _RayStream:
    """Chunks under way among rollout actors."""

    def __init__(self, evaluator: RayEvaluator) -> None:
        self._evaluator, self._batch = evaluator, evaluator.begun()

    def put(self, chunks: Sequence[Chunk]) -> list[int]:
        """Add chunks; return their numbers."""
        return self._batch.add(chunks)

    def take(self) -> list[tuple[int, ChunkResult]]:
        """Return the results that have come since; wait for one at least."""
        while not self._batch.results:
            self._evaluator.advance(self._batch)
        results, self._batch.results = list(self._batch.results.items()), {}
        self._evaluator.took(sum(result.seconds for _, result in results))
        return results
