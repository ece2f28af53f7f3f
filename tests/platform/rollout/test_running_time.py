"""Calls that overlap, as lines on one axis."""

import numpy as np
import pytest

from rolecast.platform.rollout.running_time import RunningTime


def test_time_in_which_calls_overlap_counts_once() -> None:
    running, told = RunningTime(), []
    for begin, end in ((1.0, 2.0), (5.0, 6.0), (1.5, 3.0), (3.0, 3.5), (2.0, 2.1), (0.0, 7.0)):
        running.add(begin, end)
        told.append(running.seconds)
    assert told == pytest.approx([1.0, 2.0, 3.0, 3.5, 3.5, 7.0])


@pytest.mark.parametrize("seed", range(5))
def test_it_is_the_length_that_calls_cover_in_any_order(seed: int) -> None:
    """Whole numbers: the ticks that at least one call covers are counted."""
    rng, running = np.random.default_rng(seed), RunningTime()
    begins, lengths = rng.integers(0, 1000, 100), rng.integers(0, 20, 100)
    covered = np.zeros(1100, dtype=np.bool_)
    for begin, length in zip(begins, lengths, strict=True):
        running.add(float(begin), float(begin + length))
        covered[begin : begin + length] = True
        assert running.seconds == covered.sum()
