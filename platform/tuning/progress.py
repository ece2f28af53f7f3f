"""What a comparison shows while it runs: a live view on a terminal, plain lines elsewhere."""

import time
from collections.abc import Callable
from typing import IO, Final

from rich.progress_bar import ProgressBar
from rich.table import Table

from rolecast.core import terminal
from rolecast.core.terminal import clock_time
from rolecast.platform.tuning.status import ComparisonStatus

LINE_INTERVAL_S: Final = 5.0
"""Least time between two plain lines that say how far it is."""


ComparisonProgress = terminal.Progress[ComparisonStatus]
"""Shows a comparison to someone."""

Silent = terminal.SilentProgress[ComparisonStatus]


class PlainLines(terminal.PlainLines[ComparisonStatus]):
    """A line for each trial that ends, and one every few seconds: for logs and pipes."""

    def __init__(self, stream: IO[str], clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(stream, line, interval_s=LINE_INTERVAL_S, clock=clock)
        self._told: dict[str, str] = {}

    def update(self, figures: ComparisonStatus, /) -> None:
        """Write what has ended since, and now and then where it all stands."""
        first = not self._told
        for trial in figures.trials:
            name, status = trial.plan.trial, trial.status
            if status in {"ok", "failed"} and self._told.get(name) != status and not first:
                self.note(_ended(name, trial.failure, trial.record.rows))
            self._told[name] = status
        super().update(figures)


def live_view(stream: IO[str]) -> terminal.LiveTable[ComparisonStatus]:
    """Return a table that follows the comparison, on a terminal."""
    return terminal.LiveTable(stream, _table, per_second=4)


def progress_for(stream: IO[str]) -> ComparisonProgress:
    """Return the live view if the stream is a terminal, else plain lines."""
    return live_view(stream) if stream.isatty() else PlainLines(stream)


def line(standing: ComparisonStatus) -> str:
    """Return where a comparison stands on one line; who is `ahead` is `ComparisonStatus.ahead`."""
    ahead = "; ".join(
        f"{task} {reward}: {leader}" for (task, reward), leader in standing.ahead().items()
    )
    return f"{_counts(standing)}  ahead {ahead or '-'}  left {clock_time(standing.seconds_left())}"


def _counts(standing: ComparisonStatus) -> str:
    return (
        f"{standing.count('ok')} of {len(standing.trials)} trials done, "
        f"{standing.busy} running, {standing.count('failed')} failed"
    )


def _ended(name: str, failure: str | None, rows: list[dict[str, float]]) -> str:
    if failure is not None:
        return f"{name} failed: {failure}"
    return f"{name}: held-out return {rows[-1]['test_return']:.1f}"


def _table(standing: ComparisonStatus) -> Table:
    points = standing.experiment.points * max(len(standing.trials), 1)
    table = Table.grid(padding=(0, 2))
    bar = ProgressBar(total=1.0, completed=1.0 - standing.points_left / points, width=40)
    table.add_row("spent", bar)
    table.add_row("trials", _counts(standing))
    for (task, reward), leader in standing.ahead().items():
        table.add_row(f"ahead, {task} {reward}", str(leader))
    for trial in standing.trials:
        if trial.busy:
            table.add_row(trial.plan.trial, f"{trial.point / standing.experiment.points:.0%}")
    for name, why in standing.failures().items():
        table.add_row(name, f"failed: {why}")
    table.add_row("left", clock_time(standing.seconds_left()))
    return table
