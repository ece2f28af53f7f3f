"""Coins give the same bits to every party, and uniform numbers."""

import numpy as np
from scipy import stats

from rolecast.platform.optimizers.duets.coins import Coins


def test_a_number_depends_on_its_indices_alone() -> None:
    everyone, alone = Coins(5, 2, np.arange(7)), Coins(5, 2, np.array([4]))
    owners, draws = np.divmod(np.arange(21), 3)
    together = everyone.uniforms(owners, draws, np.arange(6), 2)
    for draw in range(3):
        single = alone.uniforms(np.zeros(1, dtype=int), np.array([draw]), np.arange(2, 5), 2)
        np.testing.assert_array_equal(single[0], together[4 * 3 + draw, 2:5])


def test_numbers_are_uniform_and_agents_and_epochs_differ() -> None:
    """False alarm: 1e-6 in each of four Kolmogorov-Smirnov tests, for fixed seeds."""
    rows = np.arange(4000)
    parts = [
        Coins(seed, epoch, np.array([agent])).uniforms(rows * 0, rows, np.arange(2), 3)
        for seed, epoch, agent in ((0, 1, 0), (0, 1, 1), (0, 2, 0), (1, 1, 0))
    ]
    for part in parts:
        assert part.min() > 0.0
        assert part.max() < 1.0
        assert stats.kstest(part.ravel(), "uniform").pvalue > 1e-6
    assert len(np.unique(np.concatenate([part.ravel() for part in parts]))) == 4 * 24_000


def test_coordinates_attempts_and_draws_are_uncorrelated() -> None:
    """Each correlation of 50,000 numbers has deviation 0.0045; 0.025 is 5.6 of them."""
    rows = np.arange(50_000)
    numbers = Coins(9, 1, np.array([2])).uniforms(rows * 0, rows, np.arange(2), 2)
    found = np.corrcoef(numbers.reshape(len(rows), 4).T)
    assert np.abs(found - np.eye(4)).max() < 0.025
    assert abs(np.corrcoef(numbers[1:, 0, 0], numbers[:-1, 0, 0])[0, 1]) < 0.025
