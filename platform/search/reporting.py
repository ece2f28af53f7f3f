"""Tells of every batch: to TensorBoard, to the live view, and to whoever advances the search."""

import hashlib
import time
from array import array
from collections.abc import Mapping
from dataclasses import replace
from math import sqrt
from pathlib import Path
from typing import Final

import numpy as np
from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.summary.writer.event_file_writer import EventFileWriter

from rolecast.core.disk import LOCAL_DISK
from rolecast.core.rounding import mean_and_error
from rolecast.core.types import Float
from rolecast.platform.search.backend import Backend
from rolecast.platform.search.planning.budget import Budget
from rolecast.platform.search.progress import Progress, ProgressSnapshot
from rolecast.platform.search.records.batch_summary import BatchSummary
from rolecast.platform.search.records.history import Batch, Kind
from rolecast.platform.search.records.metrics import batch_metrics
from rolecast.platform.search.records.run_folder import RunFolder
from rolecast.platform.search.session import OptimizerReply

STATUS_INTERVAL_S: Final = 1.0
"""Least time between two writes of the status."""

START_S: Final = 60.0
"""Time up to which a first batch foretells nothing: it may be start and compiling."""

Estimate = tuple[float, float | None]
"""A mean return and its standard error, None where it is not known."""


class Reporter:
    """Keeps what reports need beside the last batch."""

    def __init__(
        self,
        folder: RunFolder,
        progress: Progress,
        budget: Budget,
        backend: Backend,
        scores: "CandidateStats",
        seen: BatchSummary,
    ) -> None:
        """Report nothing yet; `seen` are the batches before, which `scores` has, too."""
        self._clock = folder.clock
        self._folder, self._progress, self._budget = folder, progress, budget
        self._backend = backend
        self._status: ProgressSnapshot | None = None
        self._written = float("-inf")
        self._events: Events | None = None
        self._scores = scores
        self._since = seen.wall_time_s, seen.spent, self._clock()
        self._batches_seen = 0

    def batch(
        self,
        batch: Batch,
        reply: OptimizerReply,
        task_metrics: Mapping[str, float],
        *,
        workers_wait: float,
    ) -> dict[str, float]:
        """Report a batch; return its metrics (`METRIC_VOCABULARY` and extras).

        Args:
            batch: evaluated last.
            reply: of the optimiser, which was told it.
            task_metrics: the task's own.
            workers_wait: share of the time in which no episode ran.
        """
        self._scores.add(batch)
        metrics = batch_metrics(
            batch,
            budget=self._budget,
            best_return=self._scores.best[0],
            beliefs=reply.beliefs,
        )
        metrics |= {f"task/{name}": value for name, value in task_metrics.items()}
        self.write(metrics)
        figures = self._figures(batch, reply)
        nodes = self._backend.evaluator.nodes
        self._status = replace(figures, workers_wait=workers_wait, workers=nodes)
        self._progress.update(self._status)
        self._backend.export(str(self._folder.path), self._status)
        if self._clock() - self._written > STATUS_INTERVAL_S:
            self._write_status()
        return metrics

    def write(self, metrics: Mapping[str, float]) -> None:
        """Write metrics to TensorBoard."""
        if self._folder.disk is not LOCAL_DISK:
            return  # TensorBoard writes to the file system of this machine alone
        if self._events is None:
            self._events = Events(self._folder.events_folder)
        self._events.write(metrics)

    def close(self) -> None:
        """Write what is held back."""
        self._write_status()
        if self._events is not None:
            self._events.close()
            self._events = None

    def _write_status(self) -> None:
        if self._status is not None:
            self._folder.write_status({**vars(self._status), "time": time.time()})
            self._written = self._clock()

    def _figures(self, batch: Batch, reply: OptimizerReply) -> ProgressSnapshot:
        spent = batch.spent_after
        share = self._budget.share(spent)
        now = batch.wall_time_s
        begun, before, waited_from = self._since
        done = share - self._budget.share(before)
        running = max(now - begun, 1e-9)
        waited = self._clock() - waited_from  # with the time of loggers, which a user waits for too
        foretold = done > 0
        if self._batches_seen == 0:  # it started processes and loaded kernels, as no later one will
            self._since = now, spent, self._clock()
            foretold = foretold and waited > START_S
        self._batches_seen += 1
        # The optimiser's estimates are of rewards as paid, so they are no scores if they differ.
        beliefs = reply.beliefs if batch.paid_as_earned else {}
        incumbent: tuple[float | None, float | None]
        if batch.kind is Kind.CONFIRM:  # an evaluation by which it was chosen would flatter it
            incumbent = mean_and_error(batch.incumbent_returns)
        else:
            incumbent = self._scores.observed(batch.incumbent) or _believed(beliefs)
        return ProgressSnapshot(
            batch=batch.index + 1,
            evaluations=spent.evaluations,
            env_steps=self._budget.env_steps(spent),
            spent=share,
            best_return=self._scores.best[0],
            best_stderr=self._scores.best[1],
            incumbent_return=incumbent[0],
            incumbent_stderr=incumbent[1],
            env_steps_per_s=(spent.env_steps - before.env_steps) / running,
            ask_s=reply.ask_s,
            tell_s=reply.tell_s,
            wall_time_s=batch.wall_time_s,
            time_left_s=waited * (1.0 - share) / done if foretold else None,
        )


def _believed(beliefs: Mapping[str, float]) -> tuple[float | None, float | None]:
    """Return the optimiser's estimate of its incumbent and the standard error, if it has them."""
    return beliefs.get("incumbent_mean"), beliefs.get("incumbent_stderr")


class Events:
    """Writes metrics as TensorBoard events, with env steps on the axis.

    By TensorBoard's own writer: the two usual ones load all of torch first.
    """

    def __init__(self, folder: Path) -> None:
        self._writer = EventFileWriter(str(folder), flush_secs=10)

    def write(self, metrics: Mapping[str, float]) -> None:
        """Add one point to every curve."""
        values = [
            Summary.Value(tag=name, simple_value=value)
            for name, value in metrics.items()
            if name != "env_steps" and np.isfinite(value)
        ]
        self._writer.add_event(
            Event(
                wall_time=time.time(),
                step=int(metrics["env_steps"]),
                summary=Summary(value=values),
            )
        )

    def close(self) -> None:
        """Write what is held back."""
        self._writer.close()


class CandidateStats:
    """Sums of the returns of each candidate; exact repeats of a candidate count together."""

    def __init__(self) -> None:
        # Arrays beside the places of their rows: a tuple of each candidate takes twice as much.
        self._places: dict[int, int] = {}
        self._counts, self._shifts = array("q"), array("d")
        self._totals, self._squares = array("d"), array("d")
        self.best: Estimate = (float("-inf"), None)
        """Highest mean of one evaluation."""

    def add(self, batch: Batch) -> None:
        """Take in a batch."""
        means, stderrs, returns = batch.means, batch.stderrs, batch.episode_returns
        for candidate, earned in zip(batch.candidates, returns, strict=True):
            place = self._places.setdefault(_key(candidate), len(self._counts))
            if place == len(self._counts):
                # Sums of differences from a first mean: large returns would cancel in others.
                self._shifts.append(float(earned.mean()))
                for column in (self._counts, self._totals, self._squares):
                    column.append(0)
            differences = earned - self._shifts[place]
            self._counts[place] += len(earned)
            self._totals[place] += float(differences.sum())
            self._squares[place] += float((differences**2).sum())
        row = int(means.argmax())
        if means[row] > self.best[0]:
            self.best = (float(means[row]), None if stderrs is None else float(stderrs[row]))

    def observed(self, candidate: Float) -> Estimate | None:
        """Return the estimate from all episodes of a candidate [D]; None if it never ran."""
        place = self._places.get(_key(candidate))
        if place is None:
            return None
        count, total, squares = self._counts[place], self._totals[place], self._squares[place]
        offset = total / count
        mean = self._shifts[place] + offset
        if count == 1:
            return mean, None
        variance = max(0.0, squares - count * offset**2) / (count - 1)
        return mean, sqrt(variance / count)


def _key(candidate: Float) -> int:
    return int.from_bytes(hashlib.blake2b(candidate.tobytes(), digest_size=8).digest())


def time_shares(
    *, whole: float, evaluating: float, rollouts: float, optimizer: float
) -> dict[str, float]:
    """Return where the time of a search went, as shares.

    Args:
        whole: seconds.
        evaluating: those in which a batch was evaluated, or an episode of those under way ran.
        rollouts: those in which the most loaded worker computed; of an asynchronous search, in
            which the optimiser works beside episodes, the mean over workers.
        optimizer: those of the optimiser.
    Returns:
        `rollouts`, `optimizer` and `ray_and_other` add up to 1, so `optimizer` is at most what
        rollouts leave; `workers_wait` is the share of the time in which no episode ran anywhere.
        Nothing where no batch was evaluated.
    """
    if not evaluating:
        return {}
    whole = max(whole, 1e-9)
    rollouts = min(rollouts, whole)
    known = {"rollouts": rollouts / whole, "optimizer": min(optimizer, whole - rollouts) / whole}
    return {
        **known,
        "ray_and_other": max(0.0, 1.0 - sum(known.values())),
        "workers_wait": max(0.0, 1.0 - evaluating / whole),
    }
