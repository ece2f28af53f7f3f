"""SIGTERM as Ctrl-C: what a scheduler sends before it kills, and what libraries do to handlers."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final

KEPT_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGUSR1)
"""Signals whose handlers Ray and Tune replace."""


class Terminated(KeyboardInterrupt):
    """SIGTERM came: end as by Ctrl-C, and keep what is there."""


@contextmanager
def terminable() -> Iterator[list[int]]:
    """Raise `Terminated` in the main thread at the first SIGTERM; ignore those that follow.

    Yields:
        The signals that came so far.
    """
    received: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield received
        return

    def raise_once(number: int, _: FrameType | None) -> None:
        received.append(number)
        if len(received) == 1:
            raise Terminated

    before = signal.signal(signal.SIGTERM, raise_once)
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
