"""The session of an optimiser: one call a batch, repeated exactly if its process is lost.

A call tells a batch, asks for the incumbent, keeps the state on request, and asks for the next
batch, always in this order: a state and the batches after it therefore repeat the search. A lost
optimiser, and one of a search that is resumed, comes back from its last state by the same calls;
the candidates that it asks for are those of before, but for the rounding of another processor.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from rolecast.core.errors import RequestError, RunError
from rolecast.core.threads import OneThread
from rolecast.core.types import Float
from rolecast.platform.optimizers.protocol import (
    Explains,
    ObservesNodes,
    OptimizerConfig,
    Paced,
    SavesEpisodes,
    SharesEpisodes,
)
from rolecast.platform.search.records.history import Batch, Kind

MAX_REBUILDS: Final = 5
"""Times that one call may lose the optimiser's process before the search gives up."""

MAX_ROUNDING: Final = 1e-9
"""In the unit box; with other kernels of BLAS, `dss_gp_ucb` and `local_gp` differ by 5e-13."""

ROUNDING_NOTE: Final = "this processor rounds otherwise: the rest may not equal an undisturbed run"


@dataclass(frozen=True, kw_only=True, eq=False)
class EvaluatedBatch:
    """A batch that was evaluated."""

    returns: Float
    """[q], as paid by the task's reward settings."""

    stderrs: Float | None
    """[q], or None where single episodes say nothing of it."""

    nodes: Mapping[str, Float] = field(default_factory=dict)
    """Metric to its values [q, E], where the optimiser observes nodes."""

    candidates: Float | None = None
    """[q, D]; None for those that were asked last, which the session has kept."""


@dataclass(frozen=True, kw_only=True)
class BatchRequest:
    """A batch to ask for."""

    q: int
    """Its size."""

    spent: float
    """Share of the budget spent so far."""

    episodes: int | None = None
    """Episodes planned for each candidate, where the optimiser may do with fewer."""


@dataclass(frozen=True, kw_only=True, eq=False)
class OptimizerReply:
    """What the optimiser answered."""

    best: Float | None = None
    """[D], the incumbent; None if nothing was told."""

    beliefs: dict[str, float] = field(default_factory=dict)
    """What the optimiser explains of itself, where it was told something or not asked."""

    state: dict[str, Any] | None = None
    """All that decides its future answers, after telling and before asking."""

    candidates: Float | None = None
    """[q, D], where a batch was wanted."""

    episodes: int | None = None
    """E of that batch; None where the optimiser has no say."""

    episode_rows: NDArray[np.int64] | None = None
    """[q], row of that batch whose episodes each candidate meets; None: its own."""

    ask_s: float = 0.0
    """Seconds in `ask`."""

    tell_s: float = 0.0
    """Seconds in `tell` and `best`."""


class OptimizerSession(Protocol):
    """An optimiser, in this process or in another."""

    def restore(self, state: dict[str, Any]) -> None:
        """Continue from a state."""

    def tell_and_ask(
        self, told: EvaluatedBatch | None, wanted: BatchRequest | None, *, keep: bool = False
    ) -> OptimizerReply:
        """Tell, keep the state if `keep`, and ask."""

    def close(self) -> None:
        """Release what it holds."""


class LocalSession:
    """An optimiser in this process, computing with one thread wherever that is."""

    def __init__(self, config: OptimizerConfig, *, dimension: int, seed: int) -> None:
        self._one_thread = OneThread()
        with self._one_thread():
            self._optimizer = optimizer = config.build(dimension=dimension, seed=seed)
        # Looked up once: to compare with a protocol takes longer than a light optimiser's answer.
        self._nodes = optimizer if isinstance(optimizer, ObservesNodes) else None
        self._explaining = optimizer if isinstance(optimizer, Explains) else None
        self._paced = optimizer if isinstance(optimizer, Paced) else None
        self._sharing = optimizer if isinstance(optimizer, SharesEpisodes) else None
        self._saving = optimizer if isinstance(optimizer, SavesEpisodes) else None
        self._asked: Float | None = None

    def restore(self, state: dict[str, Any]) -> None:
        """Continue from a state.

        Raises:
            RunError: it is of another optimiser, or of another version of this one.
            RequestError: it is damaged.
        """
        self._one_thread = OneThread()
        with self._one_thread():
            try:
                self._optimizer.load_state_dict(state)
            except KeyError as error:
                raise RunError(
                    f"the optimiser's saved state has no {error}; expected that of the version of "
                    "rolecast with which this run began"
                ) from error
            except (TypeError, ValueError, IndexError, AttributeError, OverflowError) as error:
                why = " ".join(str(error).split())
                raise RequestError(
                    f"the optimiser's saved state is damaged: {why}; without the file "
                    "checkpoint/optimizer.safetensors the run goes on from its history"
                ) from error

    def tell_and_ask(
        self, told: EvaluatedBatch | None, wanted: BatchRequest | None, *, keep: bool = False
    ) -> OptimizerReply:
        """Tell, keep the state if `keep`, and ask."""
        with self._one_thread():
            optimizer, start = self._optimizer, time.perf_counter()
            best: Float | None = None
            beliefs: Mapping[str, float] = {}
            if told is not None:
                points = self._asked if told.candidates is None else told.candidates
                if points is None:
                    raise RunError("the optimiser was told of a batch that it was never asked for")
                if self._nodes is not None:
                    self._nodes.tell_nodes(points, told.returns, told.stderrs, told.nodes)
                else:
                    optimizer.tell(points, told.returns, told.stderrs)
                best = np.array(optimizer.best(), dtype=np.float64)
            if self._explaining is not None and (told is not None or wanted is None):
                beliefs = self._explaining.explain()
            tell_s = time.perf_counter() - start
            state = optimizer.state_dict() if keep else None
            start, episodes, rows = time.perf_counter(), None, None
            if wanted is not None:
                if self._paced is not None:
                    self._paced.pace(wanted.spent)
                self._asked = np.array(optimizer.ask(wanted.q), dtype=np.float64)
                if self._sharing is not None:
                    rows = _checked_rows(self._sharing.episode_rows(), wanted.q)
                if wanted.episodes is not None and self._saving is not None:
                    episodes = self._saving.episodes(wanted.episodes)
                    if not 1 <= episodes <= wanted.episodes:
                        said = f"the optimiser wants {episodes} episodes a candidate; expected"
                        raise RunError(f"{said} from 1 to the {wanted.episodes} that are planned")
            return OptimizerReply(
                best=best,
                beliefs={name: float(value) for name, value in beliefs.items()},
                state=state,
                candidates=self._asked if wanted is not None else None,
                episodes=episodes,
                episode_rows=rows,
                ask_s=time.perf_counter() - start,
                tell_s=tell_s,
            )

    def close(self) -> None:
        """Nothing to release."""


def _checked_rows(rows: NDArray[np.int64], q: int) -> NDArray[np.int64]:
    """Return the rows [q] of common episodes; RunError if one is behind its candidate."""
    if rows.shape != (q,) or (rows < 0).any() or (rows > np.arange(q)).any():
        said = f"the optimiser shares episodes by rows {rows.tolist()}; expected"
        raise RunError(f"{said} {q}, each from 0 to its own")
    return rows


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
                a rebuilt optimiser asks for the same. Else it is told of them alone.
        """
        self._asked_alike = asked_alike
        self._build, self._losses, self._note = build, losses, note
        self._state, self._since = state, list(since)
        self._session: OptimizerSession | None = None
        self._asked: tuple[BatchRequest, Float] | None = None
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
            self._state, self._since = state, []

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
        asked_alike: whether it is asked for them again, as before.
    Raises:
        RunError: it asks for other candidates than it did.
    """
    same = True
    for batch in batches:
        candidates: Float | None = batch.candidates
        if batch.kind is Kind.SEARCH and asked_alike:
            wanted = BatchRequest(q=len(batch.candidates), spent=batch.spent)
            asked = session.tell_and_ask(None, wanted).candidates
            same = _same(asked, batch.candidates, f"batch {batch.index}") and same
            candidates = None
        told = EvaluatedBatch(
            candidates=candidates,
            returns=batch.observed_means,
            stderrs=batch.observed_stderrs,
            nodes=batch.nodes,
        )
        session.tell_and_ask(told, None)
    return same


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
