"""What a search shows while it runs: a live view on a terminal, plain lines elsewhere."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import IO, Final, Protocol

from rich.progress_bar import ProgressBar
from rich.table import Table

from rolecast.core.terminal import LiveTable, clock_time, write_line

LINE_INTERVAL_S: Final = 1.0
"""Least time between two plain lines."""


@dataclass(frozen=True, kw_only=True)
class ProgressSnapshot:
    """Where a search stands after a batch."""

    batch: int
    """Batches done."""

    evaluations: int
    """Evaluations done."""

    env_steps: int
    """Steps of all episodes."""

    spent: float
    """Share of the budget used, in [0, 1]."""

    best_return: float
    """Highest mean return of an evaluation, as measured: a lucky draw among them."""

    best_stderr: float | None
    """Its standard error; None for single episodes."""

    incumbent_return: float | None
    """What the incumbent earns, measured or as the optimiser believes; None if it cannot say."""

    incumbent_stderr: float | None
    """Its standard error."""

    env_steps_per_s: float
    """Since the first batch of this process' part of the search."""

    ask_s: float
    """Seconds in `ask` of the last batch."""

    tell_s: float
    """Seconds in `tell` of the last batch."""

    wall_time_s: float
    """Seconds of searching, earlier parts of a resumed run included."""

    time_left_s: float | None
    """Seconds that the rest will take at this speed."""


class Progress(Protocol):
    """Shows a search to someone."""

    def start(self, title: str) -> None:
        """Begin; the title says what is searched, and with which budget."""

    def update(self, figures: ProgressSnapshot) -> None:
        """Show where the search stands."""

    def note(self, text: str) -> None:
        """Show a sentence about something that happened."""

    def finish(self, text: str) -> None:
        """End with a sentence."""


class Silent:
    """Shows nothing."""

    def start(self, title: str) -> None:
        """Show nothing."""

    def update(self, figures: ProgressSnapshot) -> None:
        """Show nothing."""

    def note(self, text: str) -> None:
        """Show nothing."""

    def finish(self, text: str) -> None:
        """Show nothing."""


@dataclass
class PlainLines:
    """One line at most a second: for logs and pipes."""

    stream: IO[str]
    """Where the lines go."""

    clock: Callable[[], float] = time.monotonic
    """Seconds."""

    _next: float = field(default=0.0, init=False)
    _held: ProgressSnapshot | None = field(default=None, init=False)

    def start(self, title: str) -> None:
        """Write the title."""
        write_line(self.stream, title)

    def update(self, figures: ProgressSnapshot) -> None:
        """Write a line, unless the last was less than a second ago."""
        now = self.clock()
        if now < self._next:
            self._held = figures
            return
        self._next, self._held = now + LINE_INTERVAL_S, None
        write_line(self.stream, line(figures))

    def note(self, text: str) -> None:
        """Write a sentence."""
        write_line(self.stream, text)

    def finish(self, text: str) -> None:
        """Write the last figures, where they were held back, and a sentence."""
        if self._held is not None:
            write_line(self.stream, line(self._held))
            self._held = None
        write_line(self.stream, text)


class LiveView(LiveTable):
    """A table that follows the search, on a terminal."""

    def __init__(self, stream: IO[str]) -> None:
        super().__init__(stream, per_second=8)

    def update(self, figures: ProgressSnapshot) -> None:
        """Show the figures."""
        self.show(_table(figures))


def progress_for(stream: IO[str]) -> Progress:
    """Return the live view if the stream is a terminal, else plain lines."""
    return LiveView(stream) if stream.isatty() else PlainLines(stream)


def line(figures: ProgressSnapshot) -> str:
    """Return the figures on one line."""
    return (
        f"{figures.spent:4.0%}  {figures.evaluations} evaluations  {figures.env_steps} env steps  "
        f"best {_value(figures.best_return, figures.best_stderr)}  "
        f"incumbent {_value(figures.incumbent_return, figures.incumbent_stderr)}  "
        f"{_count(figures.env_steps_per_s)} env-steps/s  "
        f"ask {figures.ask_s:.2f} s  tell {figures.tell_s:.2f} s  "
        f"left {clock_time(figures.time_left_s)}"
    )


def _table(figures: ProgressSnapshot) -> Table:
    rows = (
        ("evaluations", f"{figures.evaluations:,}   ({figures.env_steps:,} env steps)"),
        ("best as measured", _value(figures.best_return, figures.best_stderr)),
        ("incumbent", _value(figures.incumbent_return, figures.incumbent_stderr)),
        ("env-steps/s", _count(figures.env_steps_per_s)),
        ("ask, tell", f"{figures.ask_s:.2f} s, {figures.tell_s:.2f} s a batch"),
        ("time", f"{clock_time(figures.wall_time_s)}, {clock_time(figures.time_left_s)} left"),
    )
    table = Table.grid(padding=(0, 2))
    table.add_row("spent", ProgressBar(total=1.0, completed=figures.spent, width=40))
    for name, value in rows:
        table.add_row(name, value)
    return table


def _value(value: float | None, stderr: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:.1f}" if stderr is None else f"{value:.1f} ± {stderr:.1f}"


def _count(value: float) -> str:
    for size, letter in ((1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:.1f}{letter}"
    return f"{value:.0f}"
