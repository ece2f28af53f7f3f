import signal
import threading
import time
from collections.abc import Iterator
from types import SimpleNamespace

import pytest

from rolecast.core import patience as patience_module
from rolecast.core.patience import END_SIGNAL, CallEnded, Patience


@pytest.fixture
def said() -> list[str]:
    return []


@pytest.fixture
def patience(said: list[str]) -> Iterator[Patience]:
    made = Patience(0.4, said.append, silent_s=0.1)
    yield made
    made.close()


def where() -> str:
    return "step 3"


def hang(seconds: float) -> float:
    """Wait, and take any exception for a reason to go on."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        try:
            time.sleep(seconds)
        except Exception:  # noqa: BLE001 - as careless environments do
            continue
    return seconds


def test_a_call_that_lasts_too_long_is_told_of_and_then_ended(
    patience: Patience, said: list[str]
) -> None:
    began = time.monotonic()
    with pytest.raises(CallEnded):
        patience.call(hang, 30.0, where, 7)
    assert time.monotonic() - began < 10.0
    assert said[0].startswith("the episode of seed 7: the environment has been in step 3 for")
    assert "it may take 0.4 s (--step-timeout)" in said[0]


def test_short_calls_are_left_alone_and_nothing_is_said(
    patience: Patience, said: list[str]
) -> None:
    assert [patience.call(hang, 0.02, where, 0) for _ in range(30)] == [0.02] * 30
    assert said == []


def test_each_line_waits_twice_as_long_as_the_one_before(said: list[str]) -> None:
    patience = Patience(60.0, said.append, silent_s=0.1)
    patience.call(hang, 1.2, where, 0)
    patience.close()
    assert 1 <= len(said) <= 4


def test_time_in_which_the_process_was_stopped_is_not_the_calls(
    said: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The clock goes on by an hour in a call; one that hangs is ended all the same."""
    stopped_s = [0.0]
    clock = SimpleNamespace(monotonic=lambda: time.monotonic() + stopped_s[0])
    monkeypatch.setattr(patience_module, "time", clock)
    patience = Patience(2.0, said.append, silent_s=60.0)

    def stopped(then_s: float) -> float:
        stopped_s[0] += 3600.0
        return hang(then_s)

    assert patience.call(stopped, 0.8, where, 0) == 0.8
    assert said == []
    with pytest.raises(CallEnded):
        patience.call(stopped, 30.0, where, 0)
    patience.close()


def test_outside_the_main_thread_a_call_is_told_of_only(said: list[str]) -> None:
    patience = Patience(0.2, said.append, silent_s=0.1)
    answers: list[float] = []
    thread = threading.Thread(target=lambda: answers.append(patience.call(hang, 0.8, where, 0)))
    thread.start()
    thread.join()
    patience.close()
    assert answers == [0.8]
    assert said


def test_the_signal_is_given_back(said: list[str]) -> None:
    before = signal.getsignal(END_SIGNAL)
    patience = Patience(5.0, said.append)
    patience.call(hang, 0.0, where, 0)
    assert signal.getsignal(END_SIGNAL) != before
    patience.close()
    assert signal.getsignal(END_SIGNAL) == before
