"""SIGTERM ends a command as Ctrl-C does, once, and libraries give handlers back."""

import os
import signal
import threading
from types import FrameType

import pytest

from rolecast.core.signals import (
    IGNORED_FOR_S,
    KEPT_SIGNALS,
    Terminated,
    signals_given_back,
    terminable,
)


def test_the_first_sigterm_interrupts_and_those_that_follow_at_once_do_not() -> None:
    before = signal.getsignal(signal.SIGTERM)
    with terminable() as received:
        with pytest.raises(Terminated):
            os.kill(os.getpid(), signal.SIGTERM)
        os.kill(os.getpid(), signal.SIGTERM)
        assert received == [signal.SIGTERM, signal.SIGTERM]
    assert signal.getsignal(signal.SIGTERM) == before


def test_a_sigterm_seconds_later_interrupts_again() -> None:
    moments = iter([10.0, 10.0 + IGNORED_FOR_S / 2, 10.0 + IGNORED_FOR_S])
    with terminable(lambda: next(moments)) as received:
        with pytest.raises(Terminated):
            os.kill(os.getpid(), signal.SIGTERM)
        os.kill(os.getpid(), signal.SIGTERM)
        with pytest.raises(Terminated):
            os.kill(os.getpid(), signal.SIGTERM)
    assert len(received) == 3


def test_it_is_a_keyboard_interrupt_for_all_that_end_well_by_one() -> None:
    assert issubclass(Terminated, KeyboardInterrupt)


def test_another_thread_sets_no_handler() -> None:
    before = signal.getsignal(signal.SIGTERM)
    inside: list[object] = []

    def work() -> None:
        with terminable(), signals_given_back():
            inside.append(signal.getsignal(signal.SIGTERM))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert inside == [before]


def test_handlers_that_a_library_takes_are_given_back() -> None:
    def taken(_: int, __: FrameType | None) -> None:
        """Do nothing, as Tune after its end."""

    before = [signal.getsignal(number) for number in KEPT_SIGNALS]
    with signals_given_back():
        for number in KEPT_SIGNALS:
            signal.signal(number, taken)
    assert [signal.getsignal(number) for number in KEPT_SIGNALS] == before
