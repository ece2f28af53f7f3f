"""What long work shows while it runs: a table on a terminal, lines elsewhere, or nothing."""

import json
import time
from collections.abc import Callable, Mapping
from typing import IO, Any, Generic, Protocol, TypeVar

from rich.console import Console, RenderableType
from rich.live import Live

Figures = TypeVar("Figures")
FiguresShown = TypeVar("FiguresShown", contravariant=True)


class Progress(Protocol[FiguresShown]):
    """Shows some work to someone."""

    def start(self, title: str) -> None:
        """Begin; the title says what is done, and with which budget."""

    def update(self, figures: FiguresShown, /) -> None:
        """Show where the work stands."""

    def note(self, text: str) -> None:
        """Show a sentence about something that happened."""

    def finish(self, text: str) -> None:
        """End with a sentence."""


class SilentProgress(Generic[Figures]):
    """Shows nothing."""

    def start(self, title: str) -> None:
        """Show nothing."""

    def update(self, figures: Figures, /) -> None:
        """Show nothing."""

    def note(self, text: str) -> None:
        """Show nothing."""

    def finish(self, text: str) -> None:
        """Show nothing."""


class PlainLines(Generic[Figures]):
    """Lines for logs and pipes, those of figures at most one in an interval."""

    def __init__(
        self,
        stream: IO[str],
        describe: Callable[[Figures], str],
        *,
        interval_s: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Write nothing yet.

        Args:
            stream: where the lines go.
            describe: writes figures on one line.
            interval_s: least seconds between two lines of figures.
            clock: seconds.
        """
        self._stream, self._describe = stream, describe
        self._interval_s, self._clock = interval_s, clock
        self._next, self._last, self._held = float("-inf"), "", ""

    def start(self, title: str) -> None:
        """Write the title."""
        self.note(title)

    def update(self, figures: Figures, /) -> None:
        """Write a line; hold it back where the last was less than an interval ago."""
        now, self._held = self._clock(), self._describe(figures)
        if now >= self._next and self._held != self._last:
            self._next = now + self._interval_s
            self._release()

    def note(self, text: str) -> None:
        """Write a sentence."""
        self._stream.write(text + "\n")
        self._stream.flush()

    def finish(self, text: str) -> None:
        """Write the last figures, where they were held back, and a sentence."""
        self._release()
        self.note(text)

    def _release(self) -> None:
        if self._held != self._last:
            self._last = self._held
            self.note(self._last)


class JsonLines(Generic[Figures]):
    """One JSON object a line, for programs: `event`, and `text` or the figures."""

    def __init__(self, stream: IO[str], describe: Callable[[Figures], Mapping[str, Any]]) -> None:
        """Write nothing yet.

        Args:
            stream: where the lines go.
            describe: returns figures as JSON values.
        """
        self._stream, self._describe = stream, describe

    def start(self, title: str) -> None:
        """Write the title."""
        self._write("start", {"text": title})

    def update(self, figures: Figures, /) -> None:
        """Write the figures."""
        self._write("batch", self._describe(figures))

    def note(self, text: str) -> None:
        """Write a sentence."""
        self._write("note", {"text": text})

    def finish(self, text: str) -> None:
        """Write a sentence."""
        self._write("end", {"text": text})

    def _write(self, event: str, values: Mapping[str, Any]) -> None:
        line = {"event": event, "time": time.time(), **values}
        self._stream.write(json.dumps(line, allow_nan=False) + "\n")
        self._stream.flush()


class LiveTable(Generic[Figures]):
    """A table below a title, with sentences above it; on a terminal."""

    def __init__(
        self, stream: IO[str], draw: Callable[[Figures], RenderableType], *, per_second: int
    ) -> None:
        """Write nothing yet.

        Args:
            stream: the terminal.
            draw: returns the table of figures.
            per_second: how often the table is drawn.
        """
        self._console = Console(file=stream)
        self._draw, self._per_second = draw, per_second
        self._live: Live | None = None

    def start(self, title: str) -> None:
        """Write the title and open the view."""
        self.note(title)
        self._live = Live(console=self._console, refresh_per_second=self._per_second)
        self._live.start()

    def update(self, figures: Figures, /) -> None:
        """Draw the figures from now on."""
        if self._live is not None:
            self._live.update(self._draw(figures))

    def note(self, text: str) -> None:
        """Write a sentence above the view."""
        self._console.print(text, highlight=False, markup=False)

    def finish(self, text: str) -> None:
        """Close the view, leaving its last state, and write a sentence."""
        if self._live is not None:
            self._live.stop()
            self._live = None
        self.note(text)


def clock_time(seconds: float | None) -> str:
    """Return seconds as minutes and seconds, with hours where there are some; "-" for None."""
    if seconds is None:
        return "-"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
