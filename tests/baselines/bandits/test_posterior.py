"""Point by point the posterior over candidates is that of equations 3 and 4."""

import numpy as np
import pytest

from rolecast.baselines.bandits.posterior import CandidatePosterior
from rolecast.platform.optimizers.duets.kernel import StationaryKernel

NOISE = 0.04


@pytest.mark.parametrize("together", [False, True])
def test_it_equals_the_formulas_also_after_a_fork(together: bool) -> None:
    kernel, rng = StationaryKernel("matern52", 0.3), np.random.default_rng(0)
    points = rng.random((200, 2))
    covariance = kernel.matrix(points, points)
    first = CandidatePosterior(lambda row: covariance[row], np.zeros(200), np.ones(200), NOISE)
    places, values = rng.integers(200, size=24), rng.standard_normal(24)
    places[[3, 15, 20]] = places[[2, 14, 14]]

    def add(posterior: CandidatePosterior, some: slice) -> None:
        if together:
            posterior.add_all(places[some], values[some])
            return
        for place, value in zip(places[some], values[some], strict=True):
            posterior.add(int(place), float(value))

    add(first, slice(0, 11))
    second, other = first.forks(2)
    before = first.variance.copy()
    add(second, slice(11, 19))
    add(second, slice(19, 24))
    np.testing.assert_array_equal(other.variance, before)
    solved = np.linalg.inv(covariance[np.ix_(places, places)] + NOISE * np.eye(24))
    across = covariance[:, places]
    np.testing.assert_allclose(second.mean, across @ solved @ values, atol=1e-9)
    expected = 1.0 - np.einsum("cn,nm,cm->c", across, solved, across)
    np.testing.assert_allclose(second.variance, expected, atol=1e-9)
    np.testing.assert_array_equal(first.variance, before)
    upper = second.upper(2.0)
    np.testing.assert_allclose(upper, second.mean + 2.0 * np.sqrt(expected), atol=1e-7)


def test_adding_returns_the_variance_before() -> None:
    kernel = StationaryKernel("squared_exponential", 0.3)
    points = np.array([[0.1], [0.2]])
    covariance = kernel.matrix(points, points)
    found = CandidatePosterior(lambda row: covariance[row], np.zeros(2), np.ones(2), NOISE)
    assert found.add(0, 1.0) == 1.0
    assert found.add(0, 1.0) == pytest.approx(1.0 - 1.0 / (1.0 + NOISE))
