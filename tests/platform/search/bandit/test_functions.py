"""Functions of bandits: their maxima by brute force, and refusals."""

from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

import rolecast
from rolecast.core.errors import ConfigError, RequestError
from rolecast.core.types import Float
from rolecast.platform.search.bandit.functions import FUNCTION_NAMES, make_function


@pytest.mark.parametrize("name", FUNCTION_NAMES)
def test_no_point_beats_the_optimum_and_the_best_of_many_comes_near(name: str) -> None:
    function = make_function(name, seed=4)
    rng = np.random.default_rng(0)
    points = function.domain.from_cube(rng.random((20_000, function.domain.dimension)))
    values = function.values(points)
    assert function.optimum is not None
    assert values.max() <= function.optimum + 1e-9

    def negative(point: Float) -> float:
        inside = function.domain.contains(point[None])[0]
        return -float(function.value(point[None])[0]) if inside else 10.0

    found = minimize(
        negative,
        points[int(np.argmax(values))],
        method="Nelder-Mead",
        options={"xatol": 1e-9, "fatol": 1e-12, "maxiter": 20_000, "maxfev": 40_000},
    )
    slack = 0.1 if name == "h2" else 2e-6  # its maximum is on the sphere, where a simplex sticks
    assert -found.fun == pytest.approx(function.optimum, abs=slack)


def test_known_places_have_the_printed_values() -> None:
    branin, hartmann = make_function("branin"), make_function("hartmann4")
    places = np.array([[np.pi, 2.275], [-np.pi, 12.275], [9.42478, 2.475]])
    values = branin.values((places + np.array([5.0, 0.0])) / 15.0)
    np.testing.assert_allclose(values, 1.0474, atol=5e-5)
    at = np.array([[0.18740, 0.19415, 0.55792, 0.26478]])
    assert hartmann.values(at)[0] == pytest.approx(3.13449, abs=1e-5)


def test_the_direction_of_h2_is_its_maximiser_and_depends_on_the_seed() -> None:
    ones = [make_function("h2", seed=seed) for seed in (0, 1, 0)]
    point = np.full((1, 10), 0.1)
    first, other, again = (float(each.values(point)[0]) for each in ones)
    assert first == again
    assert first != other


def test_a_point_outside_the_domain_is_refused() -> None:
    with pytest.raises(RequestError, match=r"'branin' was asked at \[1.5, 0.0\]; expected a point"):
        make_function("branin").values(np.array([[0.1, 0.1], [1.5, 0.0]]))


@pytest.mark.parametrize(
    ("name", "given", "message"),
    [
        ("brannin", {}, "function 'brannin' does not exist; did you mean 'branin'"),
        (
            "branin",
            {"bounds": [(0.0, 1.0)]},
            "'branin' has bounds, optimum and scale; expected none",
        ),
        ("branin", {"noise": -1.0}, "noise is -1.0; expected a number >= 0"),
        ("python:users_hills:hill", {}, "needs bounds; expected LOW:HIGH of each input"),
        ("python:users_hills:hil", {"bounds": [(0.0, 1.0)]}, "did you mean 'hill'"),
        ("python:nobody_has:it", {"bounds": [(0.0, 1.0)]}, "cannot be imported"),
        ("python:users_hills:hill", {"bounds": [(1.0, 0.0)]}, "expected finite bounds, low < high"),
    ],
)
def test_wrong_functions_are_refused(name: str, given: dict[str, object], message: str) -> None:
    with pytest.raises(RequestError, match=message):
        make_function(name, **given)  # type: ignore[arg-type]  # by the cases


@pytest.mark.parametrize("bounds", [[(0, 1, 2)], [0, 1], 5, [("a", "b")], ["01"], [(0, np.inf)]])
def test_bounds_that_are_no_pairs_are_refused(bounds: Any) -> None:
    with pytest.raises(ConfigError, match=r"bounds is .*; expected a pair of finite numbers, low"):
        rolecast.bandit_search(np.sum, bounds=bounds)


@pytest.mark.parametrize("noise", ["x", True, np.nan, -1])
def test_noise_that_is_no_deviation_is_refused(noise: Any) -> None:
    with pytest.raises(ConfigError, match=r"noise is .*; expected a number >= 0"):
        rolecast.bandit_search(np.sum, bounds=[(0, 1)], noise=noise)


def hill(point: Float) -> float:
    return -float(np.square(point - 0.7).sum())


def test_offset_and_scale_make_any_function_one_that_methods_presume() -> None:
    given: dict[str, Any] = {"bounds": [(0, 1)] * 2, "agents": 5, "rounds": 30}
    for seed in range(3):
        plain = rolecast.bandit_search(hill, seed=seed, optimum=0.0, **given)
        found = rolecast.bandit_search(
            lambda point: 300.0 * hill(point) - 100.0,
            **given,
            seed=seed,
            optimum=-100.0,
            offset=-100.0,
            scale=300.0,
        )
        np.testing.assert_allclose(found.incumbent, plain.incumbent, atol=1e-3)
        assert found.regret_by_round == pytest.approx(plain.regret_by_round)
        assert found.greatest_value == pytest.approx(plain.greatest_value)


@pytest.mark.parametrize(
    ("zero", "unit", "notes"), [(0, 1, 0), (10, 1, 1), (-100, 1, 1), (0, 50, 1)]
)
def test_values_that_do_not_fit_are_told(zero: float, unit: float, notes: int) -> None:
    told: list[str] = []
    given: dict[str, Any] = {"bounds": [(0, 1)] * 2, "agents": 5, "rounds": 8, "note": told.append}
    rolecast.bandit_search(lambda point: zero + unit * hill(point), **given)
    assert len(told) == notes
    assert all("the first values are " in each and "--offset" in each for each in told)
    rolecast.bandit_search("h2", agents=5, rounds=8, note=told.append)
    assert len(told) == notes


def test_bounds_may_be_an_array() -> None:
    given = {"agents": 2, "rounds": 3, "noise": np.float32(0.5)}
    found = rolecast.bandit_search(np.sum, bounds=np.array([[0, 1], [2, 3]]), **given)
    assert found == rolecast.bandit_search(np.sum, bounds=[(0, 1), (2, 3)], **given)


@pytest.mark.parametrize("name", FUNCTION_NAMES)
def test_a_value_has_the_same_bits_in_any_company(name: str) -> None:
    function = make_function(name, seed=2)
    cube = np.random.default_rng(0).random((33, function.domain.dimension))
    points = function.domain.from_cube(cube)
    whole = function.values(points)
    alone = np.concatenate([function.values(point[None]) for point in points])
    np.testing.assert_array_equal(alone, whole)
    np.testing.assert_array_equal(function.values(points[5:18]), whole[5:18])
