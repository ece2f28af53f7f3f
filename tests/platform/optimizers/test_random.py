"""Random search is uniform, and its incumbent is not the luckiest draw."""

import numpy as np
from scipy.stats import kstest

from rolecast.platform.optimizers.registry import make_optimizer


def test_candidates_are_uniform_in_every_dimension() -> None:
    """Kolmogorov-Smirnov, false alarm 1e-6 a seed over both dimensions."""
    asked = np.concatenate([make_optimizer("random", dimension=2, seed=3).ask(4000)])
    assert min(kstest(column, "uniform").pvalue for column in asked.T) > 5e-7


def test_a_noisy_winner_is_shrunk_more_than_a_well_measured_one() -> None:
    optimizer = make_optimizer("random", dimension=2)
    points = optimizer.ask(6)
    returns = np.array([0.0, 1.0, 2.0, 1.0, 5.0, 5.5])
    optimizer.tell(points, returns, np.array([0.1, 0.1, 0.1, 0.1, 0.1, 4.0]))
    np.testing.assert_array_equal(optimizer.best(), points[4])


def test_of_exact_returns_the_greatest_wins() -> None:
    optimizer = make_optimizer("random", dimension=2)
    points = optimizer.ask(3)
    optimizer.tell(points, np.array([1.0, 3.0, 2.0]))
    np.testing.assert_array_equal(optimizer.best(), points[1])
