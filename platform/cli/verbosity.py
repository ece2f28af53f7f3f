"""How much a command says: --quiet and --verbose, and a word when loading takes long."""

import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import IO, Any, Final, Literal

from rolecast import __version__
from rolecast.core.terminal import Progress, SilentProgress
from rolecast.core.user_folders import kernel_folder

Verbosity = Literal["quiet", "normal", "verbose"]

VERBOSITY_FLAGS: Final = {
    "--quiet": "quiet",
    "-q": "quiet",
    "--verbose": "verbose",
    "-v": "verbose",
}
"""Words, anywhere on the line, that set how much is said."""

PATIENCE_S: Final = 0.4
"""Seconds after which a command says that it is still loading."""

LOADING_COMMANDS: Final = frozenset(
    {
        *("search", "resume", "plan", "compare", "evaluate", "ablate", "certify", "export"),
        *("render", "report", "demo", "check-task", "learners", "ask", "tell", "watch"),
        *("bandit", "bench", "causal", "play", "serve"),
    }
)
"""Commands that load libraries, and compile what is used for the first time."""

_CHOSEN_VERBOSITY: Final[ContextVar[Verbosity]] = ContextVar("verbosity", default="normal")


def split_flags(words: Sequence[str]) -> tuple[list[str], Verbosity]:
    """Return the words without those that set how much is said, and what they set."""
    found: Verbosity = "normal"
    for word in words:
        found = VERBOSITY_FLAGS.get(word, found)  # type: ignore[assignment]  # values are literals
    return [word for word in words if word not in VERBOSITY_FLAGS], found


def is_quiet() -> bool:
    """Return whether only results and errors are wanted."""
    return _CHOSEN_VERBOSITY.get() == "quiet"


def shown(progress: Progress[Any]) -> Progress[Any]:
    """Return a view of progress, or one that shows nothing where a command is quiet."""
    return SilentProgress() if is_quiet() else progress


@contextmanager
def saying(verbosity: Verbosity, words: Sequence[str], stream: IO[str]) -> Iterator[None]:
    """Set how much is said while a command runs, and tell of loading that takes long.

    Args:
        verbosity: how much.
        words: of the command line, without the program's name.
        stream: for a line about loading, after `PATIENCE_S`.
    """
    token = _CHOSEN_VERBOSITY.set(verbosity)
    loads = words[:1] and words[0] in LOADING_COMMANDS
    told = verbosity != "quiet" and loads and not {"--help", "--log-json"} & set(words)
    timer = threading.Timer(PATIENCE_S, _tell_loading, (stream,)) if told else None
    if timer is not None:
        timer.daemon = True
        timer.start()
    begin = time.monotonic()
    try:
        yield
    finally:
        if timer is not None:
            timer.cancel()
        if verbosity == "verbose":
            python = sys.version.split()[0]
            seconds = time.monotonic() - begin
            stream.write(f"rolecast {__version__} on Python {python}: {seconds:.1f} s\n")
        _CHOSEN_VERBOSITY.reset(token)


def _tell_loading(stream: IO[str]) -> None:
    first = "" if _has_compiled() else "; the first use compiles for some half a minute"
    stream.write(f"rolecast: loading{first}\n")
    stream.flush()


def _has_compiled() -> bool:
    """Return whether kernels were compiled before."""
    folder = kernel_folder()
    return folder is not None and any(folder.glob("*.nbi"))
