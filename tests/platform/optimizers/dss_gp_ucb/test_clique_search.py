"""The global search of a black box with a given graph: optimum, evidence, and settings."""

from typing import Any

import numpy as np
import pytest

from rolecast.benchmarks.functions.black_boxes import AdditiveFunction
from rolecast.benchmarks.functions.runs import relabelled
from rolecast.core.errors import ConfigError
from rolecast.core.types import Float
from rolecast.platform.optimizers.dss_gp_ucb.clique_model import noise_shape
from rolecast.platform.optimizers.dss_gp_ucb.clique_search import CliqueSearch
from rolecast.platform.optimizers.dss_gp_ucb.constants import GlobalSearchConstants
from rolecast.platform.optimizers.local_gp.search import LocalSearch
from rolecast.platform.optimizers.registry import make_optimizer

CLIQUES = ((0, 1), (1, 2), (2, 3, 4))
TARGET = np.array([0.2, 0.8, 0.35, 0.6, 0.9])


def value(points: Float) -> Float:
    """Return [N]: a ridge along each clique, whose common optimum is `TARGET`."""
    shifts = points - TARGET
    return np.asarray(sum(np.exp(-8.0 * np.square(shifts[:, list(c)]).sum(1)) for c in CLIQUES))


def searched(optimizer: Any, evaluate: Any, batches: int, q: int = 10) -> Any:
    """Return an optimiser after some batches."""
    for _ in range(batches):
        candidates = optimizer.ask(q)
        optimizer.tell(candidates, evaluate(candidates), np.zeros(q))
    return optimizer


@pytest.mark.parametrize("seed", range(3))
def test_the_optimum_of_a_sum_is_found_within_a_hundred_evaluations(seed: int) -> None:
    optimizer = searched(CliqueSearch(dimension=5, seed=seed, cliques=CLIQUES), value, 10)
    assert np.abs(optimizer.best() - TARGET).max() < 0.02
    assert optimizer.explain()["structure_share"] == 1.0


@pytest.mark.parametrize("seed", range(3))
def test_a_true_graph_explains_more_than_none_and_than_a_random_one(seed: int) -> None:
    rng = np.random.default_rng(seed)
    function = AdditiveFunction(12, rng)
    points = rng.random((150, 12))
    evidence = []
    for cliques in (function.cliques, relabelled(function.cliques, 12, rng)):
        optimizer = CliqueSearch(dimension=12, seed=0, cliques=cliques)
        optimizer.tell(points, function(points), np.zeros(150))
        evidence.append(optimizer.explain()["graph_evidence"])
    assert evidence[0] > 10.0
    assert evidence[0] > evidence[1] + 10.0


@pytest.mark.parametrize("seed", range(3))
def test_a_graph_that_returns_contradict_is_refused(seed: int) -> None:
    """A product of all dimensions has no additive structure."""

    def bump(points: Float) -> Float:
        return np.asarray(np.exp(-4.0 * np.square(points - TARGET).sum(1)))

    alone = tuple((place,) for place in range(5))
    optimizer = searched(CliqueSearch(dimension=5, seed=seed, cliques=alone), bump, 10)
    assert optimizer.explain()["structure_share"] == 0.0
    assert np.abs(optimizer.best() - TARGET).max() < 0.05


def test_the_default_for_a_black_box_of_given_cliques() -> None:
    def made(**settings: Any) -> object:
        return make_optimizer("dss_gp_ucb", dimension=5, **settings)

    assert isinstance(made(cliques=CLIQUES), CliqueSearch)
    assert isinstance(made(cliques=CLIQUES, configuration=None), CliqueSearch)
    assert isinstance(made(cliques=CLIQUES, configuration="local"), LocalSearch)
    assert isinstance(made(cliques=CLIQUES, groups=(0, 0, 1, 1, 2)), LocalSearch)
    assert isinstance(made(), LocalSearch)


def test_a_setting_of_the_local_search_is_refused_beside_given_cliques() -> None:
    message = r"DssGpUcbConfig.radius is 0.3; expected configuration local where the cliques of"
    with pytest.raises(ConfigError, match=message):
        make_optimizer("dss_gp_ucb", dimension=5, cliques=CLIQUES, radius=0.3)


def test_a_dimension_in_no_clique_is_one_of_its_own() -> None:
    some, whole = (
        searched(make_optimizer("dss_gp_ucb", dimension=5, cliques=cliques), value, 3)
        for cliques in (((0, 1), (2, 3)), ((0, 1), (2, 3), (4,)))
    )
    np.testing.assert_array_equal(some.ask(4), whole.ask(4))


def test_asking_for_the_incumbent_changes_nothing() -> None:
    quiet, asked = (
        searched(CliqueSearch(dimension=5, seed=3, cliques=CLIQUES), value, 4) for _ in range(2)
    )
    asked.best()
    np.testing.assert_array_equal(quiet.ask(5), asked.ask(5))


def test_more_evaluations_than_the_process_holds_are_told(monkeypatch: Any) -> None:
    module = "rolecast.platform.optimizers.dss_gp_ucb.clique_search.GLOBAL_CONSTANTS"
    monkeypatch.setattr(module, GlobalSearchConstants(clique_points=40))
    optimizer = searched(CliqueSearch(dimension=5, seed=0, cliques=CLIQUES), value, 10)
    restored = CliqueSearch(dimension=5, seed=1, cliques=CLIQUES)
    restored.load_state_dict(optimizer.state_dict())
    np.testing.assert_array_equal(optimizer.best(), restored.best())
    assert np.abs(optimizer.best() - TARGET).max() < 0.05


def test_noise_follows_standard_errors_where_they_are_known() -> None:
    np.testing.assert_array_equal(noise_shape(np.full(3, np.nan)), np.ones(3))
    np.testing.assert_array_equal(noise_shape(np.zeros(3)), np.ones(3))
    found = noise_shape(np.array([1.0, np.nan, np.sqrt(3.0)]))
    np.testing.assert_allclose(found, [0.75, 1.0, 1.25])


def test_lengthscale_and_noise_are_where_no_neighbour_on_the_grids_has_more_evidence() -> None:
    """Many exact values told at once: the noise is several places from where the climb begins."""
    points = np.random.default_rng(0).random((200, 5))
    optimizer = CliqueSearch(dimension=5, seed=0, cliques=CLIQUES)
    optimizer.tell(points, value(points), np.zeros(200))
    chosen = optimizer.explain()
    optimizer.tell(again := np.random.default_rng(1).random((40, 5)), value(again), np.zeros(40))
    assert chosen["noise_share"] == optimizer.explain()["noise_share"]
