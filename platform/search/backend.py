"""The backend of a search: where episodes run and where the optimiser is held."""

import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any, Final, Protocol

from rolecast.core.errors import RequestError, RunError
from rolecast.core.signals import signals_given_back
from rolecast.core.threads import available_cores
from rolecast.envs.rewards.task import compiled_simulator, simulator_threads
from rolecast.platform.optimizers.protocol import OptimizerConfig
from rolecast.platform.rollout.chunks import Chunk, ChunkResult
from rolecast.platform.rollout.evaluator import Evaluator, Stream
from rolecast.platform.rollout.local_evaluator import LocalEvaluator
from rolecast.platform.search.planning.plan import Plan
from rolecast.platform.search.progress import ProgressSnapshot
from rolecast.platform.search.session import LocalSession, OptimizerSession

RAY_BACKEND: Final = "rolecast.platform.actors.ray_backend"
"""Module of `RayBackend`; beside this room, so it is found by name, and loads Ray."""


WORTH_WORKERS_S: Final = 30.0
"""Time of computing after which slow episodes get workers: some three times what their start costs,
of which no more can be lost if the search ends then."""

HEAVY_BATCH_S: Final = 0.3
"""Least duration of a batch for which workers start without being asked for."""


MOST_SIMULATOR_THREADS: Final = 4
"""Cores up to which a robot stays on threads; more were not measured."""


class Backend(Protocol):
    """Evaluator and optimiser of one search, in this process or on Ray."""

    @property
    def evaluator(self) -> Evaluator:
        """Runs episodes."""

    @property
    def workers(self) -> int:
        """Ray workers; 0: all runs in this process."""

    @property
    def losses(self) -> tuple[type[Exception], ...]:
        """Errors that mean that the optimiser's process is gone and can be replaced."""

    def optimizer(self, config: OptimizerConfig, *, dimension: int, seed: int) -> OptimizerSession:
        """Return a new optimiser; one before is forgotten."""

    def export(self, run: str, figures: ProgressSnapshot) -> None:
        """Show where the search of this folder stands to whoever watches the cluster."""

    def close(self) -> None:
        """End all that it started."""


class LocalBackend:
    """Everything in this process, without Ray."""

    losses: tuple[type[Exception], ...] = ()
    workers = 0

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator

    def optimizer(self, config: OptimizerConfig, *, dimension: int, seed: int) -> OptimizerSession:
        """Return a new optimiser."""
        return LocalSession(config, dimension=dimension, seed=seed)

    def export(self, run: str, figures: ProgressSnapshot) -> None:
        """Show nothing: there is no cluster."""

    def close(self) -> None:
        """End the threads."""
        self.evaluator.close()


def backend_for(plan: Plan, note: Callable[[str], None] = lambda _: None) -> Backend:
    """Return the backend of a search: this process, or actors on Ray.

    Args:
        plan: of the search. Without a number of workers or an address, and outside a cluster, the
            search begins in this process, and takes workers where they pay (`AutomaticBackend`).
        note: tells the user where episodes run.
    Raises:
        RequestError: the cluster cannot be reached.
    """
    config = plan.config
    patience = config.patience(note)
    # Asked for its metrics, a compiled task plays by its batched form: one batch at a time.
    threaded = plan.compiled or compiled_simulator(plan.task) is not None
    threads = config.threads if threaded else 1
    here = LocalEvaluator(plan.task, plan.policy, threads, patience=patience)
    if config.workers == 0:
        return LocalBackend(here)
    alone = config.workers is None and config.address is None and not _in_a_cluster()
    # A stream cannot change hands: an asynchronous search of slow episodes has workers at once.
    if alone and (plan.compiled or not config.asynchronous):
        return AutomaticBackend(plan, here, note)
    alike = plan.compiled and not config.asynchronous
    return _ray_backend(
        plan,
        config.workers,
        here=here if plan.compiled else None,
        alike=alike,
        note=note,
        optimizer=plan.optimizer,
    )


class AutomaticBackend(LocalBackend):
    """This process, and Ray workers for the episodes once these have taken some time.

    A compiled task stays on threads, and on a few cores a robot: workers would share the same
    cores. The optimiser stays here. Whoever computes, the history is the same.
    """

    def __init__(self, plan: Plan, evaluator: Evaluator, note: Callable[[str], None]) -> None:
        super().__init__(evaluator)
        self._backend: Backend | None = None
        threads = evaluator.workers if plan.compiled else simulator_threads(plan.task)
        few = threads == available_cores() <= MOST_SIMULATOR_THREADS
        asked = plan.config.threads is not None
        if plan.compiled or (compiled_simulator(plan.task) is not None and (few or asked)):
            note(f"episodes run on {threads} threads of this process; Ray would not be faster here")
        elif available_cores() > 1:
            self.evaluator = _Growing(evaluator, self._start_workers)
        self._plan, self._note = plan, note

    def _start_workers(self, here: Evaluator) -> Evaluator:
        """Start Ray workers; return what computes here until one is there, and then by them.

        Where they cannot start, what is there goes on.
        """
        try:
            self._backend = _ray_backend(self._plan, None, here=here, note=self._note)
        except (RequestError, RunError) as error:
            self._note(f"workers cannot start ({error}); episodes stay here")
            return here
        self.workers, evaluator = self._backend.workers, self._backend.evaluator
        self._note(f"episodes are slow: Ray starts {available_cores()} workers for them")
        return evaluator

    def export(self, run: str, figures: ProgressSnapshot) -> None:
        """Show it where workers were started."""
        if self._backend is not None:
            self._backend.export(run, figures)

    def close(self) -> None:
        """End what was started."""
        if self._backend is not None:
            self._backend.close()
        super().close()


class _Growing:
    """Computes here until workers are worth their start; they take over when one is there."""

    def __init__(self, here: Evaluator, start: Callable[[Evaluator], Evaluator]) -> None:
        self._here, self._start = here, start
        self._now = here
        self._started, self._spent_s = False, 0.0

    @property
    def workers(self) -> int:
        """Processes or threads that compute."""
        return self._now.workers

    @property
    def nodes(self) -> Mapping[str, int]:
        """Machine to its workers."""
        return self._now.nodes

    @property
    def busy_s(self) -> float:
        """Seconds so far, here and by workers."""
        return self._now.busy_s

    def evaluate(self, chunks: Sequence[Chunk]) -> list[ChunkResult]:
        """Compute all chunks."""
        start = time.monotonic()
        results = self._now.evaluate(chunks)
        took = time.monotonic() - start
        self._spent_s += took
        if not self._started and self._spent_s > WORTH_WORKERS_S and took > HEAVY_BATCH_S:
            self._started = True
            self._now = self._start(self._here)
        return results

    def stream(self) -> Stream:
        """Return a stream of whoever computes now."""
        return self._now.stream()

    def close(self) -> None:
        """End the threads; the workers are ended with their backend."""
        self._here.close()


def _ray_backend(plan: Plan, workers: int | None, **options: Any) -> Backend:
    with signals_given_back():
        backend: Backend = import_module(RAY_BACKEND).RayBackend(
            plan.source,
            plan.config.task_options,
            plan.policy,
            workers=workers,
            address=plan.config.address,
            step_timeout=plan.config.step_timeout,
            forgives=plan.config.forgives,
            **options,
        )
    return backend


def _in_a_cluster() -> bool:
    """Return whether this process belongs to a Ray cluster, as a submitted job does."""
    ray = sys.modules.get("ray")
    return bool(os.environ.get("RAY_ADDRESS")) or (ray is not None and ray.is_initialized())
