"""What long work writes while it runs: a table drawn anew on a terminal, lines elsewhere."""

from typing import IO

from rich.console import Console, RenderableType
from rich.live import Live


class LiveTable:
    """A table below a title, with sentences above it; on a terminal."""

    def __init__(self, stream: IO[str], *, per_second: int) -> None:
        """Write nothing yet.

        Args:
            stream: the terminal.
            per_second: how often the table is drawn.
        """
        self._console = Console(file=stream)
        self._per_second = per_second
        self._live: Live | None = None

    def start(self, title: str) -> None:
        """Write the title and open the view."""
        self.note(title)
        self._live = Live(console=self._console, refresh_per_second=self._per_second)
        self._live.start()

    def show(self, table: RenderableType) -> None:
        """Draw this table from now on."""
        if self._live is not None:
            self._live.update(table)

    def note(self, text: str) -> None:
        """Write a sentence above the view."""
        self._console.print(text, highlight=False, markup=False)

    def finish(self, text: str) -> None:
        """Close the view, leaving its last state, and write a sentence."""
        if self._live is not None:
            self._live.stop()
            self._live = None
        self.note(text)


def write_line(stream: IO[str], text: str) -> None:
    """Write a line at once."""
    stream.write(text + "\n")
    stream.flush()


def clock_time(seconds: float | None) -> str:
    """Return seconds as minutes and seconds, with hours where there are some; "-" for None."""
    if seconds is None:
        return "-"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
