"""A search that tells results as they come, for episodes of very unequal length.

Candidates are asked for in batches of q, and always so many are under way that no worker waits:
the q that are told next, and others for as many episodes as there are workers. Whichever q
candidates end first are told together, in the order in which they ended. So a long episode delays
its own candidate alone, and the optimiser learns from other candidates than it asked for last.
Until they are told, it counts them as pending.

Seeds still come from the number of a candidate in the order of asking. But the order of ending is
that of the clock, so two runs of one command differ, and what was under way when a search stopped
is not evaluated again.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from rolecast.core.seeds import Purpose, episode_seeds
from rolecast.core.types import Float
from rolecast.platform.rollout.chunks import (
    BatchResult,
    Chunk,
    ChunkResult,
    cut,
    join,
)
from rolecast.platform.rollout.evaluator import Evaluator, Stream
from rolecast.platform.search.backend import Backend
from rolecast.platform.search.failed_episodes import settled
from rolecast.platform.search.loop import Search
from rolecast.platform.search.planning.budget import Spent
from rolecast.platform.search.planning.plan import Plan
from rolecast.platform.search.progress import Progress
from rolecast.platform.search.records.history import Kind, PendingBatch
from rolecast.platform.search.records.run_folder import RunFolder
from rolecast.platform.search.session import BatchRequest


@dataclass(eq=False)
class _Candidate:
    """A candidate under way."""

    number: int
    """In the order of asking."""

    episodes_of: int
    """Number of the candidate whose episodes it meets."""

    weights: Float
    """[D], in the unit cube."""

    missing: int = 0
    """Chunks that have not come."""

    parts: list[tuple[Chunk, ChunkResult]] = field(default_factory=list)
    """Its rows of the chunks that have come."""


class AsynchronousSearch(Search):
    """A search whose results are told in the order in which they come."""

    def __init__(self, plan: Plan, folder: RunFolder, backend: Backend, progress: Progress) -> None:
        """Take up the search; see `Search`."""
        super().__init__(plan, folder, backend, progress)
        self._evaluator: Evaluator = backend.evaluator
        # Else a single thread plays episodes only while the search waits for them.
        self._beside = backend.workers > 0 or self._evaluator.workers > 1
        self._stream: Stream | None = None
        self._ran_s = 0.0
        self._chunks: dict[int, tuple[Chunk, Sequence[_Candidate]]] = {}
        self._under_way = 0
        self._ended: list[_Candidate] = []
        self._next_number = self.seen.next_number

    def step(self) -> dict[str, float]:
        """Wait until q candidates have ended, tell them, and ask for as many.

        Returns:
            The metrics after it.
        Raises:
            RunError: the task failed, or the optimiser did; all that was told before is kept.
        """
        self._fill()
        if not self._under_way:
            metrics = super().step()
            self._next_number = self.seen.next_number
            return metrics
        told = self._next_ended(min(self._plan.batch_size, self._under_way))
        self._under_way -= len(told)
        numbers = np.array([each.episodes_of for each in told])
        pending = PendingBatch(
            kind=Kind.SEARCH,
            spent=self._plan.budget.share(self.spent),
            candidates=np.stack([each.weights for each in told]),
            episodes=self._plan.episodes,
            episode_rows=numbers - self.seen.next_number,
        )
        return self._learn(pending, self._joined(told), asked=False)

    def leave_out(self, seconds: float) -> None:
        """Leave seconds out as `Search` does, but not where episodes may have run meanwhile."""
        if not (self._beside and self._under_way):
            super().leave_out(seconds)

    def _wanted(self, kind: Kind | None, spent: Spent) -> BatchRequest | None:
        """Return the batch to ask for beside what is under way."""
        reserved = replace(
            spent,
            env_steps=spent.env_steps + self._under_way * self._plan.budget.evaluation_steps(spent),
            evaluations=spent.evaluations + self._under_way,
        )
        if kind is not Kind.SEARCH or self._plan.budget.search_fits(reserved) == 0:
            return None
        wanted = super()._wanted(kind, reserved)
        return wanted and replace(wanted, episodes=None, spent=self._plan.budget.share(spent))

    def _fill(self) -> None:
        """Put candidates under way until no worker waits, or the budget is used up."""
        plan, workers = self._plan, self._evaluator.workers
        enough = plan.batch_size + max(plan.batch_size, -(-workers // plan.episodes))
        while True:
            if self._pending is None and self._under_way < enough:
                wanted = self._wanted(self._next_kind(self.spent, self._last_kind), self.spent)
                if wanted is not None:
                    reply = self._optimizer_session.advance(None, wanted)
                    self._pending = self._asked(wanted, reply)
            if self._pending is None or self._pending.kind is not Kind.SEARCH:
                return
            self._launch(self._pending)
            self._pending = None

    def _launch(self, pending: PendingBatch) -> None:
        """Put a batch under way."""
        plan, first = self._plan, self._next_number
        candidates = [
            _Candidate(first + row, int(number), weights)
            for row, (number, weights) in enumerate(
                zip(pending.episodes_of(first), pending.candidates, strict=True)
            )
        ]
        seeds = [
            episode_seeds(plan.seed, Purpose.SEARCH, each.episodes_of, pending.episodes)
            for each in candidates
        ]
        chunks = cut(
            pending.candidates,
            np.stack(seeds),
            [f"evaluation {each.number}" for each in candidates],
            compiled=plan.compiled,
            workers=self._evaluator.workers,
            statistics=self.statistics,
            episode_s=self._episode_s,
        )
        self._stream = self._stream or self._evaluator.stream()
        for number, chunk in zip(self._stream.put(chunks), chunks, strict=True):
            owners = candidates[chunk.first : chunk.first + len(chunk.seeds)]
            self._chunks[number] = chunk, owners
            for owner in owners:
                owner.missing += 1
        self._next_number += len(candidates)
        self._under_way += len(candidates)

    def _next_ended(self, count: int) -> list[_Candidate]:
        """Wait for candidates to end; return so many, the first ones first."""
        while len(self._ended) < count and self._stream is not None:
            for number, result in self._stream.take():
                chunk, owners = self._chunks.pop(number)
                self._episode_s = result.seconds / chunk.seeds.size
                for place, owner in enumerate(owners):
                    own = replace(chunk, seeds=chunk.seeds[place : place + 1])
                    owner.parts.append((own, result.part(slice(place, place + 1))))
                    owner.missing -= 1
                    if owner.missing == 0:
                        self._ended.append(owner)
            self._evaluating_s += self._stream.running_s - self._ran_s
            self._ran_s = self._stream.running_s
        told, self._ended = self._ended[:count], self._ended[count:]
        return told

    def _joined(self, told: Sequence[_Candidate]) -> BatchResult:
        """Return what candidates gave as one batch, in their order."""
        parts = [
            (replace(chunk, first=place), result)
            for place, candidate in enumerate(told)
            for chunk, result in candidate.parts
        ]
        chunks, results = zip(*parts, strict=True)
        shape = len(told), self._plan.episodes
        result = join(chunks, results, shape, self._plan.observed_metrics)
        return settled(result, self.seen.lowest, self._note)
