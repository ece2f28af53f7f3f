"""A side is measured by its own clock and compared by one clock; numbers have few digits."""

import time
from collections.abc import Callable

import pytest

from rolecast.benchmarks.timing import (
    digits,
    machine,
    measure,
    number,
    ratios,
    spread,
    spread_of,
    time_in_turn,
)


def nap() -> int:
    """Three steps that cost 20 ms of wall time and no processor time to speak of."""
    time.sleep(0.02)
    return 3


def test_what_waits_is_slow_by_wall_time_alone() -> None:
    speed = measure(nap, 0.05)
    assert 0.0 < speed.wall <= 3 / 0.02
    assert speed.processor > 2.0 * speed.wall


def test_a_piece_of_work_longer_than_the_time_is_done_once() -> None:
    done = []

    def run() -> int:
        done.append(1)
        time.sleep(0.01)
        return 1

    measure(run, 0.001)
    assert len(done) == 1


def test_every_other_round_goes_the_other_way() -> None:
    order: list[str] = []

    def work(name: str) -> Callable[[], int]:
        def run() -> int:
            order.append(name)
            return 1

        return run

    told: list[str] = []
    sides = {name: work(name) for name in ("a", "b")}
    timed = time_in_turn(sides, rounds=2, seconds=0.0, unit="steps", note=told.append)
    assert order == ["a", "b", "b", "a"]
    assert [len(speeds) for speeds in timed.values()] == [2, 2]
    assert [line.partition(":")[0] for line in told] == [
        "round 1, a", "round 1, b", "round 2, b", "round 2, a",
    ]  # fmt: skip


def test_ratios_are_within_rounds() -> None:
    """By hand: 30 against 10 and 8 against 4 are 3 and 2, though the medians are 19 and 7."""
    assert ratios([30.0, 8.0], [10.0, 4.0]) == [3.0, 2.0]
    assert spread_of([2.0, 3.0]) == {"median": 2.5, "rounds": [2.0, 3.0]}


def test_numbers_are_kept_with_four_digits() -> None:
    assert digits(12345.678) == 12350.0
    assert digits(0.00123456) == 0.001235


def test_the_machine_names_the_packages_that_are_there() -> None:
    told = machine({"numpy": "numpy", "no_such_module": "no-such"})
    assert set(told["versions"]) == {"numpy"}
    assert told["cores"] >= 1


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.432, "0.43"), (1.0, "1.0"), (7.125, "7.1"), (20.0, "20"), (1234.4, "1,234")],
)
def test_a_number_has_two_digits_or_all_before_the_point(value: float, text: str) -> None:
    assert number(value) == text


def test_a_spread_is_the_least_and_the_greatest() -> None:
    assert spread([3.0, 0.5, 21.0]) == "0.50 to 21"
