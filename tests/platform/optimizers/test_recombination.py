"""Size of a generation, and weights of a recombined mean, computed by hand."""

import numpy as np
import pytest

from rolecast.platform.optimizers.recombination import first_population, recombination_weights


@pytest.mark.parametrize(
    ("batch", "dimension", "single", "paired"),
    [(1, 1, 4, 4), (1, 10, 10, 10), (3, 20, 12, 12), (2, 100, 17, 16), (4, 9, 4, 4), (5, 9, 5, 4)],
)
def test_a_generation_is_the_first_batch_unless_that_is_small(
    batch: int, dimension: int, single: int, paired: int
) -> None:
    assert first_population(batch, dimension) == single
    assert first_population(batch, dimension, paired=True) == paired


def test_recombination_weights_are_those_of_the_formula() -> None:
    """Of four: ln 3 - ln 1, ln 3 - ln 2, and nothing for the rest."""
    parts = np.array([np.log(1.5), np.log(3.0), 0.0, 0.0])
    found = recombination_weights(np.array([2.0, 9.0, -4.0, 1.0]))
    np.testing.assert_allclose(found, parts / parts.sum())


def test_equal_returns_share_the_mean_of_their_weights() -> None:
    shared = (np.log(1.5) + 0.0 + 0.0) / 3.0
    parts = np.array([shared, np.log(3.0), shared, shared])
    found = recombination_weights(np.array([1.0, 9.0, 1.0, 1.0]))
    np.testing.assert_allclose(found, parts / parts.sum())
