"""Tells of every batch: to TensorBoard, to the live view, and to whoever advances the search."""

import time
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.summary.writer.event_file_writer import EventFileWriter

from rolecast.platform.search.budget import Budget, Spent
from rolecast.platform.search.history import Batch
from rolecast.platform.search.metrics import batch_metrics
from rolecast.platform.search.progress import Figures, Progress
from rolecast.platform.search.scoreboard import Scoreboard
from rolecast.platform.search.session import OptimizerReply


class Reporter:
    """Keeps what reports need beside the last batch."""

    def __init__(
        self, events: Path, progress: Progress, budget: Budget, batches: list[Batch]
    ) -> None:
        self._folder, self._progress, self._budget = events, progress, budget
        self._events: Events | None = None
        self._scores = Scoreboard()
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

    def _figures(self, batch: Batch, reply: OptimizerReply) -> Figures:
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
        return Figures(
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
