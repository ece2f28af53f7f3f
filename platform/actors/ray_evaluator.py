"""Shares the chunks of a batch among rollout actors, whoever of them is there.

A chunk is computed by weights and seeds alone, so it may be computed twice: what a lost or slow
actor owes is given to an idle one, and the first result wins. Actors that have not started, or are
silent for long, get nothing; they join when they answer.
"""

import math
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import ray

from rolecast.core.errors import RequestError, RunError
from rolecast.platform.actors.assignment import (
    CALLS_AHEAD,
    AnswerTimes,
    AwakeClock,
    Call,
    OpenBatch,
    Reply,
    Worker,
    packed,
    process_died,
    unpacked,
)
from rolecast.platform.actors.messages import ACTOR_DEATHS, RAY_MESSAGES, Messages, cause_of_death
from rolecast.platform.rollout.chunks import Chunk, ChunkResult
from rolecast.platform.rollout.local_evaluator import LocalEvaluator
from rolecast.platform.rollout.sizes import LIGHT_BATCH_S

LOOK_S: Final = 0.5
"""Longest wait for an answer before late calls and new actors are looked for."""

LATE_LOOK_S: Final = 0.2
"""Least time from one look for late calls to the next, each of which goes through all calls."""

ABSENT_NOTE_S: Final = 10.0
"""Time without an actor, or an answer, after which the user is told what the search waits for."""


class RayEvaluator:
    """Rollout actors, each with at most `CALLS_AHEAD` calls, or dispatchers, with one a batch."""

    def __init__(
        self,
        actors: Sequence[Any],
        *,
        here: LocalEvaluator | None = None,
        room: int | None = None,
        note: Callable[[str], None] = lambda _: None,
        messages: Messages = RAY_MESSAGES,
    ) -> None:
        """Take up actors, without waiting for them.

        Args:
            actors: handles of `RolloutActor`s or `Dispatcher`s, which may be starting.
            here: computes in this process what is too light for actors, and while none has
                started; None: nothing is computed here, as a user's environment may end a process.
            room: rollout actors for which the cluster has CPUs now; None: for all.
            note: tells the user of actors that are absent or late.
            messages: how their answers come.
        """
        self._messages, self._clock = messages, AwakeClock(messages.clock)
        self._awaited = {actor.place.remote(): Worker(actor) for actor in actors}
        self._workers: list[Worker] = []
        self._calls: dict[Any, Call] = {}
        self._here, self._note = here, note
        self._room = len(actors) if room is None else room
        self._answer_times = AnswerTimes()
        self._episode_s: float | None = None
        self._batch, self._busy_s, self._looked, self._silent_s = 0, 0.0, 0.0, ABSENT_NOTE_S
        self._said: set[str] = set()
        self.queued = self.repeated = 0
        """Chunks of the last batch that was shared; chunks so far that a second actor was given."""

    @property
    def workers(self) -> int:
        """Rollout actors that share a batch, those that start now too; or threads of `here`."""
        self._welcome()
        there = sum(worker.size for worker in self._workers)
        if self._here is not None and there == 0:
            return self._here.workers
        starting = sum(worker.pid == 0 for worker in self._awaited.values())
        return max(1, there, min(there + starting, self._room))

    @property
    def nodes(self) -> Mapping[str, int]:
        """Machine to the rollout actors that are there."""
        self._welcome()
        return dict(sum((Counter(worker.nodes) for worker in self._workers), Counter[str]()))

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
        if self._here is not None and (light or not self._workers):
            results = self._here.evaluate(chunks)
        else:
            results = self._share(chunks)
        self._episode_s = sum(result.seconds for result in results) / episodes
        return results

    def stream(self) -> "_RayStream":
        """Return a stream of chunks; whatever they take, actors compute them."""
        return _RayStream(self)

    def await_first(self) -> None:
        """Wait until an actor is there."""
        while not self._workers:
            self._welcome(wait=True)

    def pids(self) -> list[int]:
        """Return the process ids of the actors, once everything in all of them is built."""
        while self._awaited:
            self._welcome(wait=True)
        return [worker.pid for worker in self._workers]

    def close(self) -> None:
        """End the actors."""
        for worker in (*self._workers, *self._awaited.values()):
            self._messages.end(worker.handle)

    def _share(self, chunks: Sequence[Chunk]) -> list[ChunkResult]:
        """Give chunks to actors until each has a result."""
        self.queued = len(chunks)
        batch = self.begun()
        batch.add(chunks)
        while batch.owed:
            self.advance(batch)
        self._busy_s += max((worker.busy_s for worker in self._workers), default=0.0)
        return [batch.results[index] for index in range(len(chunks))]

    def begun(self, *, stream: bool = False) -> OpenBatch:
        """Return a new batch; answers to what is left of one before are dropped."""
        self._batch += 1
        for worker in self._workers:
            worker.busy_s = 0.0
        return OpenBatch(self._batch, clock=self._clock, stream=stream)

    def advance(self, batch: OpenBatch) -> None:
        """Give out what waits, and wait for answers."""
        self._deal(batch)
        for reference in self._answered():
            self._take(reference, batch)
        self._welcome()
        self._look_for_late(batch)
        if self._here is not None and not self._workers:
            self._compute_here(batch, self._here)
        elif (silent_s := self._clock() - batch.since) > self._silent_s:
            self._silent_s = 2 * silent_s if self._calls else self._silent_s  # a start: said once
            absent = () if self._workers else self._awaited.values()
            self._say(batch.silence(self._calls.values(), absent, silent_s))

    def _answered(self) -> list[Any]:
        """Return all calls that have answers; wait for one, or for an actor that starts.

        All at once, as each look goes through all that is pending.
        """
        pending = [*self._calls, *self._awaited]
        wait_s = LOOK_S if self._workers or self._here is None else 0.0
        if not self._messages.wait(pending, count=1, timeout=wait_s):
            return []
        done = self._messages.wait(pending, count=len(pending), timeout=0)
        return [reference for reference in done if reference in self._calls]

    def _welcome(self, *, wait: bool = False) -> None:
        """Take in the actors that have started since, or are back."""
        if not self._awaited:
            return
        awaited = list(self._awaited)
        begun = self._messages.wait(awaited, count=len(awaited), timeout=LOOK_S if wait else 0)
        for reference in begun:
            worker = self._awaited.pop(reference)
            was_there = worker.pid != 0
            try:
                worker.nodes, worker.pid = self._messages.answer(reference)
            except (ray.exceptions.ObjectLostError, ray.exceptions.ActorUnavailableError):
                self._awaited[worker.handle.place.remote()] = worker  # the answer's node was lost
            except (*ACTOR_DEATHS, RunError) as error:
                self._leave_out(worker, error)
            else:
                if was_there:
                    self._say("a worker that was slow or lost is back")
                self._workers.append(worker)

    def _leave_out(self, worker: Worker, error: Exception) -> None:
        """Do without a worker that is gone for good, as one that cannot make the task."""
        self._messages.end(worker.handle)
        why = f"{'is lost for good' if worker.pid else 'cannot start'}: {cause_of_death(error)}"
        if self._here is None and not self._workers and not self._awaited:
            raise RunError(f"no worker is left, as one {why}; --workers 0 needs none") from error
        self._say(f"a worker {why}")

    def _deal(self, batch: OpenBatch) -> None:
        """Give waiting chunks to actors, first to those that have none."""
        if not batch.waiting:
            return
        for most in range(1, 1 + CALLS_AHEAD):
            free = [worker for worker in self._workers if worker.calls < most]
            if most > 1:
                short = self._answer_times.short
                free = free[: batch.beside_others(len(self._workers), short=short)]
            self._give(free, batch.waiting, batch)

    def _give(self, workers: Sequence[Worker], numbers: deque[int], batch: OpenBatch) -> int:
        """Give of `numbers` one to each actor, its share to each dispatcher; return how many."""
        before = len(numbers)
        each = before / max(1, sum(worker.size for worker in workers))
        for worker in workers:
            if not numbers:
                break
            count = 1 if worker.size == 1 else min(math.ceil(each * worker.size), len(numbers))
            self._call(worker, batch, tuple(numbers.popleft() for _ in range(count)))
        return before - len(numbers)

    def _call(self, worker: Worker, batch: OpenBatch, numbers: tuple[int, ...]) -> None:
        chunks = packed([batch.owed[number] for number in numbers])
        reference = worker.handle.evaluate.remote(chunks)
        given = self._messages.clock()
        self._calls[reference] = Call(worker, batch.number, numbers, self._clock(), given)
        worker.calls += 1

    def took(self, seconds: float) -> None:
        """Count what actors took in a stream, as if all shared alike."""
        started = [each for each in (*self._workers, *self._awaited.values()) if each.pid]
        self._busy_s += seconds / max(1, sum(worker.size for worker in started))

    def _take(self, reference: Any, batch: OpenBatch) -> None:
        """Take an answer; one of an earlier batch, or one that came twice, is dropped."""
        call = self._calls.pop(reference)
        call.worker.calls -= 1
        try:
            reply: Reply = unpacked(self._messages.answer(reference))
        except ACTOR_DEATHS as error:
            missing = batch.missing(call, self._calls.values())
            first = not call.waits_behind(self._calls.values())
            if missing and first and call.worker.size == 1:
                raise process_died(batch.owed[missing[0]], cause_of_death(error)) from error
            batch.waiting.extend(missing)
        except ray.exceptions.ObjectLostError:  # its node was lost after it had answered
            batch.waiting.extend(batch.missing(call, self._calls.values()))
        except (RequestError, RunError) as error:  # of the task
            if batch.owes(call):
                raise
            self._say(f"an answer that came too late to be needed was a failure: {error}")
        else:
            computed_s = sum(result.seconds for result in reply.results)
            self._answer_times.add(self._clock() - call.since, computed_s)
            self._keep(reply, call, batch)

    def _keep(self, reply: Reply, call: Call, batch: OpenBatch) -> None:
        """Keep the results of a call that are owed, and what else a dispatcher says."""
        worker = call.worker
        worker.nodes = reply.nodes or worker.nodes
        self.repeated += reply.repeated
        for text in reply.notes:
            self._say(text)
        if call.batch == batch.number:
            batch.ran(call, sum(result.seconds for result in reply.results))
            for number, result in zip(call.chunks, reply.results, strict=True):
                if batch.take(number, result):
                    worker.busy_s += result.seconds / worker.size

    def _look_for_late(self, batch: OpenBatch) -> None:
        """Give what is late to idle actors too, and nothing more to those who owe it."""
        now = self._clock()
        if now < self._looked + LATE_LOOK_S:
            return
        self._looked = now
        compiled = any(chunk.compiled for chunk in batch.owed.values())
        allowed = self._answer_times.allowed_s(compiled=compiled)
        for call in self._calls.values():
            if call.since < now - allowed and call.worker in self._workers:
                self._workers.remove(call.worker)
                self._awaited[call.worker.handle.place.remote()] = call.worker
        idle = [worker for worker in self._workers if not worker.calls]
        if batch.waiting or not idle:
            return
        late = batch.late(self._calls.values(), now - self._answer_times.repeated_s(allowed))
        if given := self._give(idle, late, batch):
            self.repeated += given
            self._say("a worker is slow or lost; others do what it owes")

    def _compute_here(self, batch: OpenBatch, here: LocalEvaluator) -> None:
        """Compute some chunks here while no actor is there."""
        numbers = [*batch.owed][: here.workers]
        begun = self._messages.clock()
        results = here.evaluate([batch.owed[number] for number in numbers])
        batch.running.add(begun, self._messages.clock())
        for number, result in zip(numbers, results, strict=True):
            batch.take(number, result)
        batch.waiting = deque(number for number in batch.waiting if number in batch.owed)

    def _say(self, text: str) -> None:
        """Tell the user, once."""
        if text and text not in self._said:
            self._said.add(text)
            self._note(text)


class _RayStream:
    """Chunks under way among rollout actors."""

    def __init__(self, evaluator: RayEvaluator) -> None:
        self._evaluator, self._batch = evaluator, evaluator.begun(stream=True)
        self.running_s = 0.0

    def put(self, chunks: Sequence[Chunk]) -> list[int]:
        """Add chunks; return their numbers."""
        return self._batch.add(chunks)

    def take(self) -> list[tuple[int, ChunkResult]]:
        """Return the results that have come since; wait for one at least."""
        while not self._batch.results:
            self._evaluator.advance(self._batch)
        results, self._batch.results = list(self._batch.results.items()), {}
        self.running_s = self._batch.running.seconds
        self._evaluator.took(self._batch.computed_s)
        self._batch.computed_s = 0.0
        return results
