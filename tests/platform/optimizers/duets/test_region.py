"""Regions: membership, uniform draws, suprema and boxes, against brute force on a grid."""

import numpy as np
import pytest
from scipy import stats

from rolecast.core.errors import RequestError
from rolecast.core.types import Float
from rolecast.platform.optimizers.duets import region as module
from rolecast.platform.optimizers.duets.coins import Coins
from rolecast.platform.optimizers.duets.domain import Ball, Box
from rolecast.platform.optimizers.duets.kernel import StationaryKernel
from rolecast.platform.optimizers.duets.region import Region
from rolecast.testing.optimizers import require_same_state

KERNEL = StationaryKernel("squared_exponential", 0.3)


def two_peaks(width: float) -> Region:
    """The unit square trimmed to where two kernels' sum is within `width` of its maximum."""
    centres = np.array([[0.25, 0.25], [0.8, 0.7]])
    return Region.whole(Box.unit(2), KERNEL).trimmed(centres, np.array([1.0, 0.98]), width)


def test_a_region_is_what_passes_equation_9() -> None:
    region = two_peaks(0.3)
    grid = np.random.default_rng(0).random((5000, 2))
    means = KERNEL.matrix(grid, region.tests[0].inducing) @ [1.0, 0.98]
    expected = means >= region.tests[0].supremum - 0.3
    np.testing.assert_array_equal(region.contains(grid), expected)
    assert 0.02 < expected.mean() < 0.5


def test_the_supremum_is_climbed_beyond_the_candidates() -> None:
    from scipy.optimize import minimize

    region = two_peaks(0.3)
    weights = np.array([1.0, 0.98])

    def negative(point: Float) -> float:
        return -float(KERNEL.matrix(point[None], region.tests[0].inducing)[0] @ weights)

    found = minimize(negative, [0.25, 0.25], method="Nelder-Mead", options={"xatol": 1e-10})
    assert region.tests[0].supremum == pytest.approx(-found.fun, abs=1e-7)
    np.testing.assert_allclose(region.tests[0].maximiser, found.x, atol=1e-3)


@pytest.mark.parametrize("width", [0.3, 0.02, 1e-4])
def test_draws_are_uniform_in_all_components_and_each_is_its_own(width: float) -> None:
    """Kolmogorov-Smirnov against rejection from the square; false alarm 1e-6 a coordinate."""
    region = two_peaks(width)
    drawn = region.draw(Coins(0, 2, np.arange(50)), 50, 0, 40)
    assert region.contains(drawn.reshape(-1, 2)).all()
    rng = np.random.default_rng(1)
    low, high = region.low, region.high
    reference = low + rng.random((400_000, 2)) * (high - low)
    reference = reference[region.contains(reference)][:4000]
    assert len(reference) > 300
    for place in (0, 1):
        result = stats.ks_2samp(drawn[..., place].ravel(), reference[:, place])
        assert result.pvalue > 1e-6
    alone = region.draw(Coins(0, 2, np.array([17])), 1, 5, 3)
    np.testing.assert_array_equal(alone[0], drawn[17, 5:8])


def test_the_box_holds_all_of_the_region_and_shrinks_with_it() -> None:
    volumes = []
    for width in (0.3, 0.02, 1e-3, 1e-5):
        region = two_peaks(width)
        cube = np.random.default_rng(0).random((200_000, 2))
        inside = cube[region.contains(cube)]
        assert ((inside >= region.low) & (inside <= region.high)).all()
        volumes.append(np.prod(region.high - region.low))
    assert volumes[-1] < 1e-3
    assert sorted(volumes, reverse=True) == volumes


def test_candidates_are_laid_anew_in_a_small_region() -> None:
    region = two_peaks(1e-5)
    assert len(region.candidates) > 1000
    assert region.contains(region.candidates).all()


def test_a_ball_in_ten_dimensions_is_sampled() -> None:
    ball, kernel = Ball(10), StationaryKernel("squared_exponential", 1.0)
    region = Region.whole(ball, kernel).trimmed(np.full((1, 10), 0.3), np.ones(1), 0.1)
    drawn = region.draw(Coins(0, 1, np.arange(4)), 4, 0, 10).reshape(-1, 10)
    assert region.contains(drawn).all()
    assert (np.linalg.norm(drawn, axis=1) <= 1.0).all()


def test_a_region_that_no_draw_meets_is_an_error_and_no_endless_loop(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "MOST_ATTEMPTS", 1)
    monkeypatch.setattr(module, "ATTEMPT_BLOCK", 64)
    region = two_peaks(1e-4)
    message = r"found in 1 attempts after 1 trimmings; .* the last mean was greatest at \[0\.29"
    with pytest.raises(RequestError, match=message):
        region.draw(Coins(0, 2, np.arange(9)), 9, 0, 9)


def test_a_region_is_restored_to_the_last_bit() -> None:
    region = two_peaks(0.01)
    state = region.state_dict()
    again = Region.whole(Box.unit(2), KERNEL).restored(state)
    require_same_state(again.state_dict(), state)
