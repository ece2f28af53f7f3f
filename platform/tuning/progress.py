"""What a comparison shows while it runs: a live view on a terminal, plain lines elsewhere."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import IO, Final, Protocol

from rich.progress_bar import ProgressBar
from rich.table import Table

from rolecast.core.terminal import LiveTable, clock_time, write_line
from rolecast.platform.tuning.status import ComparisonStatus

LINE_INTERVAL_S: Final = 5.0
"""Least time between two plain lines that say how far it is."""


class ComparisonProgress(Protocol):
    """Shows a comparison to someone."""

    def start(self, title: str) -> None:
        """Begin; the title says what is compared."""

    def update(self, standing: ComparisonStatus, seconds_left: float | None) -> None:
        """Show where it stands."""

    def finish(self, text: str) -> None:
        """End with a sentence."""


class Silent:
    """Shows nothing."""

    def start(self, title: str) -> None:
        """Show nothing."""

    def update(self, standing: ComparisonStatus, seconds_left: float | None) -> None:
        """Show nothing."""

    def finish(self, text: str) -> None:
        """Show nothing."""


@dataclass
class PlainLines:
    """A line for each trial that ends, and one every few seconds: for logs and pipes."""

    stream: IO[str]
    """Where the lines go."""

    clock: Callable[[], float] = time.monotonic
    """Seconds."""

    _next: float = field(default=float("-inf"), init=False)
    _told: dict[str, str] = field(default_factory=dict, init=False)
    _last: str = field(default="", init=False)

    def start(self, title: str) -> None:
        """Write the title."""
        write_line(self.stream, title)

    def update(self, standing: ComparisonStatus, seconds_left: float | None) -> None:
        """Write what has ended since, and now and then where it all stands."""
        first = not self._told
        for trial in standing.trials:
            name, status = trial.plan.trial, trial.status
            if status in {"ok", "failed"} and self._told.get(name) != status and not first:
                write_line(self.stream, _ended(name, trial.failure, trial.record.rows))
            self._told[name] = status
        now, text = self.clock(), line(standing, seconds_left)
        if text != self._last and (now >= self._next or standing.finished):
            self._next, self._last = now + LINE_INTERVAL_S, text
            write_line(self.stream, text)

    def finish(self, text: str) -> None:
        """Write a sentence."""
        write_line(self.stream, text)


class LiveView(LiveTable):
    """A table that follows the comparison, on a terminal."""

    def __init__(self, stream: IO[str]) -> None:
        super().__init__(stream, per_second=4)

    def update(self, standing: ComparisonStatus, seconds_left: float | None) -> None:
        """Show where it stands."""
        self.show(_table(standing, seconds_left))


def progress_for(stream: IO[str]) -> ComparisonProgress:
    """Return the live view if the stream is a terminal, else plain lines."""
    return LiveView(stream) if stream.isatty() else PlainLines(stream)


def line(standing: ComparisonStatus, seconds_left: float | None) -> str:
    """Return where a comparison stands on one line; who is `ahead` is `ComparisonStatus.ahead`."""
    ahead = "; ".join(
        f"{task} {reward}: {method} {value:.1f}"
        for (task, reward), (method, value) in standing.ahead().items()
    )
    return f"{_counts(standing)}  ahead {ahead or '-'}  left {clock_time(seconds_left)}"


def _counts(standing: ComparisonStatus) -> str:
    return (
        f"{standing.count('ok')} of {len(standing.trials)} trials done, "
        f"{standing.busy} running, {standing.count('failed')} failed"
    )


def _ended(name: str, failure: str | None, rows: list[dict[str, float]]) -> str:
    if failure is not None:
        return f"{name} failed: {failure}"
    return f"{name}: held-out return {rows[-1]['test_return']:.1f}"


def _table(standing: ComparisonStatus, seconds_left: float | None) -> Table:
    points = standing.experiment.points * max(len(standing.trials), 1)
    table = Table.grid(padding=(0, 2))
    bar = ProgressBar(total=1.0, completed=1.0 - standing.points_left / points, width=40)
    table.add_row("spent", bar)
    table.add_row("trials", _counts(standing))
    for (task, reward), (method, value) in standing.ahead().items():
        table.add_row(f"ahead, {task} {reward}", f"{method} {value:.1f}")
    for trial in standing.trials:
        if trial.busy:
            table.add_row(trial.plan.trial, f"{trial.point / standing.experiment.points:.0%}")
    for name, why in standing.failures().items():
        table.add_row(name, f"failed: {why}")
    table.add_row("left", clock_time(seconds_left))
    return table
