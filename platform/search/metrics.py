"""The one metric vocabulary of every trial, and its way into TensorBoard."""

import time
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final

import numpy as np
from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.summary.writer.event_file_writer import EventFileWriter

from rolecast.platform.search.history import Batch

VOCABULARY: Final[Mapping[str, str]] = MappingProxyType(
    {
        "env_steps": "steps of all episodes so far; a joint step of n agents is one",
        "policy_evaluations": "candidates evaluated so far",
        "episode_return_mean": "mean return over the episodes of the last batch, as earned",
        "episode_return_stderr": "its standard error over the candidates of the batch",
        "observed_return_mean": "the same as paid to the learner by the task's reward settings",
        "best_return": "highest mean return of an evaluation so far, as it was measured",
        "test_return": "the incumbent on seeds that no search has seen; at the end only",
        "wall_time_s": "seconds of searching",
    }
)
"""Name to meaning."""


def batch_metrics(
    last: Batch, *, best_return: float, beliefs: Mapping[str, float]
) -> dict[str, float]:
    """Return the figures after a batch.

    Args:
        last: the batch.
        best_return: highest mean return of an evaluation so far.
        beliefs: what the optimiser explains; reported as `optimizer/<name>`.
    """
    means, spent = last.means, last.spent_after
    metrics = {
        "env_steps": spent.env_steps,
        "policy_evaluations": spent.evaluations,
        "episode_return_mean": float(means.mean()),
        "observed_return_mean": float(last.observed_means.mean()),
        "best_return": best_return,
        "wall_time_s": last.wall_time_s,
    }
    if means.size > 1:
        metrics["episode_return_stderr"] = float(means.std(ddof=1) / np.sqrt(means.size))
    return metrics | {f"optimizer/{name}": value for name, value in beliefs.items()}


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
