"""Tells of every batch: to TensorBoard, to the live view, and to whoever advances the search."""

import hashlib
import time
from collections.abc import Mapping
from math import sqrt
from pathlib import Path

import numpy as np
from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.summary.writer.event_file_writer import EventFileWriter

from rolecast.core.types import Float
from rolecast.platform.search.budget import Budget, Spent
from rolecast.platform.search.history import Batch
from rolecast.platform.search.metrics import batch_metrics
from rolecast.platform.search.progress import Progress, ProgressSnapshot
from rolecast.platform.search.session import OptimizerReply

Estimate = tuple[float, float | None]
"""A mean return and its standard error, None where it is not known."""


class Reporter:
    """Keeps what reports need beside the last batch."""

    def __init__(
        self, events: Path, progress: Progress, budget: Budget, batches: list[Batch]
    ) -> None:
        self._folder, self._progress, self._budget = events, progress, budget
        self._events: Events | None = None
        self._scores = CandidateStats()
        for batch in batches:
            self._scores.add(batch)
        self._since = time.monotonic(), batches[-1].spent_after if batches else Spent()
        self._batches_seen = 0

    def batch(
        self, batch: Batch, reply: OptimizerReply, task_metrics: Mapping[str, float]
    ) -> dict[str, float]:
        """Report a batch; return its metrics (`METRIC_VOCABULARY` and extras)."""
        self._scores.add(batch)
        metrics = batch_metrics(batch, best_return=self._scores.best[0], beliefs=reply.beliefs)
        metrics |= {f"task/{name}": value for name, value in task_metrics.items()}
        self.write(metrics)
        self._progress.update(self._figures(batch, reply))
        return metrics

    def write(self, metrics: Mapping[str, float]) -> None:
        """Write metrics to TensorBoard."""
        if self._events is None:
            self._events = Events(self._folder)
        self._events.write(metrics)

    def close(self) -> None:
        """Write what is held back."""
        if self._events is not None:
            self._events.close()
            self._events = None

    def _figures(self, batch: Batch, reply: OptimizerReply) -> ProgressSnapshot:
        spent = batch.spent_after
        share = self._budget.share(spent)
        now = time.monotonic()
        begun, before = self._since
        done = share - self._budget.share(before)
        running = max(now - begun, 1e-9)
        if self._batches_seen == 0:  # it started processes and loaded kernels, as no later one will
            self._since = now, spent
        self._batches_seen += 1
        # What the optimiser believes is about rewards as paid, so it is no score if they differ.
        beliefs = reply.beliefs if batch.paid_as_earned else {}
        incumbent = self._scores.observed(batch.incumbent) or _believed(beliefs)
        return ProgressSnapshot(
            batch=batch.index + 1,
            evaluations=spent.evaluations,
            env_steps=spent.env_steps,
            spent=share,
            best_return=self._scores.best[0],
            best_stderr=self._scores.best[1],
            incumbent_return=incumbent[0],
            incumbent_stderr=incumbent[1],
            env_steps_per_s=(spent.env_steps - before.env_steps) / running,
            ask_s=reply.ask_s,
            tell_s=reply.tell_s,
            wall_time_s=batch.wall_time_s,
            time_left_s=running * (1.0 - share) / done if done > 0 else None,
        )


def _believed(beliefs: Mapping[str, float]) -> tuple[float | None, float | None]:
    """Return what the optimiser believes of its incumbent, if it says so."""
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
            if np.isfinite(value)
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
        self._sums: dict[bytes, tuple[int, float, float]] = {}
        self.best: Estimate = (float("-inf"), None)
        """Highest mean of one evaluation."""

    def add(self, batch: Batch) -> None:
        """Take in a batch."""
        means, stderrs = batch.means, batch.stderrs
        for row, (candidate, returns) in enumerate(
            zip(batch.candidates, batch.episode_returns, strict=True)
        ):
            key = _key(candidate)
            count, total, squares = self._sums.get(key, (0, 0.0, 0.0))
            self._sums[key] = (
                count + returns.size,
                total + float(returns.sum()),
                squares + float((returns**2).sum()),
            )
            if means[row] > self.best[0]:
                self.best = (float(means[row]), None if stderrs is None else float(stderrs[row]))

    def observed(self, candidate: Float) -> Estimate | None:
        """Return the estimate from all episodes of a candidate [D]; None if it never ran."""
        count, total, squares = self._sums.get(_key(candidate), (0, 0.0, 0.0))
        if count == 0:
            return None
        mean = total / count
        if count == 1:
            return mean, None
        variance = max(0.0, squares - count * mean**2) / (count - 1)
        return mean, sqrt(variance / count)


def _key(candidate: Float) -> bytes:
    return hashlib.blake2b(candidate.tobytes(), digest_size=16).digest()
