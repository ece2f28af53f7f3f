"""What a search shows while it runs: a live view on a terminal, plain lines elsewhere."""

import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from sys import float_info
from typing import IO, Any, Final

from rich.progress_bar import ProgressBar
from rich.table import Table

from rolecast.core import terminal
from rolecast.core.errors import RequestError
from rolecast.core.files import read_json
from rolecast.core.rounding import with_error
from rolecast.core.terminal import clock_time

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
    """Steps of all episodes, random play included."""

    spent: float
    """Share of the budget used, in [0, 1]."""

    best_return: float
    """Highest mean return of an evaluation: a maximum of noisy means, the luckiest of them."""

    best_stderr: float | None
    """Its standard error; None for single episodes."""

    incumbent_return: float | None
    """What the incumbent earns as measured; before that, its estimate by the optimiser's model,
    which tends to be too high: a maximum of posterior means. None: unknown."""

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

    workers_wait: float = 0.0
    """Share of the time in which no episode ran, in this process' part of the search."""

    workers: Mapping[str, int] = field(default_factory=dict)
    """Machine to the Ray workers that have started there; empty where all runs in one process."""


Progress = terminal.Progress[ProgressSnapshot]
"""Shows a search to someone."""

Silent = terminal.SilentProgress[ProgressSnapshot]


def read_progress(path: Path) -> dict[str, Any]:
    """Return the fields of the snapshot that a search wrote last, and `time`, when it did.

    Raises:
        RequestError: the file is damaged, or another release wrote it.
    """
    status: dict[str, Any] = read_json(path)
    kinds = {**{each.name: each.type for each in fields(ProgressSnapshot)}, "time": float}
    if set(status) != set(kinds):
        raise RequestError(f"{path} is damaged: its fields are not those of a search")
    for name, kind in kinds.items():
        if not _fits(status[name], kind):
            expected = "numbers by machine" if name == "workers" else "a finite number"
            raise RequestError(
                f"{path} is damaged: {name} is {status[name]!r}; expected {expected}"
            )
    return status


def _fits(value: object, kind: object) -> bool:
    """Return whether a value of JSON is what a field of a snapshot holds."""
    if kind == Mapping[str, int]:
        return isinstance(value, dict) and all(_fits(each, int) for each in value.values())
    if value is None or isinstance(value, bool):
        return value is None and kind == float | None
    return isinstance(value, int | float) and abs(value) <= float_info.max


def plain_lines(
    stream: IO[str], clock: Callable[[], float] = time.monotonic
) -> terminal.PlainLines[ProgressSnapshot]:
    """Return a view of at most a line a second: for logs and pipes."""
    return terminal.PlainLines(stream, line, interval_s=LINE_INTERVAL_S, clock=clock)


def live_view(stream: IO[str]) -> terminal.LiveTable[ProgressSnapshot]:
    """Return a table that follows the search, on a terminal."""
    return terminal.LiveTable(stream, table, per_second=8)


def progress_for(stream: IO[str], *, json: bool = False) -> Progress:
    """Return JSON lines if they are wanted, the live view on a terminal, else plain lines."""
    if json:
        return terminal.JsonLines(stream, asdict)
    return live_view(stream) if stream.isatty() else plain_lines(stream)


def line(figures: ProgressSnapshot) -> str:
    """Return the figures on one line."""
    return (
        f"{figures.spent:4.0%}  {figures.evaluations} evaluations  {figures.env_steps} env steps  "
        f"best noisy mean {_value(figures.best_return, figures.best_stderr)}  "
        f"incumbent {_value(figures.incumbent_return, figures.incumbent_stderr)}  "
        f"{_count(figures.env_steps_per_s)} env-steps/s  "
        f"ask {figures.ask_s:.2f} s  tell {figures.tell_s:.2f} s  "
        f"left {clock_time(figures.time_left_s)}"
    )


def table(figures: ProgressSnapshot) -> Table:
    """Return the figures as a table."""
    rows = (
        ("evaluations", f"{figures.evaluations:,}   ({figures.env_steps:,} env steps)"),
        ("best of noisy means", _value(figures.best_return, figures.best_stderr)),
        ("incumbent", _value(figures.incumbent_return, figures.incumbent_stderr)),
        ("env-steps/s", _count(figures.env_steps_per_s)),
        ("ask, tell", f"{figures.ask_s:.2f} s, {figures.tell_s:.2f} s a batch"),
        ("no episode ran", f"{figures.workers_wait:.0%} of the time"),
        ("time", f"{clock_time(figures.wall_time_s)}, {clock_time(figures.time_left_s)} left"),
    )
    shown = Table.grid(padding=(0, 2))
    shown.add_row("spent", ProgressBar(total=1.0, completed=figures.spent, width=40))
    for name, value in rows:
        shown.add_row(name, value)
    if figures.workers:
        nodes = ", ".join(f"{count} on {node}" for node, count in figures.workers.items())
        shown.add_row("workers", nodes)
    return shown


def _value(value: float | None, stderr: float | None) -> str:
    return "-" if value is None else with_error(value, stderr)


def _count(value: float) -> str:
    for size, letter in ((1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:.1f}{letter}"
    return f"{value:.0f}"
