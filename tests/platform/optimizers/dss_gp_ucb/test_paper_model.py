"""The global search's process: what it believes of noise that is known."""

import numpy as np
import pytest

from rolecast.core.types import Float
from rolecast.platform.optimizers.dss_gp_ucb.paper_model import (
    NOISE_VARIANCES,
    GlobalGp,
    believed_noise,
)
from rolecast.platform.optimizers.gp_ucb import GpUcbConfig
from rolecast.platform.optimizers.observations import Observations

DIMENSION = 4


def process(max_points: int = 500) -> GlobalGp:
    config = GpUcbConfig(outcome_transform="none", max_points=max_points, pool=64)
    return GlobalGp(config, dimension=DIMENSION, cliques=None, finder=None)


def observations(points: Float, returns: Float, stderrs: Float | None) -> Observations:
    data = Observations(DIMENSION)
    data.add(points, returns, stderrs)
    return data


@pytest.mark.parametrize("share", [0.2, 0.5, 0.9])
def test_known_noise_is_believed_in_the_unit_of_the_targets(share: float) -> None:
    """A wave with noise that is `share` of the variance of its returns, on eight seeds together.

    The grid is coarse, so the estimate may lie a quarter above what is known; never below.
    """
    believed = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        points = rng.random((120, DIMENSION))
        wave = np.sin(6.0 * points).sum(1)
        wave *= np.sqrt((1.0 - share) / wave.var())
        luck = rng.standard_normal(120)
        returns = wave + np.sqrt(share) * (luck - luck.mean()) / luck.std()
        data = observations(points, returns, np.full(120, np.sqrt(share)))
        found = process()
        found.take_in(data)
        variance = found.noise * found.posterior(data).fit.scale * returns.var()
        assert variance >= 0.999 * share
        believed.append(variance)
    assert np.mean(believed) == pytest.approx(share, rel=0.25)


def test_noise_of_each_evaluation_is_at_least_what_is_known_of_it() -> None:
    known = np.array([0.4, 0.1, 0.0, 0.2, 4.0])
    shares, least_scale = believed_noise(known, 0.5)
    assert (shares * least_scale >= known - 1e-12).all()
    assert shares[2] == 0.5  # unknown: the median
    np.testing.assert_allclose(shares[[0, 4]] / shares[3], [2.0, 20.0])


def test_unknown_noise_is_one_level_and_bounds_nothing() -> None:
    shares, least_scale = believed_noise(np.zeros(3), 0.1)
    np.testing.assert_array_equal(shares, 0.1)
    assert least_scale == 0.0


def test_an_evaluation_without_noise_leaves_the_matrix_regular() -> None:
    shares, _ = believed_noise(np.array([1e-9, 1.0, 1.0]), NOISE_VARIANCES[0])
    assert shares.min() == NOISE_VARIANCES[0]
