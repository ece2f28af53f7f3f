"""The session of an optimiser: one call a batch.

A call tells a batch, asks for the incumbent, keeps the state on request, and asks for the next
batch, always in this order: a state and the batches after it therefore repeat the search.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from rolecast.core.errors import RequestError, RunError
from rolecast.core.threads import OneThread
from rolecast.core.types import Float
from rolecast.platform.optimizers.observations import asked_points
from rolecast.platform.optimizers.protocol import (
    Explains,
    KeepsPending,
    ObservesNodes,
    OptimizerConfig,
    Paced,
    SavesEpisodes,
    SharesEpisodes,
)


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

    def forget_pending(self) -> None:
        """Count on no candidate that was asked for and not told."""

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
        self._dimension = dimension

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

    def forget_pending(self) -> None:
        """Count on no candidate that was asked for and not told."""
        if isinstance(self._optimizer, KeepsPending):
            self._optimizer.forget_pending()

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
                self._asked = asked_points(optimizer.ask(wanted.q), (wanted.q, self._dimension))
                if self._sharing is not None:
                    rows = _checked_rows(self._sharing.episode_rows(), wanted.q)
                if wanted.episodes is not None and self._saving is not None:
                    episodes = self._saving.episodes(wanted.episodes)
                    if not 1 <= episodes <= wanted.episodes:
                        said = f"the optimiser asks for {episodes} episodes a candidate; expected"
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
