"""Who computes which chunk: workers, the calls that they owe, and the chunks of a batch."""

import math
import pickle
import time
from collections import deque
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median_high
from typing import Any, Final

from rolecast.core.errors import RunError
from rolecast.platform.actors.cluster import CALL_RETRIES
from rolecast.platform.rollout.chunks import Chunk, ChunkResult
from rolecast.platform.rollout.running_time import RunningTime

LONGEST_STEP_S: Final = 10.0
"""Longest time from one look at an `AwakeClock` to the next that it counts as a whole."""


CALLS_AHEAD: Final = 2
"""Calls that a worker has at most: one computed, and one that waits beside it."""

SHORT_CALL_S: Final = 0.25
"""Duration of a call below which the time of a message counts."""

LATE_FACTOR: Final = 3.0
"""Times the median duration after which a call counts as late."""

LATE_S: Final = 2.0
"""Least time after which a call counts as late."""

UNTIMED_LATE_S: Final = 60.0
"""The same of a compiled task, whose calls take milliseconds, while none was answered. How long one
of another task takes is not known then, so none counts as late."""

UNTIMED_REPEAT_S: Final = 180.0
"""Time after which idle workers repeat a call of such a task: one may never be answered."""

TIMED_CALLS: Final = 100
"""Latest calls whose durations say which call is late."""


class AwakeClock:
    """Seconds in which this process ran: one that is stopped for hours finds no worker late."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._last = self._awake_s = clock()

    def __call__(self) -> float:
        """Return the time."""
        now = self._clock()
        self._awake_s += min(now - self._last, LONGEST_STEP_S)
        self._last = now
        return self._awake_s


class AnswerTimes:
    """Durations of the latest calls, by which a call that has no answer is late."""

    def __init__(self) -> None:
        self._latest: deque[float] = deque(maxlen=TIMED_CALLS)
        self._computed: deque[float] = deque(maxlen=TIMED_CALLS)

    def add(self, seconds: float, computed_s: float = 0.0) -> None:
        """Take up a call that was answered.

        Args:
            seconds: since it was given, behind another one perhaps.
            computed_s: of them, those in which it was computed.
        """
        self._latest.append(seconds)
        self._computed.append(computed_s)

    def allowed_s(self, *, compiled: bool) -> float:
        """Return the seconds after which a call, of a compiled task or not, is late."""
        if self._latest:
            return max(LATE_S, LATE_FACTOR * median_high(self._latest))
        return UNTIMED_LATE_S if compiled else math.inf

    @property
    def short(self) -> bool:
        """Whether calls are so short that the time of a message counts; not while none is known."""
        return bool(self._computed) and median_high(self._computed) < SHORT_CALL_S

    @staticmethod
    def repeated_s(allowed_s: float) -> float:
        """Return the seconds after which idle workers repeat a call, also where none is late."""
        return UNTIMED_REPEAT_S if math.isinf(allowed_s) else allowed_s


@dataclass(eq=False)
class Worker:
    """A rollout actor, or a dispatcher of several, and what it is computing."""

    handle: Any
    nodes: Mapping[str, int] = field(default_factory=dict)
    """Machine to the rollout actors that started there, or started again."""

    pid: int = 0
    """Process id of the first process that answered; 0: none has."""

    calls: int = 0
    """Calls that it has not answered."""

    busy_s: float = 0.0
    """Seconds that each of its rollout actors computed in this batch."""

    idle_since: float = -math.inf
    """When it had computed all that it has answered, by the messages' clock."""

    @property
    def size(self) -> int:
        """Rollout actors."""
        return sum(self.nodes.values())


@dataclass(eq=False)
class Call:
    """Chunks that a worker has been given."""

    worker: Worker
    batch: int
    chunks: tuple[int, ...]
    since: float
    """When it was given, by the clock of an `AwakeClock`."""

    given: float
    """The same by the messages' clock."""

    def waits_behind(self, calls: Iterable["Call"]) -> bool:
        """Return whether its worker was given another of these calls before."""
        return any(each.worker is self.worker and each.given < self.given for each in calls)


@dataclass(frozen=True, kw_only=True, eq=False)
class Reply:
    """What a worker answers."""

    results: Sequence[ChunkResult]
    """Of the chunks of the call."""

    nodes: Mapping[str, int] = field(default_factory=dict)
    """As of `Worker`, where they may have changed."""

    notes: Sequence[str] = ()
    """What a dispatcher has for the user."""

    repeated: int = 0
    """Chunks that a second actor was given."""


def packed(values: Any) -> bytes:
    """Return chunks or a reply as bytes: Ray's own serializer takes ten times as long for them."""
    return pickle.dumps(values, protocol=5)


def unpacked(values: bytes) -> Any:
    """Return what was packed, by an actor of the same search."""
    return pickle.loads(values)


@dataclass(eq=False)
class OpenBatch:
    """Chunks that are being computed: those of a batch, or of a stream, which takes more."""

    number: int
    owed: dict[int, Chunk] = field(default_factory=dict)
    """Number to chunk, of those without a result."""

    waiting: deque[int] = field(default_factory=deque)
    """Those of them that no worker was given."""

    results: dict[int, ChunkResult] = field(default_factory=dict)
    clock: Callable[[], float] = time.monotonic
    stream: bool = False
    """Whether chunks come and go, as those of an asynchronous search."""

    since: float = field(init=False)
    """When it began, or had a result last."""

    count: int = 0
    """Chunks so far."""

    running: RunningTime = field(default_factory=RunningTime)
    """When at least one worker computed, to the latency of a message."""

    computed_s: float = 0.0
    """Seconds that workers computed since a stream took results last."""

    def __post_init__(self) -> None:
        self.since = self.clock()

    def add(self, chunks: Sequence[Chunk]) -> list[int]:
        """Add chunks; return their numbers."""
        numbers = list(range(self.count, self.count + len(chunks)))
        self.count += len(chunks)
        self.owed.update(zip(numbers, chunks, strict=True))
        self.waiting.extend(numbers)
        return numbers

    def beside_others(self, workers: int, *, short: bool) -> int:
        """Return how many waiting chunks may be given to workers that compute another.

        All of a compiled task. Of another, where calls are short and as many chunks are left as
        there are workers, so that none waits behind a long episode while others are idle. None of
        a stream, which is for episodes of unequal length.

        Args:
            workers: that share the batch.
            short: whether calls are.
        """
        if self.waiting and self.owed[self.waiting[0]].compiled:
            return len(self.waiting)
        return max(0, len(self.waiting) - workers) if short and not self.stream else 0

    def take(self, number: int, result: ChunkResult) -> bool:
        """Keep a result unless it came before; return whether it was kept."""
        if self.owed.pop(number, None) is None:
            return False
        self.results[number] = result
        self.since = self.clock()
        return True

    def ran(self, call: Call, seconds: float) -> None:
        """Count that a call's worker computed for so long; a call before it may have come first."""
        worker = call.worker
        begun = max(call.given, worker.idle_since)
        worker.idle_since = begun + seconds / worker.size
        self.running.add(begun, worker.idle_since)
        self.computed_s += seconds

    def owes(self, call: Call) -> bool:
        """Return whether a chunk of a call is of this batch, and has no result yet."""
        return call.batch == self.number and any(chunk in self.owed for chunk in call.chunks)

    def missing(self, lost: Call, calls: Iterable[Call]) -> list[int]:
        """Return the chunks of a lost call that are owed and that no other call computes."""
        if lost.batch != self.number:
            return []
        others = {chunk for call in calls if call.batch == self.number for chunk in call.chunks}
        return [chunk for chunk in lost.chunks if chunk in self.owed and chunk not in others]

    def silence(self, calls: Iterable[Call], absent: Collection[Worker], lasted_s: float) -> str:
        """Return what is computed longest while no answer comes, or that nobody is there.

        Args:
            calls: all that have no answer.
            absent: all workers, where none is free for more.
            lasted_s: seconds without an answer.
        """
        for call in calls:
            for number in call.chunks if call.batch == self.number else ():
                if (chunk := self.owed.get(number)) is not None:
                    return (
                        f"{chunk.labels[0]}: no worker has answered for {lasted_s:.0f} s; one runs "
                        f"the episode of seed {chunk.seeds[0, 0]}"
                        f"{', or all are lost' if absent else ''}"
                    )
        if not absent:
            return ""
        did = "answers" if any(worker.pid for worker in absent) else "has started"
        return f"none of {len(absent)} workers {did}; the search waits for the cluster"

    def late(self, calls: Iterable[Call], before: float) -> deque[int]:
        """Return the chunks that are owed and were given out before a time only.

        Args:
            calls: all that have no answer.
            before: monotonic seconds; a later call may still answer in time.
        """
        latest: dict[int, float] = {}
        for call in calls:
            for chunk in call.chunks if call.batch == self.number else ():
                if chunk in self.owed:
                    latest[chunk] = max(call.since, latest.get(chunk, call.since))
        return deque(chunk for chunk, since in latest.items() if since < before)


def process_died(chunk: Chunk, why: str) -> RunError:
    """Return the error of a chunk whose process dies again and again; Ray says why."""
    return RunError(
        f"{chunk.labels[0]}: the process that runs the task died {CALL_RETRIES + 1} times; "
        f"expected a task that does not end its process, and memory enough for it ({why})"
    )
