"""What holds for every command: nothing that it runs ends the process, or speaks in its place."""

import functools
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import TextIOBase
from typing import Any, TextIO

from rolecast.core.errors import RunError


class AnswerStream(TextIOBase):
    """Standard output under `--json`: what others print goes to stderr, the answer to stdout."""

    def __init__(self, stdout: TextIO, stderr: TextIO) -> None:
        self._stdout, self._stderr = stdout, stderr

    def write(self, text: str) -> int:
        """Write what is no answer."""
        return self._stderr.write(text)

    def flush(self) -> None:
        """Flush both."""
        self._stdout.flush()
        self._stderr.flush()

    def answer(self, text: str) -> None:
        """Write the answer."""
        self._stdout.write(text + "\n")


def guarded(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command that survives what environments do to the process.

    `sys.exit` in an environment, or in a function of a bandit, is a failed run, whatever code it
    names. Under `--json` standard output has the answer alone.
    """

    @functools.wraps(command)
    def run(*words: Any, **options: Any) -> None:
        with answer_alone(wanted=bool(options.get("json"))):
            try:
                command(*words, **options)
            except SystemExit as end:
                if isinstance(end.__context__, BrokenPipeError):
                    raise  # the reader of what is printed has gone, as `head` does
                raise RunError(
                    f"the task or function called sys.exit({end.code!r}); expected one that does "
                    "not end its process"
                ) from end

    return run


@contextmanager
def answer_alone(*, wanted: bool) -> Iterator[None]:
    """Let standard output have the answer alone inside, if that is wanted."""
    before = sys.stdout
    if wanted:
        sys.stdout = AnswerStream(before, sys.stderr)
    try:
        yield
    finally:
        sys.stdout = before
