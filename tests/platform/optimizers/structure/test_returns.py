"""Pairs that interact are found in evaluations alone, and none where there are none."""

from typing import Any

import numpy as np
import pytest

from rolecast.benchmarks.functions.black_boxes import AdditiveFunction
from rolecast.core.types import Float
from rolecast.platform.optimizers.structure.constants import PAIR_CONSTANTS
from rolecast.platform.optimizers.structure.returns import (
    StructureFinder,
    chance_of,
    features,
    pair_scores,
)
from rolecast.platform.optimizers.structure.settings import FinderSettings
from rolecast.platform.surrogate.matern import matern52

SETTINGS = FinderSettings(edge_cap=100, clique_cap=100, clique_size=8, outcome_transform="none")


def standardised(values: Float) -> Float:
    return np.asarray((values - values.mean()) / values.std())


def found_pairs(candidates: Float, values: Float) -> set[tuple[int, int]]:
    scores = pair_scores(candidates, standardised(values), np.ones(len(values)))
    np.testing.assert_array_equal(scores, scores.T)
    return {(int(a), int(b)) for a, b in zip(*np.nonzero(np.triu(scores)), strict=True)}


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_pairs_of_a_sum_over_cliques_are_found(seed: int) -> None:
    """12 dimensions, 300 evaluations: of what is found at least three in four are true.

    By chance it would be one in four.
    """
    rng = np.random.default_rng(seed)
    function = AdditiveFunction(12, rng)
    true = {(a, b) for clique in function.cliques for a in clique for b in clique if a < b}
    candidates = rng.random((300, 12))
    found = found_pairs(candidates, function(candidates) + 0.1 * rng.standard_normal(300))
    assert len(found) >= 6
    assert len(found & true) >= 0.75 * len(found)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_sum_over_single_dimensions_has_no_pairs(seed: int) -> None:
    rng = np.random.default_rng(seed)
    candidates = rng.random((240, 10))
    values = np.sin(6.0 * candidates + np.arange(10)).sum(1) + 0.1 * rng.standard_normal(240)
    assert found_pairs(candidates, values) == set()


def test_noise_has_pairs_as_rarely_as_is_said() -> None:
    """At most 15 of 100 looks find any; of 60 then more than 18 with probability 0.0009."""
    draws = [np.random.default_rng(seed) for seed in range(60)]
    found = [found_pairs(rng.random((120, 8)), rng.standard_normal(120)) for rng in draws]
    assert sum(bool(pairs) for pairs in found) <= 18


@pytest.mark.parametrize("weights", [(1.0,), (3.0, 1.0, 0.5), (1.0,) * 9])
def test_chances_are_those_of_a_weighted_sum_of_squares(weights: tuple[float, ...]) -> None:
    """Against 400,000 draws: within 15 % and three standard errors, down to one in a thousand."""
    rng, draws = np.random.default_rng(0), 400_000
    given = np.array(weights)
    totals = np.sort(np.square(rng.standard_normal((draws, len(given)))) @ given)[::-1]
    for chance in (0.1, 0.01, 0.001):
        total = totals[int(chance * draws)]
        sums = [np.asarray((given**power).sum()) for power in (1, 2, 3)]
        error = 0.15 * chance + 3.0 * np.sqrt(chance / draws)
        assert chance_of(np.asarray(total), *sums) == pytest.approx(chance, abs=error)


def test_a_dimension_that_does_not_vary_interacts_with_none() -> None:
    rng = np.random.default_rng(0)
    candidates = rng.random((200, 4))
    candidates[:, 3] = 0.5
    values = np.cos(5.0 * candidates[:, 0] * candidates[:, 1])
    assert found_pairs(candidates, values) == {(0, 1)}


def test_features_are_those_of_the_centred_kernel() -> None:
    """Against the matrix itself, its row and column means taken out; six features explain it."""
    column = np.random.default_rng(0).random(80)
    scaled = (column[:, None] - column) / (PAIR_CONSTANTS.relative_lengthscale * column.std())
    kernel = matern52(np.square(scaled))
    centre = np.eye(80) - 1.0 / 80
    expected = centre @ kernel @ centre
    expected /= np.diag(expected).mean()
    found = features(column)
    error = np.linalg.norm(found @ found.T - expected) / np.linalg.norm(expected)
    assert error < 0.01


def test_it_looks_early_and_then_ever_more_rarely() -> None:
    rng, looked = np.random.default_rng(0), []
    finder = StructureFinder(SETTINGS, dimension=3)
    candidates = rng.random((600, 3))
    for count in range(10, 601, 10):
        if finder.is_due(count):
            looked.append(count)
            finder.find(candidates[:count], rng.standard_normal(count), np.ones(count))
    assert looked == [PAIR_CONSTANTS.first_look, 150, 230, 350, 530]


def test_without_settings_or_with_one_dimension_or_thousands_it_never_looks() -> None:
    assert not StructureFinder(None, dimension=5).is_due(10_000)
    assert not StructureFinder(SETTINGS, dimension=PAIR_CONSTANTS.dimension_limit + 1).is_due(
        10_000
    )
    assert StructureFinder(SETTINGS, dimension=PAIR_CONSTANTS.dimension_limit).is_due(10_000)
    assert not StructureFinder(SETTINGS, dimension=1).is_due(10_000)
    assert StructureFinder(None, dimension=5).explain() == {}


def test_it_goes_on_from_a_state() -> None:
    rng = np.random.default_rng(0)
    candidates = rng.random((200, 6))
    values = np.cos(5.0 * candidates[:, 0] * candidates[:, 1]) + np.sin(
        6.0 * candidates[:, 2] * candidates[:, 5]
    )
    finder, other = (StructureFinder(SETTINGS, dimension=6) for _ in range(2))
    finder.find(candidates, values, np.ones(200))
    state: dict[str, Any] = finder.state_dict()
    other.load_state_dict(state)
    assert finder.cliques is not None
    assert set(finder.cliques) == {(0, 1), (2, 5), (3,), (4,)}
    assert other.cliques == finder.cliques
    assert other.explain() == finder.explain() == {"structure_edges": 2.0}
    assert not other.is_due(299)
    assert other.is_due(300)
