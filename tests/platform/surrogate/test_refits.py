"""A process is fitted anew with every batch while small, and each time that it grew by a tenth."""

import numpy as np
import pytest

from rolecast.platform.surrogate.refits import ALWAYS_REFITTED_POINTS, REFIT_GROWTH, refit_is_due


@pytest.mark.parametrize(
    ("fitted", "fresh", "due"),
    [
        (1, 1, True),
        (ALWAYS_REFITTED_POINTS, 1, True),
        (ALWAYS_REFITTED_POINTS + 1, 1, False),
        (1000, 99, False),
        (1000, 100, True),
        (100, 0, False),
    ],
)
def test_a_large_process_waits_until_it_has_grown(fitted: int, fresh: int, due: bool) -> None:
    assert refit_is_due(fitted, fresh) is due


def test_refits_become_rarer_so_that_their_number_grows_as_the_logarithm() -> None:
    fitted, refits = ALWAYS_REFITTED_POINTS + 1, 0
    for count in range(fitted, 100 * ALWAYS_REFITTED_POINTS):
        if refit_is_due(fitted, count - fitted):
            fitted, refits = count, refits + 1
    assert refits <= np.log(100.0) / np.log(1.0 + REFIT_GROWTH) + 1
