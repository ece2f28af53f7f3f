"""Sums of observations of episodes, against NumPy's, to the last bit."""

from typing import Any

import numpy as np
import pytest

from rolecast.platform.rollout.played import ObservationSums


@pytest.mark.parametrize("kind", [np.uint8, np.int32, np.int64])
def test_integers_are_clipped_as_numbers(kind: type[np.integer[Any]]) -> None:
    sums = ObservationSums((2, 1, 1), 2.5)
    sums.add(np.array([[[1]], [[3]]], dtype=kind))
    np.testing.assert_array_equal(sums.totals.ravel(), [1.0, 2.5, 1.0, 6.25])


@pytest.mark.parametrize("precision", [np.float32, np.float64])
@pytest.mark.parametrize("some", [(), (7,), (7, 3)])
def test_live_rows_are_clipped_and_added_with_their_squares(
    precision: type[np.floating[Any]], some: tuple[int, ...]
) -> None:
    rng = np.random.default_rng(0)
    shape = (7, 3, 4)
    sums, expected = ObservationSums(shape, 0.7), np.zeros((2, *shape))
    for _ in range(5):
        observations = rng.normal(size=shape).astype(precision)
        live = rng.random(some) < 0.5 if some else None
        clipped = np.clip(observations, -0.7, 0.7).astype(np.float64)
        if live is not None:
            clipped[~live] = 0.0
        expected += np.stack([clipped, np.square(clipped)])
        sums.add(observations, live)
    np.testing.assert_array_equal(sums.totals, expected)
