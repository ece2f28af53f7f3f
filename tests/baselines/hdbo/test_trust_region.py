"""The box of TuRBO grows, shrinks and is filled as its paper says."""

import numpy as np
import pytest

from rolecast.baselines.hdbo.surrogate import fit, process
from rolecast.baselines.hdbo.trust_region import (
    TrustRegion,
    box,
    candidates,
    gains,
    kernel,
    noise,
)


@pytest.mark.parametrize(
    ("q", "dimension", "batches", "lengths"),
    [
        # tau_fail = ceil(max(4/5, 12/5)) = 3 batches.
        (5, 12, "---+++--+---", "8 8 4 4 4 8 8 8 8 8 8 4"),
        # tau_fail = ceil(max(4/50, 12/50)) = 1 batch.
        (50, 12, "-+++-+-", "4 4 4 8 4 4 2"),
        # tau_fail = ceil(max(4, 2)) = 4 batches of one.
        (1, 2, "----++-+++++++", "8 8 8 4 4 4 4 4 4 8 8 8 16 16"),
        # Never above 1.6, and successes must follow each other.
        (4, 4, "++++++++++-", "8 8 16 16 16 16 16 16 16 16 8"),
    ],
)
def test_the_side_follows_the_schedule_by_hand(
    q: int, dimension: int, batches: str, lengths: str
) -> None:
    region, seen = TrustRegion(), []
    for batch in batches:
        region.judge(batch == "+", q, max(4, dimension))
        seen.append(region.length)
    np.testing.assert_allclose(seen, [0.1 * float(length) for length in lengths.split()])


def test_a_region_ends_below_a_side_of_one_in_128() -> None:
    region = TrustRegion()
    ended = []
    for _ in range(8):
        ended.append(region.too_small)
        region.judge(False, 9, 9)
    assert ended == [False] * 7 + [True]  # 0.8 / 2^6 = 0.0125, 0.8 / 2^7 = 0.00625 < 0.0078125


@pytest.mark.parametrize(
    ("best", "before", "gained"),
    [(1.0, 1.0, False), (1.0009, 1.0, False), (1.0011, 1.0, True), (-9.98, -10.0, True)],
)
def test_a_success_gains_a_thousandth(best: float, before: float, gained: bool) -> None:
    assert gains(best, before) is gained


def test_the_box_has_its_volume_and_the_proportions_of_the_lengthscales() -> None:
    centre, scales = np.full(3, 0.5), np.array([0.2, 0.4, 0.8])
    low, high = box(centre, scales, 0.3)
    np.testing.assert_allclose((high - low) / scales, (high - low)[0] / scales[0])
    assert np.prod(high - low) == pytest.approx(0.3**3)
    np.testing.assert_allclose(0.5 * (low + high), centre)


def test_the_box_stays_in_the_cube() -> None:
    low, high = box(np.array([0.05, 0.9]), np.ones(2), 0.8)
    np.testing.assert_allclose(low, [0.0, 0.5])
    np.testing.assert_allclose(high, [0.45, 1.0])


def test_candidates_move_some_twenty_coordinates_inside_the_box() -> None:
    """False alarm: 1e-6 a seed; moved coordinates of one of 1,000 are binomial (200, 0.1)."""
    centre = np.random.default_rng(0).random(200)
    low, high = np.maximum(centre - 0.1, 0.0), np.minimum(centre + 0.1, 1.0)
    points = candidates(centre, (low, high), 1000, np.random.default_rng(1))
    assert ((points >= low) & (points <= high)).all()
    moved = (points != centre).sum(1)
    assert moved.min() >= 1
    assert abs(moved.mean() - 20.0) < 4.89 * np.sqrt(200 * 0.1 * 0.9 / 1000)


@pytest.mark.parametrize("seed", [0, 1, 3])
def test_a_fit_finds_noise_that_nobody_told(seed: int) -> None:
    """A tenth of the variance is noise; a fit that began next to none stayed there."""
    rng = np.random.default_rng(seed)
    inputs = rng.random((60, 5))
    exact = -np.square(inputs - 0.3).sum(1)
    returns = exact / exact.std() + 0.1**0.5 * rng.standard_normal(60)
    targets = (returns - returns.mean()) / returns.std()
    model = process(inputs, targets, np.zeros(60), kernel(5), noise(1e-6))
    fit(model, 50)
    assert 0.03 < model.likelihood.second_noise_covar.noise.item() < 0.2
