"""The global search's process: noise that is known, and which evaluations it keeps."""

import numpy as np
import pytest

from rolecast.core.types import Float
from rolecast.platform.optimizers.dss_gp_ucb.constants import GLOBAL_CONSTANTS
from rolecast.platform.optimizers.dss_gp_ucb.paper_model import (
    GlobalGp,
    believed_noise,
)
from rolecast.platform.optimizers.gp_ucb import GpUcbConfig
from rolecast.platform.optimizers.observations import Observations

DIMENSION = 4


def process(max_points: int = 500) -> GlobalGp:
    config = GpUcbConfig(outcome_transform="none", max_points=max_points, pool=64)
    return GlobalGp(config, dimension=DIMENSION, cliques=None, finder=None)


@pytest.mark.parametrize("cliques", [((0, 1, 2), (3,)), ((0, 1), (1, 2), (2, 3), (0, 3))])
def test_cliques_weigh_alike_whatever_their_sizes(cliques: tuple[tuple[int, ...], ...]) -> None:
    """Step 3 of Algorithm 4. With a dimension far away, the terms that lack it are all left."""
    config = GpUcbConfig(outcome_transform="none", pool=64)
    found = GlobalGp(config, dimension=DIMENSION, cliques=cliques, finder=None)
    data = observations(np.random.default_rng(0).random((9, DIMENSION)), np.arange(9.0), None)
    found.take_in(data)
    kernel = found.posterior(data).kernel
    for dimension in range(DIMENSION):
        away = 1e6 * np.eye(DIMENSION)[dimension][None]
        left = sum(dimension not in clique for clique in cliques) / len(cliques)
        found_value = kernel.matrix(np.zeros((1, DIMENSION)), away)
        np.testing.assert_allclose(found_value, left, atol=1e-9)


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
    shares, _ = believed_noise(np.array([1e-9, 1.0, 1.0]), GLOBAL_CONSTANTS.noise_variances[0])
    assert shares.min() == GLOBAL_CONSTANTS.noise_variances[0]


def test_of_too_many_evaluations_it_keeps_the_latest_and_those_of_highest_mean() -> None:
    """Lucky returns of a bad region, with errors that say so, are left; a good region stays."""
    rng = np.random.default_rng(0)
    low, high = 0.3 * rng.random((60, DIMENSION)), 0.7 + 0.3 * rng.random((20, DIMENSION))
    returns = np.concatenate([np.zeros(60), np.ones(20)]) + 0.05 * rng.standard_normal(80)
    errors = np.full(80, 0.05)
    returns[:6], errors[:6] = 2.0, 2.0
    latest = 0.3 * rng.random((20, DIMENSION))
    data = observations(np.concatenate([low, high]), returns, errors)
    found = process(max_points=80)
    found.take_in(data)
    for _ in range(3):
        data.add(latest, np.zeros(20), np.full(20, 0.05))
        found.take_in(data)
    kept = found.state_dict()["kept"]
    assert len(kept) == 80
    assert set(range(100, 140)) <= set(kept)
    assert set(range(60, 80)) <= set(kept)
    assert len(set(range(6)) & set(kept)) <= 3  # 2 by chance: 20 of the 60 bad ones have a place


def test_without_an_earlier_refit_luck_does_not_choose_either() -> None:
    data = observations(np.random.default_rng(0).random((50, DIMENSION)), np.arange(50.0), None)
    found = process(max_points=10)
    found.take_in(data)
    np.testing.assert_array_equal(found.state_dict()["kept"], [0, 1, 2, 3, 4, 45, 46, 47, 48, 49])


def test_kept_evaluations_have_no_more_than_average_luck() -> None:
    """Pure noise with its standard error told: the half kept for its mean has the luck of others.

    The highest 40 returns average 1.4 to 1.8 deviations on eight seeds, the kept ones 0.05 to 0.33.
    """
    rng = np.random.default_rng(3)
    found, points = process(max_points=80), rng.random((400, DIMENSION))
    returns = rng.standard_normal(400)
    data = Observations(DIMENSION)
    for start in range(0, 400, 40):
        rows = slice(start, start + 40)
        data.add(points[rows], returns[rows], np.ones(40))
        found.take_in(data)
    kept = found.state_dict()["kept"]
    luck = returns[kept[kept < 360]]
    assert len(luck) == 40
    assert luck.mean() < 0.8


def test_a_restored_process_keeps_the_same_evaluations() -> None:
    rng = np.random.default_rng(1)
    points, returns = rng.random((60, DIMENSION)), rng.standard_normal(60)
    data = observations(points[:40], returns[:40], None)
    original, restored = process(max_points=30), process(max_points=30)
    original.take_in(data)
    restored.load_state_dict(original.state_dict())
    data.add(points[40:], returns[40:], None)
    for each in (original, restored):
        each.take_in(data)
    np.testing.assert_array_equal(original.state_dict()["kept"], restored.state_dict()["kept"])


def test_the_posterior_has_the_evaluations_since_the_last_refit() -> None:
    points = np.random.default_rng(0).random((12, DIMENSION))
    data = observations(points[:10], np.arange(10.0), None)
    refitted, restored = process(), process()
    refitted.take_in(data)
    restored.load_state_dict(refitted.state_dict())
    data.add(points[10:], np.array([3.0, 4.0]), None)
    np.testing.assert_array_equal(restored.posterior(data).points, points)
