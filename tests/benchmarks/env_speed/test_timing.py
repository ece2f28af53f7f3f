"""A side is measured by its own clock and compared by one clock."""

import time

import pytest

from rolecast.benchmarks.env_speed.timing import TIMING_REPEATS, Group, Side, measure, measure_group


def nap() -> int:
    """Three steps that cost 20 ms of wall time and no processor time to speak of."""
    time.sleep(0.02)
    return 3


def test_what_waits_is_slow_by_wall_time_alone() -> None:
    speed = measure(Side(name="nap", run=nap), 0.05)
    assert 0.0 < speed.wall <= 3 / 0.02
    assert speed.processor > 2.0 * speed.wall


def test_a_piece_of_work_longer_than_the_time_is_done_once() -> None:
    done = []

    def run() -> int:
        done.append(1)
        time.sleep(0.01)
        return 1

    measure(Side(name="long", run=run), 0.001)
    assert len(done) == 1


def test_a_ratio_is_of_the_same_clock() -> None:
    """By wall time the same nap is as fast as itself; by processor time it would be far faster."""
    base, other = Side(name="base", run=nap), Side(name="other", run=nap, wall=True, cores=2)
    told: list[str] = []
    group = Group(title="Naps", sides=[other, base], base="base", ratio="ratio_to_base")
    measured = measure_group(group, 0.03, told.append)
    assert measured["ratios"]["other"] == pytest.approx(1.0, abs=0.7)
    assert set(measured["ratios"]) == {"other"}
    assert measured["sides"]["other"]["clock"] == "wall time"
    assert measured["sides"]["base"]["clock"] == "processor time"
    assert len(told) == 2 * TIMING_REPEATS


def test_without_the_base_there_are_no_ratios() -> None:
    missing = {"base": "pip install base"}
    sides = [Side(name="nap", run=nap)]
    group = Group(title="Naps", sides=sides, base="base", ratio="to_base", missing=missing)
    measured = measure_group(group, 0.001, lambda _: None)
    assert measured["ratios"] == {}
    assert measured["missing"] == missing
