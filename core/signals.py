"""SIGTERM as Ctrl-C: what a scheduler sends before it kills, and what libraries do to handlers."""

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import inf
from types import FrameType
from typing import Final

KEPT_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGUSR1)
"""Signals whose handlers Ray and Tune replace."""

IGNORED_FOR_S: Final = 5.0
"""After one that interrupts: a scheduler may send several, to each process and to their group."""


class Terminated(KeyboardInterrupt):
    """SIGTERM came: end as by Ctrl-C, and keep what is there."""


@contextmanager
def terminable(clock: Callable[[], float] = time.monotonic) -> Iterator[list[int]]:
    """Raise `Terminated` in the main thread at SIGTERM; ignore those that follow at once.

    One that comes seconds later interrupts what the first has begun, as a second Ctrl-C does.

    Args:
        clock: seconds from any moment on.
    Yields:
        The signals that came so far.
    """
    received: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield received
        return

    heeded_from = -inf

    def interrupt(number: int, _: FrameType | None) -> None:
        nonlocal heeded_from
        received.append(number)
        if (now := clock()) >= heeded_from:
            heeded_from = now + IGNORED_FOR_S
            raise Terminated

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield received
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL if before is None else before)


@contextmanager
def signals_given_back() -> Iterator[None]:
    """Put back the handlers that are there now, also those that lie below Python's.

    Tune leaves Ctrl-C without effect, and a process that has started Ray ends at SIGTERM with the
    stack of its C++ code.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # where no handler can be set
        return
    taken = {number: signal.getsignal(number) for number in KEPT_SIGNALS}
    try:
        yield
    finally:
        for number, handler in taken.items():
            if handler is not None:  # None is one that was not set from Python
                signal.signal(number, handler)
