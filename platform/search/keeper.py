"""Keeps the optimiser of a search alive: if its process is lost, it comes back as it was.

It comes back from its last state and the batches since, by the same exchanges in the same order;
whether it is the same again is checked by the candidates that it asks for. A search that is
resumed begins in this way too.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from rolecast.core.errors import RunError
from rolecast.core.types import Float
from rolecast.platform.search.history import Batch, Kind
from rolecast.platform.search.optimizer_host import Host, Reply, Told, Wanted

REBUILDS: Final = 5
"""Times that one exchange may lose the optimiser's process before the search gives up."""


class OptimizerKeeper:
    """An optimiser whose process may die."""

    def __init__(
        self,
        build: Callable[[], Host],
        losses: tuple[type[Exception], ...],
        note: Callable[[str], None],
        *,
        state: dict[str, Any] | None,
        since: Sequence[Batch],
    ) -> None:
        """Take up an optimiser; it is built when it is first needed.

        Args:
            build: gives a fresh one.
            losses: errors that mean that its process is gone.
            note: tells the user of a loss.
            state: what it knew when it was last saved; None if it never was.
            since: the batches that it was told after that.
        """
        self._build, self._losses, self._note = build, losses, note
        self._state, self._since = state, list(since)
        self._host: Host | None = None
        self._asked: tuple[Wanted, Float] | None = None
        self.seconds = 0.0
        """Spent in the optimiser."""

    def exchange(self, told: Told | None, wanted: Wanted | None, *, keep: bool = False) -> Reply:
        """Tell a batch, keep the state if `keep`, and ask for a batch.

        Raises:
            RunError: the process was lost again and again, or came back different.
        """
        for _ in range(REBUILDS):
            try:
                self._host = self._host or self._rebuilt()
                reply = self._host.exchange(told, wanted, keep=keep)
            except self._losses:
                self._host = None
                self._note("the optimiser's process was lost; it is rebuilt as it was")
                continue
            self._asked = None
            if wanted is not None and reply.candidates is not None:
                self._asked = wanted, reply.candidates
            self.seconds += reply.ask_s + reply.tell_s
            return reply
        raise RunError(f"the optimiser's process was lost {REBUILDS} times in one exchange")

    def remember(self, batch: Batch, state: dict[str, Any] | None) -> None:
        """Take note of the batch that was told last, and of the state after it if that was kept."""
        self._since.append(batch)
        if state is not None:
            self._state, self._since = state, []

    def close(self) -> None:
        """Release the optimiser."""
        if self._host is not None:
            self._host.close()
            self._host = None

    def _rebuilt(self) -> Host:
        """Return the optimiser as it stood after its last exchange."""
        host = self._build()
        if self._state is not None:
            host.restore(self._state)
        replay(host, self._since)
        if self._asked is not None:
            wanted, candidates = self._asked
            _require_same(host.exchange(None, wanted).candidates, candidates, "the lost batch")
        return host


def replay(host: Host, batches: Sequence[Batch]) -> None:
    """Bring an optimiser through batches that were evaluated before.

    Args:
        host: in the state before the first of them.
        batches: in order, whole.
    Raises:
        RunError: it asks for other candidates than it did.
    """
    for batch in batches:
        candidates: Float | None = batch.candidates
        if batch.kind is Kind.SEARCH:
            wanted = Wanted(q=len(batch.candidates), spent=batch.spent)
            asked = host.exchange(None, wanted).candidates
            _require_same(asked, batch.candidates, f"batch {batch.index}")
            candidates = None
        told = Told(
            candidates=candidates, returns=batch.observed_means, stderrs=batch.observed_stderrs
        )
        host.exchange(told, None)


def _require_same(asked: Float | None, before: Float, what: str) -> None:
    if asked is None or not np.array_equal(asked, before):
        raise RunError(
            f"the optimiser asks for other candidates in {what} than it did; expected the "
            "versions, and the kind of machine, with which this run began"
        )
