"""Mirrored pairs: their candidates, their common episodes, and their common error."""

from typing import Any

import numpy as np
import pytest

from rolecast.platform.optimizers.local_gp.config import LocalGpConfig
from rolecast.platform.optimizers.local_gp.evidence import noise_matrix
from rolecast.platform.optimizers.local_gp.search import LocalSearch


def search(dimension: int, **settings: Any) -> LocalSearch:
    known: dict[str, Any] = {"radius": 0.3, "evaluations": 400, "restart_at_centre": False}
    return LocalSearch(LocalGpConfig(**(known | settings)), dimension=dimension, seed=0)


def test_a_policys_candidates_are_mirrored_pairs_on_common_episodes() -> None:
    optimizer = search(4, groups=(0, 0, 1, 1))
    asked = optimizer.ask(7)
    np.testing.assert_allclose(asked[0:6:2] + asked[1:6:2], 1.0)
    np.testing.assert_array_equal(optimizer.episode_rows(), [0, 0, 2, 2, 4, 4, 6])


@pytest.mark.parametrize(
    "settings", [{}, {"groups": (0, 1), "mirrored_pairs": False}], ids=["black box", "off"]
)
def test_other_candidates_have_episodes_of_their_own(settings: dict[str, Any]) -> None:
    optimizer = search(2, **settings)
    asked = optimizer.ask(6)
    assert not np.allclose(asked[0::2] + asked[1::2], 1.0)
    np.testing.assert_array_equal(optimizer.episode_rows(), np.arange(6))


def test_chosen_candidates_have_episodes_of_their_own() -> None:
    optimizer = search(2, groups=(0, 1), acquisition="ucb")
    optimizer.ask(6)
    np.testing.assert_array_equal(optimizer.episode_rows(), np.arange(6))


def told_pairs(batches: int, shared: float) -> LocalSearch:
    """Tell returns that are noise of deviation 1, whose variance has a share common to a pair."""
    optimizer = search(6, groups=(0, 0, 1, 1, 2, 2))
    rng = np.random.default_rng(0)
    for _ in range(batches):
        asked = optimizer.ask(40)
        common = np.repeat(rng.standard_normal(20), 2)
        noise = np.sqrt(shared) * common + np.sqrt(1.0 - shared) * rng.standard_normal(40)
        optimizer.tell(asked, asked.sum(1) + noise, np.ones(40))
    return optimizer


@pytest.mark.parametrize(("shared", "least", "most"), [(0.0, 0.0, 0.3), (0.8, 0.5, 0.85)])
def test_the_common_error_of_pairs_is_found_by_evidence(
    shared: float, least: float, most: float
) -> None:
    assert least <= told_pairs(10, shared).explain()["error_correlation"] <= most


def test_pairs_that_are_told_in_another_order_are_the_same_pairs() -> None:
    optimizer, again = (search(4, groups=(0, 0, 1, 1)) for _ in range(2))
    order = np.array([5, 0, 3, 1, 4, 2])
    asked = optimizer.ask(6)
    optimizer.tell(asked[order], np.arange(6.0)[order])
    np.testing.assert_array_equal(optimizer.state_dict()["groups"], [0, 1, 2, 1, 0, 2])
    again.tell(asked, np.arange(6.0))
    np.testing.assert_array_equal(again.state_dict()["groups"], np.arange(6))


def test_the_noise_matrix_correlates_evaluations_of_one_group() -> None:
    variances, groups = np.array([1.0, 4.0, 9.0]), np.array([0, 1, 0])
    found = noise_matrix(variances, groups, 0.5)
    np.testing.assert_allclose(found, [[1.0, 0.0, 1.5], [0.0, 4.0, 0.0], [1.5, 0.0, 9.0]])
    assert noise_matrix(variances, groups, 0.0) is variances
    assert noise_matrix(variances, np.arange(3), 0.5) is variances
