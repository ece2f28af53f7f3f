"""An optimiser whose process may die: it is repeated exactly if it does.

A lost optimiser, and one of a search that is resumed, comes back from its last state by the calls
of before; the candidates that it asks for are the same, but for the rounding of another processor.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from rolecast.core.errors import RunError
from rolecast.core.types import Float
from rolecast.platform.search.records.history import Batch, Kind
from rolecast.platform.search.session import (
    BatchRequest,
    EvaluatedBatch,
    OptimizerReply,
    OptimizerSession,
)

MAX_REBUILDS: Final = 5
"""Times that one call may lose the optimiser's process before the search gives up."""

SPARE_BATCHES: Final = 4
"""Batches by which random numbers are drawn on further than a history says."""

MAX_ROUNDING: Final = 1e-9
"""In the unit box; with other kernels of BLAS, `dss_gp_ucb` and `local_gp` differ by 5e-13."""

ROUNDING_NOTE: Final = "this processor rounds otherwise: the rest may not equal an undisturbed run"


class ResilientOptimizer:
    """An optimiser whose process may die."""

    def __init__(
        self,
        build: Callable[[], OptimizerSession],
        losses: tuple[type[Exception], ...],
        note: Callable[[str], None],
        state: dict[str, Any] | None,
        since: Sequence[Batch],
        *,
        asked_alike: bool = True,
    ) -> None:
        """Take up an optimiser; it is built when it is first needed.

        Args:
            build: gives a fresh one.
            losses: errors that mean that its process is gone.
            note: tells the user of a loss.
            state: what it knew when it was last saved; None if it never was.
            since: the batches that it was told after that.
            asked_alike: whether each of them was told whole before the next was asked for, so that
                a rebuilt optimiser asks for the same. Else what it asks for again is not evaluated,
                and what was under way when the search was interrupted is pending no longer.
        """
        self._asked_alike = asked_alike
        self._build, self._losses, self._note = build, losses, note
        self._state, self._since = state, list(since)
        self._session: OptimizerSession | None = None
        self._asked: tuple[BatchRequest, Float] | None = None
        self._former = True
        self.seconds = 0.0
        """Spent in the optimiser."""

    def advance(
        self, told: EvaluatedBatch | None, wanted: BatchRequest | None, *, keep: bool = False
    ) -> OptimizerReply:
        """Tell a batch, keep the state if `keep`, and ask for a batch.

        Raises:
            RunError: the process was lost again and again, or came back different.
        """
        for _ in range(MAX_REBUILDS):
            try:
                self._session = self._session or self._rebuilt()
                reply = self._session.tell_and_ask(told, wanted, keep=keep)
            except self._losses:
                self._session = None
                self._note("the optimiser's process was lost; it is rebuilt as it was")
                continue
            self._asked = None
            if wanted is not None and reply.candidates is not None:
                self._asked = wanted, reply.candidates
            self.seconds += reply.ask_s + reply.tell_s
            return reply
        raise RunError(f"the optimiser's process was lost {MAX_REBUILDS} times in one call")

    def remember(self, batch: Batch, state: dict[str, Any] | None) -> None:
        """Take note of the batch that was told last, and of the state after it if that was kept."""
        if self._losses:  # else it stays in this process, and is never built again
            self._since.append(batch)
        if state is not None:
            self._state, self._since, self._former = state, [], False

    def close(self) -> None:
        """Release the optimiser."""
        if self._session is not None:
            self._session.close()
            self._session = None

    def _rebuilt(self) -> OptimizerSession:
        """Return the optimiser as it stood after its last call."""
        session = self._build()
        if self._state is not None:
            session.restore(self._state)
        same = replay(session, self._since, asked_alike=self._asked_alike)
        self._since = self._since if self._losses else []
        if self._former and not self._asked_alike:  # what it counts on ended with that process
            session.forget_pending()
        if self._asked is not None and self._asked_alike:
            wanted, candidates = self._asked
            asked = session.tell_and_ask(None, wanted).candidates
            same = _same(asked, candidates, "the lost batch") and same
        if not same:
            self._note(ROUNDING_NOTE)
        return session


def replay(
    session: OptimizerSession, batches: Sequence[Batch], *, asked_alike: bool = True
) -> bool:
    """Bring an optimiser through batches that were evaluated before; return whether it asks alike.

    Args:
        session: in the state before the first of them.
        batches: in order, whole.
        asked_alike: whether it asks for them again, as before. Else what it asks for before each
            batch, by which it takes one batch from the next, is forgotten at the end; and it is
            asked for as many candidates more as had been under way.
    Raises:
        RunError: it asks for other candidates than it did.
    """
    same = True
    for batch in batches:
        candidates: Float | None = batch.candidates
        if batch.kind is Kind.SEARCH:
            wanted = BatchRequest(q=len(batch.candidates), spent=batch.spent)
            asked = session.tell_and_ask(None, wanted).candidates
            if asked_alike:
                same = _same(asked, batch.candidates, f"batch {batch.index}") and same
                candidates = None
        told = EvaluatedBatch(
            candidates=candidates,
            returns=batch.observed_means,
            stderrs=batch.observed_stderrs,
            nodes=batch.nodes,
        )
        session.tell_and_ask(told, None)
    if not asked_alike:
        _draw_on(session, [each for each in batches if each.kind is Kind.SEARCH])
    return same


def _draw_on(session: OptimizerSession, batches: Sequence[Batch]) -> None:
    """Let random numbers go on behind those of all candidates that had been asked for.

    Whatever was under way counts as never asked for. As of a pair the second candidate has the
    number of the first, one more is counted; and each of several stops behind one saved state may
    have drawn a batch beyond these numbers.
    """
    if not batches:
        return
    size = max(len(each.candidates) for each in batches)
    asked = 2 + max(int(each.episodes_of.max()) for each in batches) - batches[0].first
    for _ in range(-(-asked // size) + SPARE_BATCHES):
        session.tell_and_ask(None, BatchRequest(q=size, spent=batches[-1].spent))
        session.forget_pending()


def _same(asked: Float | None, before: Float, what: str) -> bool:
    """Return whether candidates are equal to the last bit; RunError if rounding is not why."""
    if asked is None or asked.shape != before.shape:
        asked = np.full_like(before, np.nan)
    distance = np.abs(asked - before).max()
    if not distance <= MAX_ROUNDING:
        raise RunError(
            f"the optimiser asks for other candidates in {what} than it did; expected the "
            "versions, and the kind of machine, with which this run began"
        )
    return bool(distance == 0.0)
