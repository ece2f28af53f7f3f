"""Functions on which optimisers are compared: optima, structure and gradients are as they say."""

from itertools import pairwise

import numpy as np
import pytest

from rolecast.benchmarks.functions.black_boxes import (
    STANDARD_FUNCTIONS,
    AdditiveFunction,
    ScaledFunction,
    additive,
    embedded,
)
from rolecast.benchmarks.functions.runs import relabelled
from rolecast.core.errors import RequestError
from rolecast.core.types import Float


def mixed_difference(function: ScaledFunction, a: int, b: int, point: Float) -> float:
    """Return f(x) - f(x + a) - f(x + b) + f(x + a + b): 0 where a and b do not interact."""
    steps = np.zeros((4, function.dimension))
    steps[1, a] = steps[2, b] = steps[3, [a, b]] = 0.2
    values = function.value(point + steps)
    return float(values[0] - values[1] - values[2] + values[3])


@pytest.mark.parametrize("seed", range(3))
def test_dimensions_of_an_additive_function_interact_where_they_share_a_clique(seed: int) -> None:
    function = additive(9, seed)
    assert function.cliques is not None
    assert {one for clique in function.cliques for one in clique} == set(range(9))
    assert {len(clique) for clique in function.cliques} <= {2, 3, 4}
    point = np.random.default_rng(seed).uniform(0.1, 0.7, 9)
    for a in range(9):
        for b in range(a):
            joined = any({a, b} <= set(clique) for clique in function.cliques)
            assert (abs(mixed_difference(function, a, b, point)) > 1e-9) == joined


def test_the_gradient_of_an_additive_function_is_that_of_its_differences() -> None:
    drawn = AdditiveFunction(7, np.random.default_rng(3))
    point = np.random.default_rng(4).random(7)
    steps = 1e-6 * np.eye(7)
    found = (drawn(point + steps) - drawn(point - steps)) / 2e-6
    np.testing.assert_allclose(drawn.gradient(point), found, atol=1e-6)


def test_no_climb_from_anywhere_beats_the_optimum_that_an_additive_function_is_given() -> None:
    function, drawn = additive(6, 2), AdditiveFunction(6, np.random.default_rng((2, 6)))
    starts, everywhere = np.random.default_rng(11).random((40, 6)), np.arange(6)
    reached = drawn(np.array([drawn.climb(start, everywhere)[1] for start in starts]))
    assert reached.max() == pytest.approx(function.optimum, abs=1e-5)


def test_a_climb_moves_what_is_free_and_gains_what_it_says() -> None:
    drawn, start = AdditiveFunction(9, np.random.default_rng(5)), np.full(9, 0.4)
    gain, reached = drawn.climb(start, np.array([1, 4]))
    assert set(np.flatnonzero(reached != start)) == {1, 4}
    values = drawn(np.stack([start, reached]))
    assert gain == pytest.approx(values[1] - values[0], abs=1e-12)
    assert gain > 0.0


@pytest.mark.parametrize("seed", range(3))
def test_the_search_for_the_optimum_ends_at_the_same_value_from_two_starts(seed: int) -> None:
    drawn = AdditiveFunction(12, np.random.default_rng(seed))
    first, second = (drawn.greatest(12, np.random.default_rng(one)) for one in (0, 1))
    assert first == pytest.approx(second, abs=1e-4)


def test_regret_is_0_at_the_optimum_and_1_at_a_point_as_good_as_the_mean() -> None:
    values = {0.0: 5.0, 1.0: 2.0}
    function = ScaledFunction(
        dimension=1,
        value=lambda points: np.array([values[float(x)] for x in points[:, 0]]),
        optimum=5.0,
        mean=2.0,
        deviation=1.0,
        cliques=None,
    )
    assert function.regret(np.zeros(1)) == 0.0
    assert function.regret(np.ones(1)) == 1.0


OPTIMA = {
    "hartmann6": [0.20169, 0.150011, 0.476874, 0.275332, 0.311652, 0.6573],
    "branin": [(np.pi + 5.0) / 15.0, 2.275 / 15.0],
    "ackley": [0.5] * 8,
    "levy": [0.5] * 8,
}


@pytest.mark.parametrize("name", STANDARD_FUNCTIONS)
def test_standard_functions_reach_their_published_optimum_and_no_more(name: str) -> None:
    """Values beyond the cube count too: rotated inputs go there."""
    known, place = STANDARD_FUNCTIONS[name], np.array([OPTIMA[name]])
    assert float(known.value(place)[0]) == pytest.approx(known.optimum, abs=1e-6)
    around = np.random.default_rng(0).uniform(-1.0, 2.0, (20_000, place.shape[1]))
    near = place + 0.01 * np.random.default_rng(1).standard_normal((2_000, place.shape[1]))
    assert known.value(np.concatenate([around, near])).max() <= known.optimum + 1e-9


@pytest.mark.parametrize("rotated", [False, True])
@pytest.mark.parametrize("name", STANDARD_FUNCTIONS)
def test_embedded_functions_interact_as_their_graph_says(name: str, rotated: bool) -> None:
    function = embedded(name, 8, rotated, 1)
    if function.cliques is None:
        assert rotated or name == "ackley"
        return
    point = np.random.default_rng(0).uniform(0.1, 0.7, 8)
    joined = {pair for clique in function.cliques for pair in pairwise(clique)}
    apart = {(a, b) for b in range(8) for a in range(b)} - {
        (a, b) for clique in function.cliques for a in clique for b in clique
    }
    scale = function.deviation
    assert all(abs(mixed_difference(function, *pair, point)) > 1e-9 * scale for pair in joined)
    assert all(abs(mixed_difference(function, *pair, point)) < 1e-9 * scale for pair in apart)


def test_an_unknown_function_is_refused_by_name() -> None:
    with pytest.raises(RequestError, match="'akley' does not exist; did you mean 'ackley'"):
        embedded("akley", 8, False, 0)


def test_a_relabelled_graph_keeps_its_shape() -> None:
    cliques = ((0, 1), (1, 2, 3), (4, 5, 6, 7))
    found = relabelled(cliques, 30, np.random.default_rng(0))
    assert found != cliques
    assert [len(clique) for clique in found] == [2, 3, 4]
    assert len(set(found[0]) & set(found[1])) == 1
