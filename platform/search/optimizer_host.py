"""Holds the optimiser of a search, and advances it by one exchange a batch.

One exchange tells a batch, asks for the incumbent, keeps the state where that is wanted, and asks
for the next batch, always in this order: so a state and the batches after it repeat the search.
"""

import time
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from rolecast.core.errors import RunError
from rolecast.core.threads import OneThread
from rolecast.core.types import Float
from rolecast.platform.optimizers.protocol import Explains, OptimizerConfig, Paced, SavesEpisodes


@dataclass(frozen=True, kw_only=True, eq=False)
class Told:
    """A batch that was evaluated."""

    returns: Float
    """[q], as paid by the task's reward settings."""

    stderrs: Float | None
    """[q], or None where single episodes say nothing of it."""

    candidates: Float | None = None
    """[q, D]; None for those that were asked last, which the host has kept."""


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """A batch to ask for."""

    q: int
    """Its size."""

    spent: float
    """Share of the budget spent so far."""

    episodes: int | None = None
    """Episodes planned for each candidate, where the optimiser may do with fewer."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Reply:
    """What the optimiser answered."""

    best: Float | None = None
    """[D], the incumbent; None if nothing was told."""

    beliefs: dict[str, float] = field(default_factory=dict)
    """What the optimiser explains of itself."""

    state: dict[str, Any] | None = None
    """All that decides its future answers, after telling and before asking."""

    candidates: Float | None = None
    """[q, D], where a batch was wanted."""

    episodes: int | None = None
    """E of that batch; None where the optimiser has no say."""

    ask_s: float = 0.0
    """Seconds in `ask`."""

    tell_s: float = 0.0
    """Seconds in `tell` and `best`."""


class Host(Protocol):
    """An optimiser, in this process or in another."""

    def restore(self, state: dict[str, Any]) -> None:
        """Continue from a state."""

    def exchange(self, told: Told | None, wanted: Wanted | None, *, keep: bool = False) -> Reply:
        """Tell, keep the state if `keep`, and ask."""

    def close(self) -> None:
        """Release what it holds."""


class OptimizerHost:
    """An optimiser in this process, computing with one thread wherever that is."""

    def __init__(self, config: OptimizerConfig, *, dimension: int, seed: int) -> None:
        self._one_thread = OneThread()
        with self._one_thread():
            self._optimizer = config.build(dimension=dimension, seed=seed)
        self._asked: Float | None = None

    def restore(self, state: dict[str, Any]) -> None:
        """Continue from a state.

        Raises:
            RunError: it is not one of this optimiser, or of another version of it.
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

    def exchange(self, told: Told | None, wanted: Wanted | None, *, keep: bool = False) -> Reply:
        """Tell, keep the state if `keep`, and ask."""
        with self._one_thread():
            return self._exchange(told, wanted, keep=keep)

    def close(self) -> None:
        """Nothing to release."""

    def _exchange(self, told: Told | None, wanted: Wanted | None, *, keep: bool) -> Reply:
        optimizer, start = self._optimizer, time.perf_counter()
        best, beliefs = None, {}
        if told is not None:
            points = self._asked if told.candidates is None else told.candidates
            if points is None:
                raise RunError("the optimiser was told of a batch that it was never asked for")
            optimizer.tell(points, told.returns, told.stderrs)
            best = np.array(optimizer.best(), dtype=np.float64)
            beliefs = optimizer.explain() if isinstance(optimizer, Explains) else {}
        tell_s = time.perf_counter() - start
        state = optimizer.state_dict() if keep else None
        start, episodes = time.perf_counter(), None
        if wanted is not None:
            if isinstance(optimizer, Paced):
                optimizer.pace(wanted.spent)
            self._asked = np.array(optimizer.ask(wanted.q), dtype=np.float64)
            if wanted.episodes is not None and isinstance(optimizer, SavesEpisodes):
                episodes = optimizer.episodes(wanted.episodes)
                if not 1 <= episodes <= wanted.episodes:
                    expected = f"from 1 to the {wanted.episodes} that are planned"
                    raise RunError(
                        f"the optimiser wants {episodes} episodes a candidate; expected {expected}"
                    )
        return Reply(
            best=best,
            beliefs={name: float(value) for name, value in beliefs.items()},
            state=state,
            candidates=self._asked if wanted is not None else None,
            episodes=episodes,
            ask_s=time.perf_counter() - start,
            tell_s=tell_s,
        )
