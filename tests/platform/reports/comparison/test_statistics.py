"""Intervals are those of resampled seeds, each taken in all its strata, and say when none is."""

import numpy as np
import pytest
from scipy import stats

from rolecast.core.types import Float
from rolecast.platform.reports.comparison.statistics import (
    BOOTSTRAP_RESAMPLES,
    BOOTSTRAP_SEED,
    SUMMARY_STATISTICS,
    Estimate,
    complete_seeds,
    estimate,
    expanded_tail,
    iqm,
    probability_of_improvement,
)


def tails(seeds: int) -> list[float]:
    """Return the quantiles of resamples at which an interval ends."""
    return [expanded_tail(seeds), 1.0 - expanded_tail(seeds)]


def figures(found: Estimate) -> tuple[float, float, float]:
    """Return value, low and high of a single figure that has an interval."""
    assert found.low is not None
    assert found.high is not None
    return float(found.value), float(found.low), float(found.high)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([7.0], 7.0),
        ([0.0, 3.0, 9.0], 4.0),
        ([0.0, 1.0, 3.0, 1000.0], 2.0),
        ([-1000.0, 1.0, 2.0, 6.0, 1000.0], 3.0),
        ([8.0, 1.0, 7.0, 2.0, 6.0, 3.0, 5.0, 4.0], 4.5),
    ],
)
def test_the_interquartile_mean_leaves_a_quarter_out_at_either_end(
    values: list[float], expected: float
) -> None:
    assert iqm(np.array(values)) == pytest.approx(expected)
    assert estimate([np.array(values)], "IQM").value == pytest.approx(expected)


@pytest.mark.parametrize("seeds", [1, 2, 3, 4])
def test_there_is_no_interval_below_five_seeds(seeds: int) -> None:
    for strata in ([np.arange(float(seeds))], [np.arange(9.0), np.arange(float(seeds))]):
        found = estimate(strata)
        assert found.value == pytest.approx(np.concatenate(strata).mean())
        assert found.low is None
        assert found.high is None
    pair = probability_of_improvement([(np.arange(9.0), np.arange(float(seeds)))])
    assert pair.low is None


def test_from_five_seeds_on_the_interval_is_that_of_the_resamples() -> None:
    """Of five equal steps, 5^5 resamples: the quantiles of their means are counted exactly."""
    grid = np.stack(np.meshgrid(*[np.arange(5.0)] * 5), -1).reshape(-1, 5).mean(1)
    value, low, high = figures(estimate([np.arange(5.0)]))
    assert value == 2.0
    tail = expanded_tail(5)
    assert low == pytest.approx(np.quantile(grid, tail), abs=0.2)
    assert high == pytest.approx(np.quantile(grid, 1.0 - tail), abs=0.2)


@pytest.mark.parametrize(("seeds", "least"), [(5, 0.9), (10, 0.92)])
def test_an_interval_of_few_seeds_holds_the_mean_nearly_as_often_as_it_says(
    seeds: int, least: float
) -> None:
    """Of 4000 normal samples; plain percentiles hold it in 83 % with five seeds, 90 % with ten.

    False alarm: below 1e-6, for a share of 0.92 or 0.945 errs by 0.0043 at most.
    """
    samples = np.random.default_rng(1).standard_normal((4000, seeds))
    found = estimate([samples])
    assert found.low is not None
    assert found.high is not None
    held = ((found.low <= 0.0) & (found.high >= 0.0)).mean()
    assert least < held < 0.97


def test_the_tail_is_that_of_the_source_and_nears_the_normal_one() -> None:
    root = np.sqrt(5.0 / 4.0)
    assert expanded_tail(5) == pytest.approx(stats.norm.cdf(-root * stats.t.ppf(0.975, 4)))
    assert expanded_tail(10**6) == pytest.approx(0.025, abs=1e-6)


def test_strata_are_resampled_each_from_its_own_seeds() -> None:
    """Drawn from one pool instead, the mean of these would vary between 0 and 100."""
    found = estimate([np.zeros(5), np.full(5, 100.0)])
    assert figures(found) == (50.0, 50.0, 50.0)


SEEDS = np.array([1.0, 4.0, 9.0, 16.0, 30.0])


@pytest.mark.parametrize("statistic", ["mean", "IQM"])
def test_a_run_that_stands_in_several_strata_is_no_further_evidence(statistic: str) -> None:
    """Were strata drawn apart, four copies would halve the width of the interval."""
    once, copied = (figures(estimate([SEEDS] * count, statistic)) for count in (1, 4))
    if statistic == "mean":
        assert copied == pytest.approx(once)
    else:
        assert copied[2] - copied[1] > 0.8 * (once[2] - once[1])
    theirs = np.array([3.0, 8.0, 2.0, 9.0, 12.0])
    one, two = (probability_of_improvement([(SEEDS, theirs)] * count) for count in (1, 3))
    assert figures(one) == pytest.approx(figures(two))


def test_a_seed_that_a_stratum_lacks_counts_in_the_others() -> None:
    lacking = np.array([np.nan, 2.0, 2.0, 2.0, 2.0, 2.0])
    value, low, high = figures(estimate([lacking, np.full(6, 8.0)]))
    assert value == pytest.approx((5 * 2.0 + 6 * 8.0) / 11)
    assert 5.0 <= low < high
    assert estimate([lacking[:5], np.full(5, 8.0)]).low is None
    pair = probability_of_improvement([(lacking, np.arange(6.0)), (np.full(6, 9.0), np.zeros(6))])
    assert pair.value == pytest.approx((2.5 / 6 + 1.0) / 2)


def test_strata_of_unequal_seeds_are_pooled() -> None:
    found = estimate([np.array([0.0, 0.0]), np.array([6.0, 6.0, 6.0, 6.0])])
    assert found.value == pytest.approx(4.0)


def test_a_stratum_without_seeds_is_refused() -> None:
    with pytest.raises(ValueError, match="has no seed"):
        estimate([np.zeros(0)])


def test_the_interval_of_many_seeds_is_the_normal_one() -> None:
    """The bootstrap's own error is 2 % of the width at 2000 resamples; a fault would be 10 %."""
    values = np.random.default_rng(3).normal(10.0, 2.0, 400)
    found = estimate([values])
    stderr = values.std(ddof=1) / np.sqrt(values.size)
    _, low, high = figures(found)
    assert low == pytest.approx(values.mean() - 1.96 * stderr, abs=0.15 * stderr)
    assert high == pytest.approx(values.mean() + 1.96 * stderr, abs=0.15 * stderr)


def test_a_seed_is_drawn_with_all_its_points() -> None:
    """Were points drawn apart, their difference, a constant here, would vary."""
    seeds = np.array([1.0, 4.0, 9.0, 16.0, 25.0])
    found = estimate([np.stack([seeds, seeds + 100.0])], "IQM")
    assert found.low is not None
    assert found.value.shape == (2,)
    np.testing.assert_allclose(np.diff(found.value), 100.0)
    np.testing.assert_allclose(np.diff(found.low), 100.0)


@pytest.mark.parametrize("statistic", SUMMARY_STATISTICS)
@pytest.mark.parametrize("lacking", [0, 3])
def test_counts_of_seeds_give_the_interval_of_the_drawn_seeds(statistic: str, lacking: int) -> None:
    """Two strata of nine seeds at two points, against resamples that are written out."""
    rng = np.random.default_rng(4)
    strata = [rng.normal(size=(2, 9)) for _ in range(2)]
    strata[1][:, :lacking] = np.nan
    drawn = np.random.default_rng(BOOTSTRAP_SEED).integers(0, 9, (BOOTSTRAP_RESAMPLES, 9))
    resamples = np.concatenate([each[:, drawn] for each in strata], axis=-1)
    expected = np.nanquantile(SUMMARY_STATISTICS[statistic](resamples), tails(9), axis=-1)
    found = estimate(strata, statistic)
    assert found.low is not None
    assert found.high is not None
    np.testing.assert_allclose(np.stack([found.low, found.high]), expected, rtol=1e-10, atol=1e-12)


def test_counts_of_seeds_give_the_improvement_of_the_drawn_seeds() -> None:
    ours, theirs = np.array([1.0, 2.0, 3.0, 5.0, 4.0]), np.array([2.0, 2.0, 0.0, 1.0, 6.0, 3.0])
    rng = np.random.default_rng(BOOTSTRAP_SEED)
    first, second = (
        each[rng.integers(0, each.size, (BOOTSTRAP_RESAMPLES, each.size))]
        for each in (ours, theirs)
    )
    difference = first[:, :, None] - second[:, None, :]
    shares = ((difference > 0) + 0.5 * (difference == 0)).mean(axis=(1, 2))
    found = probability_of_improvement([(ours, theirs)])
    assert figures(found)[1:] == pytest.approx(np.quantile(shares, tails(5)))


def test_the_same_results_have_the_same_interval() -> None:
    values = np.random.default_rng(0).normal(size=6)
    first, second = (estimate([values]) for _ in range(2))
    assert figures(first) == figures(second)


PAIRS = [
    (np.array([1.0, 2.0, 3.0, 0.0, 4.0]), np.array([2.0, 2.0, 0.0, 1.0, 3.0])),
    (np.random.default_rng(1).normal(0.3, 1, 7), np.random.default_rng(2).normal(0, 1, 5)),
]


@pytest.mark.parametrize(("ours", "theirs"), PAIRS)
def test_the_probability_of_improvement_is_mann_and_whitneys(ours: Float, theirs: Float) -> None:
    expected = stats.mannwhitneyu(ours, theirs).statistic / (ours.size * theirs.size)
    found = probability_of_improvement([(ours, theirs)])
    value, low, high = figures(found)
    assert value == pytest.approx(expected)
    assert 0.0 <= low < value < high <= 1.0


def test_settings_weigh_alike_in_the_probability_of_improvement() -> None:
    sure, never = (np.full(5, 9.0), np.zeros(6)), (np.zeros(5), np.full(9, 1.0))
    found = probability_of_improvement([sure, never])
    assert figures(found) == (0.5, 0.5, 0.5)


def test_a_method_always_better_improves_with_certainty() -> None:
    found = probability_of_improvement([(3.0 + np.arange(5.0), -np.arange(5.0))])
    assert figures(found) == (1.0, 1.0, 1.0)


def test_pooled_seeds_are_those_that_each_setting_has() -> None:
    easy, hard = complete_seeds([np.array([9.0, 8.0, 7.0]), np.array([1.0, np.nan, 3.0])])
    np.testing.assert_array_equal(easy, [9.0, 7.0])
    np.testing.assert_array_equal(hard, [1.0, 3.0])
    (none, _) = complete_seeds([np.array([9.0, np.nan]), np.array([np.nan, 1.0])])
    assert none.size == 0
