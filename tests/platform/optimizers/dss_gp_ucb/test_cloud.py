"""When the cloud of a local search narrows, and when it widens again."""

from dataclasses import replace

import numpy as np
import pytest

from rolecast.platform.optimizers.dss_gp_ucb.cloud import CLOSEST, HEARD, Cloud, signal_to_noise
from rolecast.platform.optimizers.dss_gp_ucb.reach import POLICIES, black_boxes

DIMENSION = 8
REACH = replace(black_boxes(DIMENSION), radius=1.0, final_radius=0.01)


def cloud() -> Cloud:
    return Cloud(REACH, evaluations=1, dimension=DIMENSION)


def policies_cloud() -> Cloud:
    """Return a cloud whose radius, but for noise, is 0.2 until its budget begins."""
    return Cloud(POLICIES, evaluations=1000, dimension=DIMENSION)


def test_it_narrows_while_moves_cancel_and_no_further_than_it_may() -> None:
    narrowing = cloud()
    there = np.eye(DIMENSION)[0]
    radii = []
    for turn in range(40):
        narrowing.moved(there if turn % 2 else -there)
        radii.append(narrowing.radius(0))
    assert (np.diff(radii) <= 0.0).all()
    assert radii[4] < 0.5
    assert radii[-1] == REACH.final_radius


def test_it_widens_while_moves_add_up_and_no_further_than_at_first() -> None:
    widening = cloud()
    for _ in range(6):
        widening.moved(np.zeros(DIMENSION))
    narrow = widening.radius(0)
    radii = []
    for _ in range(40):
        widening.moved(np.eye(DIMENSION)[0])
        radii.append(widening.radius(0))
    assert narrow < 0.1
    assert radii[-1] == REACH.radius


def test_random_moves_are_no_progress() -> None:
    """Their average has length sqrt(0.3 / 1.7) = 0.42: a factor of 0.85 a batch."""
    rng, wandering = np.random.default_rng(0), cloud()
    for _ in range(200):
        move = rng.standard_normal(DIMENSION)
        wandering.moved(move / np.linalg.norm(move))
    assert wandering.radius(0) == REACH.final_radius


@pytest.mark.parametrize("turns", [3, 9])
def test_it_goes_on_from_a_state(turns: int) -> None:
    one, other = cloud(), cloud()
    for turn in range(turns):
        one.moved(np.eye(DIMENSION)[turn % 2])
    other.load_state_dict(one.state_dict())
    for each in (one, other):
        each.moved(np.full(DIMENSION, 0.1))
    assert one.radius(0) == other.radius(0)


def test_it_narrows_where_returns_vary_by_more_than_noise_and_widens_back_where_not() -> None:
    hearing = policies_cloud()
    radii = []
    for ratio in [9.0] * 20 + [0.0] * 20:
        hearing.heard(ratio, HEARD)
        radii.append(hearing.radius(0))
    assert (np.diff(radii[:20]) <= 0.0).all()
    assert radii[0] < POLICIES.radius
    assert radii[19] == pytest.approx(CLOSEST * POLICIES.radius)
    assert (np.diff(radii[20:]) >= 0.0).all()
    assert radii[-1] == POLICIES.radius


def test_noise_never_widens_it_beyond_the_schedule() -> None:
    hearing = policies_cloud()
    hearing.heard(0.0, HEARD)
    assert hearing.radius(1000) == pytest.approx(POLICIES.final_radius)


def test_it_stays_at_the_ratio_that_is_wanted() -> None:
    hearing = policies_cloud()
    hearing.heard(9.0, HEARD)
    before = hearing.radius(0)
    hearing.heard(POLICIES.signal_to_noise, HEARD)
    assert hearing.radius(0) == before


def test_four_small_batches_say_as_much_as_one_of_all_their_evaluations() -> None:
    small, large = policies_cloud(), policies_cloud()
    large.heard(4.0, HEARD)
    for _ in range(4):
        small.heard(4.0, HEARD // 4)
    assert small.radius(0) == pytest.approx(large.radius(0))


def test_a_black_box_is_left_to_its_moves() -> None:
    deaf = cloud()
    deaf.heard(100.0, HEARD)
    assert deaf.radius(0) == REACH.radius


@pytest.mark.parametrize("levelling", ["none", "signed_sqrt", "rank"])
def test_the_ratio_is_that_of_variances(levelling: str) -> None:
    """Signal of deviation 2, noise of 1: 4. False alarm: 6e-7, as 5 deviations of 0.035 * 4."""
    rng = np.random.default_rng(0)
    truth = 1000.0 + 2.0 * rng.standard_normal(4000)
    ratio = signal_to_noise(truth + rng.standard_normal(4000), np.ones(4000), levelling)
    # Ranks are not linear in returns: their average slope is 1 only nearly.
    assert ratio == pytest.approx(4.0, abs=0.7)


def test_what_is_noise_alone_has_no_signal() -> None:
    """False alarm: 6e-7, as 5 deviations of sqrt(2 / 4000)."""
    noise = np.random.default_rng(0).standard_normal(4000)
    ratio = signal_to_noise(noise, np.ones(4000), "none")
    assert ratio is not None
    assert 0.0 <= ratio < 0.12


@pytest.mark.parametrize(
    ("returns", "errors"),
    [([1.0, 2.0], [np.nan, 1.0]), ([1.0, 2.0], [0.0, 0.0]), ([1.0], [1.0]), ([], [])],
)
def test_where_noise_is_unknown_or_none_there_is_no_ratio(
    returns: list[float], errors: list[float]
) -> None:
    assert signal_to_noise(np.array(returns), np.array(errors), "none") is None
