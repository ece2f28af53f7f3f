"""What follows noise: the width of a cloud, and its episodes."""

import numpy as np
import pytest

from rolecast.core.types import Float
from rolecast.platform.optimizers.local_gp.constants import SEARCH_CONSTANTS
from rolecast.platform.optimizers.local_gp.evidence import noise_shape
from rolecast.platform.optimizers.local_gp.noise import NoiseRule, signal_to_noise

WANTED = 1.0


def batch(ratio: float, count: int = SEARCH_CONSTANTS.full_noise_batch) -> tuple[Float, Float]:
    """Return returns of variance 1 + ratio, exactly, and standard errors of 1."""
    spread = np.linspace(-1.0, 1.0, count)
    return spread * np.sqrt((1.0 + ratio) / spread.var(ddof=1)), np.ones(count)


def hear(rule: NoiseRule, ratio: float, count: int = SEARCH_CONSTANTS.full_noise_batch) -> float:
    """Let a rule hear a batch of that ratio; return its width then."""
    rule.update(*batch(ratio, count))
    return rule.width


def test_the_cloud_narrows_where_returns_vary_by_more_than_noise_and_widens_back() -> None:
    rule = NoiseRule(WANTED)
    narrowing = [hear(rule, 9.0) for _ in range(20)]
    widening = [hear(rule, 0.0) for _ in range(20)]
    assert (np.diff([1.0, *narrowing]) <= 0.0).all()
    assert narrowing[0] < 1.0
    assert narrowing[-1] == SEARCH_CONSTANTS.least_noise_width
    assert (np.diff(widening) >= 0.0).all()
    assert widening[-1] == 1.0


def test_it_stays_at_the_ratio_that_is_wanted() -> None:
    rule = NoiseRule(WANTED)
    before = hear(rule, 9.0)
    assert hear(rule, WANTED) == pytest.approx(before)


def test_four_small_batches_say_as_much_as_one_of_all_their_evaluations() -> None:
    small, large = NoiseRule(WANTED), NoiseRule(WANTED)
    hear(large, 4.0)
    for _ in range(4):
        hear(small, 4.0, SEARCH_CONSTANTS.full_noise_batch // 4)
    assert small.width == pytest.approx(large.width)


def test_where_there_is_next_to_no_noise_the_cloud_is_as_wide_as_ever() -> None:
    rule = NoiseRule(WANTED)
    narrow = min(hear(rule, 0.9 * SEARCH_CONSTANTS.quiet_ratio) for _ in range(20))
    assert narrow == SEARCH_CONSTANTS.least_noise_width
    assert max(hear(rule, 1.1 * SEARCH_CONSTANTS.quiet_ratio) for _ in range(20)) == 1.0


def test_episodes_are_saved_where_there_is_next_to_no_noise_and_come_back_with_it() -> None:
    rule, seen = NoiseRule(WANTED), []
    for ratio in (
        1.5 * SEARCH_CONSTANTS.quiet_ratio,
        3.0 * SEARCH_CONSTANTS.quiet_ratio,
        3.0 * SEARCH_CONSTANTS.quiet_ratio,
        3.0 * SEARCH_CONSTANTS.quiet_ratio,
        5.0,
        0.5,
        0.5,
        0.5,
    ):
        hear(rule, ratio)
        seen.append(rule.episodes(8))
    assert seen == [8, 4, 2, 2, 2, 2, 4, 8]


@pytest.mark.parametrize(("planned", "least"), [(1, 1), (2, 2), (3, 2), (8, 2), (64, 4)])
def test_two_episodes_stay_where_there_are_two(planned: int, least: int) -> None:
    rule = NoiseRule(WANTED)
    for _ in range(30):
        hear(rule, SEARCH_CONSTANTS.signal_ratio_limit)
    assert rule.episodes(planned) == least


def test_nothing_follows_noise_where_none_is_wanted() -> None:
    rule = NoiseRule(0.0)
    assert hear(rule, SEARCH_CONSTANTS.signal_ratio_limit) == 1.0
    assert rule.episodes(8) == 8


def test_it_goes_on_from_a_state() -> None:
    one, other = NoiseRule(WANTED), NoiseRule(WANTED)
    for _ in range(9):
        hear(one, 20.0)
    other.load_state_dict(one.state_dict())
    assert other.explain() == one.explain()
    assert hear(other, 0.3) == hear(one, 0.3)
    assert other.episodes(8) == one.episodes(8)


def test_the_ratio_is_that_of_variances() -> None:
    """Signal of deviation 2, noise of 1: 4. False alarm: 6e-7, as 5 deviations of 5 * 0.022."""
    rng = np.random.default_rng(0)
    truth = 1000.0 + 2.0 * rng.standard_normal(4000)
    ratio = signal_to_noise(truth + rng.standard_normal(4000), np.ones(4000))
    assert ratio == pytest.approx(4.0, abs=0.56)


def test_returns_that_are_luck_alone_have_no_signal() -> None:
    """Most episodes pay nothing, some 10, whoever acts. Of 200 seeds the deviation is 0.026.

    A ratio of roots of such returns would be above 2, for their errors are linearised at 0.
    """
    episodes = 10.0 * (np.random.default_rng(0).random((4000, 8)) < 0.1)
    errors = episodes.std(axis=1, ddof=1) / np.sqrt(8)
    ratio = signal_to_noise(episodes.mean(axis=1), errors)
    assert ratio is not None
    assert 0.0 <= ratio < 0.1


def test_without_noise_the_ratio_is_the_greatest() -> None:
    assert signal_to_noise(np.array([1.0, 2.0]), np.zeros(2)) == pytest.approx(
        SEARCH_CONSTANTS.signal_ratio_limit - 1
    )


@pytest.mark.parametrize(
    ("returns", "errors"),
    [([1.0, 2.0], [np.nan, 1.0]), ([0.0, 0.0], [0.0, 0.0]), ([1.0], [1.0]), ([], [])],
)
def test_where_noise_is_unknown_or_nothing_varies_there_is_no_ratio(
    returns: list[float], errors: list[float]
) -> None:
    assert signal_to_noise(np.array(returns), np.array(errors)) is None


def test_the_ratio_of_errors_is_limited_and_an_error_of_0_counts_as_the_median() -> None:
    errors = np.array([1e-6, 1.0, 1.0, 1.0, 1e6, 0.0, np.nan])
    np.testing.assert_allclose(noise_shape(errors, 1.0), [0.05, 1, 1, 1, 20, 1, 1])
    np.testing.assert_allclose(noise_shape(errors, 0.5), np.sqrt(noise_shape(errors, 1.0)))
    np.testing.assert_array_equal(noise_shape(errors, 0.0), np.ones(7))
