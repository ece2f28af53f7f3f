from typing import Any

import numpy as np
import pytest

from rolecast.core.errors import RunError
from rolecast.platform.optimizers.random import RandomConfig
from rolecast.platform.search.keeper import REBUILDS, OptimizerKeeper
from rolecast.platform.search.optimizer_host import OptimizerHost, Reply, Told, Wanted


class LostError(Exception):
    """Stands for the death of a process."""


class Mortal(OptimizerHost):
    """Dies in the exchanges with these numbers, counted over all that were built."""

    count = 0

    def __init__(self, deaths: set[int], seed: int = 0) -> None:
        super().__init__(RandomConfig(), dimension=2, seed=seed)
        self.deaths = deaths

    def exchange(self, told: Told | None, wanted: Wanted | None, *, keep: bool = False) -> Reply:
        type(self).count += 1
        if type(self).count in self.deaths:
            raise LostError
        return super().exchange(told, wanted, keep=keep)


def candidates_of(deaths: set[int], notes: list[str] | None = None) -> list[Any]:
    Mortal.count = 0
    keeper = OptimizerKeeper(
        lambda: Mortal(deaths),
        (LostError,),
        (notes if notes is not None else []).append,
        state=None,
        since=[],
    )
    asked = [keeper.exchange(None, Wanted(q=3, spent=0.0)).candidates]
    told = Told(returns=np.arange(3.0), stderrs=None)
    asked.append(keeper.exchange(told, Wanted(q=2, spent=0.5)).candidates)
    return asked


@pytest.mark.parametrize("deaths", [{1}, {2}, {1, 2}, {2, 3}, {2, 3, 4}])
def test_a_lost_optimizer_comes_back_as_it_was(deaths: set[int]) -> None:
    notes: list[str] = []
    for one, other in zip(candidates_of(deaths, notes), candidates_of(set()), strict=True):
        np.testing.assert_array_equal(one, other)
    assert len(notes) == len(deaths)


def test_an_optimizer_that_always_dies_ends_the_search() -> None:
    with pytest.raises(RunError, match=f"was lost {REBUILDS} times"):
        candidates_of(set(range(100)))


def test_an_optimizer_that_comes_back_different_is_noticed() -> None:
    Mortal.count = 0
    seeds = iter((0, 1))
    keeper = OptimizerKeeper(
        lambda: Mortal({2}, next(seeds)), (LostError,), lambda text: None, state=None, since=[]
    )
    keeper.exchange(None, Wanted(q=3, spent=0.0))
    with pytest.raises(RunError, match="asks for other candidates in the lost batch"):
        keeper.exchange(Told(returns=np.arange(3.0), stderrs=None), None)
