"""Symmetries by evidence: right ties are accepted and wrong ones refused, on a known function."""

from typing import Any

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from rolecast.core.errors import ConfigError
from rolecast.core.types import Float
from rolecast.platform.optimizers.local_gp.config import LocalGpConfig
from rolecast.platform.optimizers.local_gp.constants import SEARCH_CONSTANTS
from rolecast.platform.optimizers.local_gp.metric import Metric
from rolecast.platform.optimizers.local_gp.search import LocalSearch
from rolecast.platform.optimizers.local_gp.symmetry import (
    SYMMETRY_USES,
    evidence_against,
    linear_evidence,
)
from rolecast.platform.optimizers.observations import Observations
from rolecast.platform.surrogate.outcome_transform import transform_returns
from rolecast.platform.surrogate.relevance import group_variances, relevance
from rolecast.policies.symmetry import TiedSubspace

DIMENSION = 48
TIES = tuple(
    int(x) for x in np.repeat(np.arange(1, 7), 8) * np.tile([1, -1, 1, 1, -1, 1, -1, -1], 6)
)
"""Six orbits of eight dimensions with signs."""

WRONG_TIES = tuple(int(x) for x in np.random.default_rng(4).permutation(TIES))


def value(points: Float, rng: np.random.Generator, episodes: Float) -> Float:
    """Return noisy values of a function that all ties leave as it is."""
    deviations = TiedSubspace(TIES)
    inside = (points - 0.5) @ deviations.basis
    outside = (points - 0.5) - inside @ deviations.basis.T
    signal = 20.0 + 40.0 * inside @ np.ones(6) - 10.0 * np.square(outside).sum(1)
    return np.asarray(signal + episodes + 1.0 * rng.standard_normal(len(points)))


def searched(ties: tuple[int, ...] | None, seed: int, **settings: Any) -> tuple[LocalSearch, float]:
    """Return a search of 14 batches, and its incumbent's sum of tied coordinates."""
    config = LocalGpConfig(
        groups=tuple(range(DIMENSION)), ties=ties, outcome_transform="none", **settings
    )
    optimizer = config.build(dimension=DIMENSION, seed=seed)
    assert isinstance(optimizer, LocalSearch)
    rng = np.random.default_rng(seed + 1)
    for batch in range(14):
        optimizer.pace(batch / 14)
        points = optimizer.ask(40)
        common = 5.0 * np.repeat(rng.standard_normal(20), 2)
        returns = value(points, rng, common)
        optimizer.tell(points, returns, np.full(40, 5.0))
    return optimizer, float(((optimizer.best() - 0.5) @ TiedSubspace(TIES).basis).sum())


@pytest.mark.parametrize("seed", range(3))
def test_right_ties_are_accepted_and_help(seed: int) -> None:
    accepted, reached = searched(TIES, seed)
    plain, reached_without = searched(TIES, seed, symmetry="ignored")
    np.testing.assert_array_equal(plain.best(), searched(None, seed)[0].best())
    found = accepted.explain()
    assert found["symmetric"] == 1.0
    assert found["evidence_against_symmetry"] < -SEARCH_CONSTANTS.refusal_margin
    assert reached > reached_without
    projected = TiedSubspace(TIES).projected(accepted.best() - 0.5)
    np.testing.assert_allclose(accepted.best() - 0.5, projected, atol=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_wrong_ties_are_refused(seed: int) -> None:
    refused, reached = searched(WRONG_TIES, seed)
    found = refused.explain()
    assert found["symmetric"] == 0.0
    assert found["evidence_against_symmetry"] > SEARCH_CONSTANTS.refusal_margin
    held, lost = searched(WRONG_TIES, seed, symmetry="assumed")
    assert reached > lost
    assert "symmetric" not in held.explain()


def test_the_evidence_is_the_density_of_the_linear_model() -> None:
    """Against a multivariate normal, whose scale is profiled over the grid's noise levels."""
    rng = np.random.default_rng(0)
    for count, size in ((9, 4), (5, 11)):
        inputs = rng.normal(size=(count, size))
        values = inputs @ rng.normal(size=size) + rng.normal(size=count)
        scale = np.square(inputs).sum() / count
        best = -np.inf
        for noise in SEARCH_CONSTANTS.linear_noises:
            covariance = inputs @ inputs.T / scale + noise * np.eye(count)
            factor = values @ np.linalg.solve(covariance, values) / count
            density = multivariate_normal(np.zeros(count), factor * covariance).logpdf(values)
            best = max(best, density + 0.5 * count * (1.0 + np.log(2.0 * np.pi)))
        assert linear_evidence(inputs, values) == pytest.approx(best)


def test_values_or_inputs_without_spread_give_a_finite_evidence() -> None:
    assert linear_evidence(np.ones((3, 2)), np.zeros(3)) == 0.0
    assert np.isfinite(linear_evidence(np.zeros((3, 2)), np.ones(3)))


def test_without_pairs_deviations_from_the_mean_are_compared() -> None:
    rng = np.random.default_rng(2)
    points = 0.5 + 0.05 * rng.standard_normal((400, DIMENSION))
    returns = value(points, rng, np.zeros(400))
    for ties, sign in ((TIES, -1.0), (WRONG_TIES, 1.0)):
        found = evidence_against(points, returns, np.arange(400), TiedSubspace(ties))
        assert sign * found > SEARCH_CONSTANTS.refusal_margin


def metric(symmetry: str) -> Metric:
    groups = tuple(int(k) for k in np.arange(DIMENSION) // 4)
    config = LocalGpConfig(groups=groups, ties=TIES, symmetry=symmetry)
    found = Metric(config, 0.5, dimension=DIMENSION)
    found.symmetric = symmetry != "ignored"
    return found


@pytest.mark.parametrize(
    ("symmetric", "against", "after"),
    [(False, -0.9, False), (False, -1.1, True), (True, 2.9, True), (True, 3.1, False)],
)
def test_accepting_takes_one_nat_and_refusing_three(
    monkeypatch: pytest.MonkeyPatch, *, symmetric: bool, against: float, after: bool
) -> None:
    place = "rolecast.platform.optimizers.local_gp.metric.evidence_against"
    monkeypatch.setattr(place, lambda *_: against)
    found, data = metric("evidence"), Observations(DIMENSION)
    found.symmetric = symmetric
    data.add(np.random.default_rng(0).random((4, DIMENSION)), np.arange(4.0), None)
    found.judge_symmetries(data, np.arange(4))
    assert found.symmetric is after
    assert found.free_share == (6 / DIMENSION if after else 1.0)


def test_pairs_are_compared_in_whatever_order_they_are_told() -> None:
    """Asynchronous searches tell candidates as their episodes end."""
    rng = np.random.default_rng(0)
    points = 0.5 + 0.01 * rng.standard_normal((40, DIMENSION))
    groups = np.repeat(np.arange(20), 2)
    returns = value(points, rng, 5.0 * rng.standard_normal(20)[groups])
    order = rng.permutation(40)
    space = TiedSubspace(TIES)
    told = evidence_against(points, returns, groups, space)
    shuffled = evidence_against(points[order], returns[order], groups[order], space)
    assert shuffled == pytest.approx(told, rel=1e-9)


def test_until_evidence_decides_every_second_draw_is_symmetric() -> None:
    """False alarm: 1e-6 for each kind of draw, of a relative error of 4.9 standard errors."""
    undecided = metric("evidence")
    undecided.symmetric = False
    noise = np.random.default_rng(0).standard_normal((8000, DIMENSION))
    drawn, subspace = undecided.shaped(noise, 1.0), TiedSubspace(TIES)
    outside = np.square(drawn - subspace.projected(drawn)).sum(1)
    np.testing.assert_allclose(outside[1::2], 0.0, atol=1e-20)
    assert outside[::2].min() > 0.1
    for rows in (drawn[::2], drawn[1::2]):
        squares = np.square(rows).sum(1)
        assert abs(squares.mean() - 1.0) < 4.9 * squares.std(ddof=1) / np.sqrt(len(squares))
    undecided.evidence_against = 2.0 * SEARCH_CONSTANTS.refusal_margin
    refused = undecided.shaped(noise, 1.0)
    assert np.square(refused - subspace.projected(refused)).sum(1).min() > 0.1


@pytest.mark.parametrize("symmetry", SYMMETRY_USES)
def test_the_cloud_has_root_mean_square_distance_one(symmetry: str) -> None:
    """False alarm: 1e-6 for a relative error of 4.9 standard errors."""
    noise = np.random.default_rng(0).standard_normal((4000, DIMENSION))
    squares = np.square(metric(symmetry).shaped(noise, 1.0)).sum(1)
    error = squares.std(ddof=1) / np.sqrt(len(squares))
    assert abs(squares.mean() - 1.0) < 4.9 * error


def test_a_part_of_the_cloud_stays_outside_unless_symmetries_are_assumed() -> None:
    noise = np.random.default_rng(0).standard_normal((40, DIMENSION))
    subspace = TiedSubspace(TIES)
    for symmetry, least, most in (("evidence", 0.05, 0.25), ("assumed", 0.0, 1e-20)):
        drawn = metric(symmetry).shaped(noise, 1.0)
        outside = drawn - subspace.projected(drawn)
        share = np.square(outside).sum() / np.square(drawn).sum()
        assert least <= share <= most


@pytest.mark.parametrize("symmetry", SYMMETRY_USES)
def test_the_gradient_is_pulled_back_through_the_metric(symmetry: str) -> None:
    seen = metric(symmetry)
    slope, place = np.random.default_rng(1).standard_normal((2, DIMENSION))
    gradient = seen.pulled_back(slope)
    steps = [
        (seen.seen(place + 1e-4 * row) - seen.seen(place)) @ slope for row in np.eye(DIMENSION)
    ]
    np.testing.assert_allclose(gradient, np.array(steps) / 1e-4, atol=1e-8)


def test_relevance_of_orbits_is_that_of_a_fit_in_all_dimensions() -> None:
    """In the subspace the fit has a weight for each orbit, one of all dimensions the same value."""
    rng = np.random.default_rng(6)
    data = Observations(DIMENSION)
    points = 0.5 + 0.1 * rng.standard_normal((400, DIMENSION))
    data.add(points, value(points, rng, np.zeros(400)), None)
    found = metric("assumed")
    found.update(data, 0.5)
    subspace = TiedSubspace(TIES)
    design = subspace.part(points / (0.5 / np.sqrt(DIMENSION)))
    config = LocalGpConfig()
    targets, _ = transform_returns(data.returns, config.outcome_transform)
    by_orbit = group_variances(
        design - design.mean(0), targets, np.abs(TIES) - 1, np.ones(subspace.dimension)
    )
    power = 0.5 * (1.0 - 400 / config.relevance_end)
    expected = relevance(by_orbit, np.abs(TIES) - 1, power, SEARCH_CONSTANTS.relevance_bounds)
    np.testing.assert_allclose(found.relevance, expected, rtol=1e-4)
    assert np.ptp(expected) > 0.02


def test_ties_are_one_for_each_dimension() -> None:
    with pytest.raises(ConfigError, match=r"LocalGpConfig.ties is '2 ties'; expected one for each"):
        LocalGpConfig(groups=(0, 1, 2), ties=(1, 1)).build(dimension=3, seed=0)


@pytest.mark.parametrize(
    ("setting", "given"), [("ties", (1.5, 2)), ("ties", 3), ("symmetry", "yes"), ("symmetry", None)]
)
def test_wrong_settings_are_refused(setting: str, given: object) -> None:
    with pytest.raises(ConfigError, match=f"LocalGpConfig.{setting} is"):
        LocalGpConfig(groups=(0, 1), **{setting: given})  # type: ignore[arg-type]


def test_a_search_with_ties_goes_on_from_its_state_to_the_last_bit() -> None:
    original, _ = searched(TIES, 0)
    config = LocalGpConfig(groups=tuple(range(DIMENSION)), ties=TIES, outcome_transform="none")
    restored = config.build(dimension=DIMENSION, seed=9)
    restored.load_state_dict(original.state_dict())
    rng = np.random.default_rng(5)
    for _ in range(3):
        asked = original.ask(8)
        np.testing.assert_array_equal(restored.ask(8), asked)
        returns = value(asked, rng, np.zeros(8))
        for each in (original, restored):
            each.tell(asked, returns, np.full(8, 5.0))
    np.testing.assert_equal(restored.state_dict(), original.state_dict())


def test_batches_of_one_pair_lie_in_the_symmetric_subspace_every_second_time() -> None:
    config = LocalGpConfig(groups=tuple(range(DIMENSION)), ties=TIES)
    search, subspace = config.build(dimension=DIMENSION, seed=0), TiedSubspace(TIES)
    inside = []
    for _ in range(4):
        moved = search.ask(2) - 0.5
        inside.append(np.allclose(subspace.part(moved), moved))
        restored = config.build(dimension=DIMENSION, seed=0)
        restored.load_state_dict(search.state_dict())
        search = restored
    assert sum(inside) == 2
