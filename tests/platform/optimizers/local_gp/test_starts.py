"""Several starts with halving: the contract of an optimiser, who goes on, and a resume."""

import copy
from typing import Any

import numpy as np
import pytest

from rolecast.core.errors import ConfigError
from rolecast.core.types import Float
from rolecast.platform.optimizers.dss_gp_ucb.config import DssGpUcbConfig
from rolecast.platform.optimizers.local_gp.config import LocalGpConfig
from rolecast.platform.optimizers.local_gp.search import LocalSearch
from rolecast.platform.optimizers.local_gp.starts import SeveralStarts, winner_share
from rolecast.platform.optimizers.protocol import Optimizer
from rolecast.testing import OptimizerContract

DIMENSION = 6

POLICY: dict[str, Any] = {"groups": tuple(range(DIMENSION))}
"""Settings of a search of a policy's weights."""


class TestSeveralStarts(OptimizerContract):
    """The shipped contract, for a black box."""

    dimension = DIMENSION

    def make(self, seed: int = 0) -> Optimizer:
        return LocalGpConfig(starts=4, evaluations=60).build(dimension=DIMENSION, seed=seed)


class TestSeveralStartsOfAPolicy(OptimizerContract):
    """The shipped contract, for the weights of a policy, in mirrored pairs."""

    dimension = DIMENSION

    def make(self, seed: int = 0) -> Optimizer:
        return LocalGpConfig(starts=3, **POLICY).build(dimension=DIMENSION, seed=seed)


def several(starts: int, **settings: Any) -> SeveralStarts:
    made = LocalGpConfig(starts=starts, **settings).build(dimension=DIMENSION, seed=1)
    assert isinstance(made, SeveralStarts)
    return made


def advanced(search: SeveralStarts, spent: float, lucky: int, batches: int = 1) -> list[Float]:
    """Ask and tell at a share of the budget; start `lucky` is told more than all others."""
    asked = []
    for _ in range(batches):
        search.pace(spent)
        points = search.ask(4)
        owner = search.alive[search._turn % len(search.alive) - 1]
        search.tell(points, 10.0 * (owner == lucky) - np.square(points - 0.7).sum(1))
        asked.append(points)
    return asked


@pytest.mark.parametrize(("starts", "left"), [(2, [2, 2, 1]), (4, [4, 2, 1]), (5, [5, 3, 1])])
def test_the_better_half_goes_on_until_one_is_left(starts: int, left: list[int]) -> None:
    search, lucky = several(starts, **POLICY), starts - 1
    counts = []
    for spent in (0.0, 0.26, 0.51):
        advanced(search, spent, lucky, batches=starts)
        counts.append(len(search.alive))
        assert lucky in search.alive
    assert counts == left
    assert search.alive == (lucky,)
    assert search.explain()["starts"] == 1.0


def test_starts_take_batches_in_turn_and_are_independent_searches() -> None:
    """What start j asks for, it would ask for alone."""
    search = several(3, **POLICY)
    asked = advanced(search, 0.0, lucky=0, batches=6)
    seeds = np.random.SeedSequence(1).generate_state(3, np.uint64).tolist()
    config = LocalGpConfig(restart_at_centre=False, **POLICY)
    for start, seed in enumerate(seeds):
        alone = LocalSearch(config, dimension=DIMENSION, seed=seed)
        for points in asked[start::3]:
            alone.pace(0.0)
            np.testing.assert_array_equal(alone.ask(4), points)
            alone.tell(points, 10.0 * (start == 0) - np.square(points - 0.7).sum(1))


def test_the_incumbent_is_that_of_the_start_that_earns_most() -> None:
    search = several(3, **POLICY)
    advanced(search, 0.0, lucky=2, batches=9)
    np.testing.assert_array_equal(search.best(), search._starts[2].best())


@pytest.mark.parametrize("before", [2, 5, 9])
def test_a_restored_search_halves_and_asks_as_the_original(before: int) -> None:
    original, restored = several(4, **POLICY), several(4, **POLICY)
    for batch in range(before):
        advanced(original, batch / 12, lucky=1)
    pending = original.ask(4)
    restored.load_state_dict(copy.deepcopy(original.state_dict()))
    for search in (original, restored):
        search.tell(pending, np.square(pending).sum(1))
    for batch in range(before, 14):
        one, other = (advanced(search, batch / 14, lucky=1) for search in (original, restored))
        np.testing.assert_array_equal(one, other)
        assert original.alive == restored.alive


def test_a_late_tell_of_a_start_that_has_ended_harms_nothing() -> None:
    search = several(2, **POLICY)
    first, second = search.ask(4), search.ask(4)
    search.tell(first, np.ones(4))
    search.pace(0.9)
    assert search.alive == (0,)
    state = copy.deepcopy(search.state_dict())
    search.tell(second, np.full(4, 9.0))
    np.testing.assert_array_equal(
        search.state_dict()["starts"]["0"]["centre"], state["starts"]["0"]["centre"]
    )
    assert search.ask(2).shape == (2, DIMENSION)


def test_one_start_is_the_plain_search_and_fewer_are_refused() -> None:
    for config in (LocalGpConfig(starts=1), LocalGpConfig()):
        assert isinstance(config.build(dimension=3, seed=0), LocalSearch)
    assert isinstance(DssGpUcbConfig(starts=2).build(dimension=3, seed=0), SeveralStarts)
    with pytest.raises(ConfigError, match=r"LocalGpConfig.starts is 0; expected"):
        LocalGpConfig(starts=0)


@pytest.mark.parametrize(("settings", "due"), [({}, 2000), ({"evaluations": 400}, 200)])
def test_without_a_budget_starts_are_halved_as_for_4000_evaluations(
    settings: dict[str, Any], due: int
) -> None:
    search = several(2, **settings)
    for told in range(0, due, 100):
        assert len(search.alive) == 2, told
        search.tell(points := search.ask(100), points.sum(1))
    assert len(search.alive) == 1


@pytest.mark.parametrize(("starts", "share"), [(1, 1.0), (2, 0.75), (4, 0.6875), (5, 0.67222)])
def test_the_schedule_of_a_black_box_ends_with_the_budget_of_the_start_that_is_left(
    starts: int, share: float
) -> None:
    assert winner_share(starts) == pytest.approx(share, abs=1e-5)
    radii = []
    for number in (starts, 1):
        search = LocalGpConfig(starts=number, evaluations=400).build(dimension=DIMENSION, seed=0)
        assert isinstance(search, SeveralStarts | LocalSearch)
        for _ in range(100):
            points = search.ask(4)
            search.tell(points, -np.square(points - 0.7).sum(1))
        radii.append(search.explain()["cloud_radius"])
    assert radii[0] == pytest.approx(radii[1], rel=0.2)
