"""Watches calls of code that may never return: says after a while which one lasts, and ends it.

A thread looks; it cannot end a call of its own process by itself, so it sends a signal to the main
thread, whose handler raises inside the call. Code that keeps Python's lock, as a loop in C may, is
neither told of nor ended, and outside the main thread a call is only told of.

Time in which the process was stopped, by Ctrl-Z or a scheduler, is not the call's: from one look to
the next, no more counts than twice the time that lies between two looks.
"""

import signal
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from types import FrameType
from typing import Any, Final, TypeVar

from rolecast.core.errors import RunError

Argument = TypeVar("Argument")
Answer = TypeVar("Answer")

STEP_TIMEOUT_S: Final = 600.0
"""Time after which a call is ended, if nothing else is asked for."""

SILENT_S: Final = 10.0
"""Time after which a call is told of first; each time after twice the time of the one before."""

LOOK_S: Final = 1.0
"""Longest time between two looks."""

END_SIGNAL: Final = signal.SIGVTALRM
"""Signal that ends a call: one that hardly any library takes for itself."""


class CallEnded(BaseException):
    """Raised in a call that lasts too long, past each `except Exception` of the code called."""


class StepTimeoutError(RunError):
    """A step of an environment lasted too long.

    Attributes:
        seed: of its episode.
    """

    def __init__(self, text: str, seed: int) -> None:
        super().__init__(text)
        self.seed = seed


@dataclass(kw_only=True, eq=False)
class _Call:
    """A call that has not returned."""

    since: float
    seed: int
    where: Callable[[], str]
    lasted_s: float = 0.0
    """Seconds in which the process ran, as of the last look."""


class Patience:
    """Patience with the calls of one thread; the looking begins with the first call."""

    label_of: Callable[[int], str]
    """What the episode of a seed belongs to, for what is said."""

    def __init__(
        self,
        timeout_s: float = STEP_TIMEOUT_S,
        say: Callable[[str], None] = lambda _: None,
        *,
        silent_s: float = SILENT_S,
        forgives: bool = False,
    ) -> None:
        """Set up.

        Args:
            timeout_s: seconds after which a call is ended.
            say: tells the user, in another thread.
            silent_s: seconds after which a call is told of.
            forgives: whether a call that fails ends its episode alone; then `failures` has it.
        """
        self.timeout_s, self._say, self._silent_s = timeout_s, say, silent_s
        self.forgives, self.failures = forgives, list[str]()
        self.label_of = lambda seed: f"the episode of seed {seed}"
        self._open: _Call | None = None
        self._closed = threading.Event()
        self._thread: threading.Thread | None = None
        self._handler: Any = None
        self._ends = False

    def call(
        self,
        function: Callable[[Argument], Answer],
        argument: Argument,
        where: Callable[[], str],
        seed: int,
    ) -> Answer:
        """Call a function.

        Args:
            function: called with `argument`.
            argument: of the function.
            where: returns what the call is, as in "step 3 of the episode of seed 7".
            seed: of the episode.
        Raises:
            CallEnded: it lasted too long.
        """
        if self._thread is None:
            self._start()
        self._open = _Call(since=time.monotonic(), seed=seed, where=where)
        try:
            return function(argument)
        finally:
            self._open = None

    def forgive(self, error: RunError, seed: int) -> None:
        """Keep what a call of the episode of a seed failed with."""
        self.failures.append(f"{self.label_of(seed)}: {error}")

    def close(self) -> None:
        """End the looking, and give the signal back."""
        self._closed.set()
        if self._thread is not None:
            self._thread.join()
            if self._ends and signal.getsignal(END_SIGNAL) == self._end:
                signal.signal(END_SIGNAL, self._handler)

    def _start(self) -> None:
        self._ends = threading.current_thread() is threading.main_thread()
        if self._ends:
            self._handler = signal.signal(END_SIGNAL, self._end) or signal.SIG_DFL
        self._thread = threading.Thread(target=self._look, name="patience", daemon=True)
        self._thread.start()

    def _look(self) -> None:
        """Look at the open call, again and again."""
        main, looked = threading.main_thread().ident, time.monotonic()
        while not self._closed.wait(pause_s := self._pause_s()):
            now, call = time.monotonic(), self._open
            since, looked = looked, now
            if call is None:
                continue
            call.lasted_s += min(now - max(since, call.since), 2 * pause_s)
            if call.lasted_s >= self._silent_s:
                self._silent_s = 2 * max(call.lasted_s, self._silent_s)
                self._say(
                    f"{self.label_of(call.seed)}: the environment has been in {call.where()} for "
                    f"{call.lasted_s:.0f} s; it may take {self.timeout_s:g} s (--step-timeout)"
                )
            if self._ends and call.lasted_s >= self.timeout_s and main is not None:
                signal.pthread_kill(main, END_SIGNAL)

    def _pause_s(self) -> float:
        """Return the seconds from one look to the next."""
        return min(LOOK_S, self.timeout_s / 4, self._silent_s / 4)

    def _end(self, _: int, __: FrameType | None) -> None:
        """Raise in the open call if it lasts too long; another may have begun since the look."""
        call = self._open
        if call is not None and call.lasted_s >= self.timeout_s:
            raise CallEnded
