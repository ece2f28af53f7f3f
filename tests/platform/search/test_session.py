"""A session refuses what no optimiser may answer, and a lost optimiser comes back as it was."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import ray
from numpy.typing import NDArray

from rolecast.core.errors import RunError
from rolecast.platform.actors.ray_backend import RayBackend
from rolecast.platform.optimizers.batch_plan import default_batch_plan
from rolecast.platform.optimizers.local_gp.config import LocalGpConfig
from rolecast.platform.optimizers.protocol import Proposal
from rolecast.platform.optimizers.random import RandomConfig, RandomSearch
from rolecast.platform.search.resilient_optimizer import (
    MAX_REBUILDS,
    ROUNDING_NOTE,
    ResilientOptimizer,
)
from rolecast.platform.search.session import (
    BatchRequest,
    EvaluatedBatch,
    LocalSession,
    OptimizerReply,
)


class LostError(Exception):
    """Stands for the death of a process."""


class Mortal(LocalSession):
    """Dies in the exchanges with these numbers, counted over all that were built."""

    count = 0

    def __init__(self, deaths: set[int], seed: int = 0) -> None:
        super().__init__(RandomConfig(), dimension=2, seed=seed)
        self.deaths = deaths

    def tell_and_ask(
        self, told: EvaluatedBatch | None, wanted: BatchRequest | None, *, keep: bool = False
    ) -> OptimizerReply:
        type(self).count += 1
        if type(self).count in self.deaths:
            raise LostError
        return super().tell_and_ask(told, wanted, keep=keep)


def candidates_of(deaths: set[int], notes: list[str] | None = None) -> list[Any]:
    Mortal.count = 0
    keeper = ResilientOptimizer(
        lambda: Mortal(deaths),
        (LostError,),
        (notes if notes is not None else []).append,
        state=None,
        since=[],
    )
    asked = [keeper.advance(None, BatchRequest(q=3, spent=0.0)).candidates]
    told = EvaluatedBatch(returns=np.arange(3.0), stderrs=None)
    asked.append(keeper.advance(told, BatchRequest(q=2, spent=0.5)).candidates)
    return asked


@pytest.mark.parametrize("deaths", [{1}, {2}, {1, 2}, {2, 3}, {2, 3, 4}])
def test_a_lost_optimizer_comes_back_as_it_was(deaths: set[int]) -> None:
    notes: list[str] = []
    for one, other in zip(candidates_of(deaths, notes), candidates_of(set()), strict=True):
        np.testing.assert_array_equal(one, other)
    assert len(notes) == len(deaths)


class Starved(LocalSession):
    """Killed for want of memory, which Ray tells by an error of another kind."""

    def tell_and_ask(self, *_: Any, **__: Any) -> OptimizerReply:
        raise ray.exceptions.OutOfMemoryError("no memory")  # type: ignore[no-untyped-call]


def test_an_optimizer_that_was_killed_for_want_of_memory_is_rebuilt() -> None:
    config, notes = RandomConfig(), list[str]()
    starved = Starved(config, dimension=2, seed=0)
    sessions = iter((starved, LocalSession(config, dimension=2, seed=0)))
    losses = RayBackend.losses
    keeper = ResilientOptimizer(lambda: next(sessions), losses, notes.append, state=None, since=[])
    assert keeper.advance(None, BatchRequest(q=3, spent=0.0)).candidates is not None
    assert len(notes) == 1


def test_an_optimizer_that_always_dies_ends_the_search() -> None:
    with pytest.raises(RunError, match=f"was lost {MAX_REBUILDS} times"):
        candidates_of(set(range(100)))


def test_an_optimizer_that_comes_back_different_is_noticed() -> None:
    Mortal.count = 0
    seeds = iter((0, 1))
    keeper = ResilientOptimizer(
        lambda: Mortal({2}, next(seeds)), (LostError,), lambda text: None, state=None, since=[]
    )
    keeper.advance(None, BatchRequest(q=3, spent=0.0))
    with pytest.raises(RunError, match="asks for other candidates in the lost batch"):
        keeper.advance(EvaluatedBatch(returns=np.arange(3.0), stderrs=None), None)


class Rounded(LocalSession):
    """Asks for candidates that are off by some distance."""

    def __init__(self, distance: float) -> None:
        super().__init__(RandomConfig(), dimension=2, seed=0)
        self.distance = distance

    def tell_and_ask(
        self, told: EvaluatedBatch | None, wanted: BatchRequest | None, *, keep: bool = False
    ) -> OptimizerReply:
        reply = super().tell_and_ask(told, wanted, keep=keep)
        if reply.candidates is not None:
            reply.candidates[0, 0] += self.distance
        return reply


@pytest.mark.parametrize(("distance", "said"), [(0.0, 0), (1e-12, 1), (1e-6, None), (np.nan, None)])
def test_a_rebuilt_optimizer_may_round_otherwise_and_no_more(
    distance: float, said: int | None
) -> None:
    Mortal.count = 0
    sessions, notes = iter((Mortal({2}), Rounded(distance))), list[str]()
    keeper = ResilientOptimizer(
        lambda: next(sessions), (LostError,), notes.append, state=None, since=[]
    )
    keeper.advance(None, BatchRequest(q=3, spent=0.0))
    told = EvaluatedBatch(returns=np.arange(3.0), stderrs=None)
    if said is None:
        with pytest.raises(RunError, match="asks for other candidates"):
            keeper.advance(told, None)
    else:
        assert keeper.advance(told, None).best is not None
        assert notes[1:] == [ROUNDING_NOTE] * said


class Frugal(RandomSearch):
    """Wants as many episodes as it is told to."""

    def __init__(self, seed: int, wanted: int) -> None:
        super().__init__(2, seed)
        self.wanted = wanted

    def episodes(self, planned: int) -> int:
        return self.wanted


@dataclass(frozen=True, kw_only=True)
class FrugalConfig:
    """Settings of `Frugal`."""

    wanted: int

    def build(self, *, dimension: int, seed: int) -> Frugal:
        return Frugal(seed, self.wanted)

    def proposal(self, budget_episodes: int) -> Proposal:
        return default_batch_plan(budget_episodes)


def session(wanted: int) -> LocalSession:
    return LocalSession(FrugalConfig(wanted=wanted), dimension=2, seed=0)


@pytest.mark.parametrize(("planned", "found"), [(8, 3), (3, 3), (None, None)])
def test_an_optimizer_is_asked_how_many_episodes_it_needs_where_that_is_open(
    planned: int | None, found: int | None
) -> None:
    reply = session(3).tell_and_ask(None, BatchRequest(q=1, spent=0.0, episodes=planned))
    assert reply.episodes == found


@pytest.mark.parametrize("wanted", [0, -1, 9])
def test_more_than_is_planned_and_none_are_refused(wanted: int) -> None:
    with pytest.raises(RunError, match=rf"asks for {wanted} episodes .*expected from 1 to the 8"):
        session(wanted).tell_and_ask(None, BatchRequest(q=1, spent=0.0, episodes=8))


def test_a_state_of_another_version_is_told_as_that() -> None:
    state = Frugal(0, 1).state_dict()
    name = sorted(state)[0]
    with pytest.raises(RunError, match=f"has no '{name}'; expected that of the version"):
        session(1).restore({key: value for key, value in state.items() if key != name})


class Sharing(RandomSearch):
    """Shares episodes as it is told to."""

    def __init__(self, rows: list[int]) -> None:
        super().__init__(2, 0)
        self._rows = rows

    def episode_rows(self) -> NDArray[np.int64]:
        return np.array(self._rows)


@dataclass(frozen=True, kw_only=True)
class SharingConfig:
    """Settings of `Sharing`."""

    rows: list[int]

    def build(self, *, dimension: int, seed: int) -> Sharing:
        return Sharing(self.rows)

    def proposal(self, budget_episodes: int) -> Proposal:
        return default_batch_plan(budget_episodes)


def test_the_rows_of_common_episodes_are_answered() -> None:
    sharing = LocalSession(SharingConfig(rows=[0, 0, 2]), dimension=2, seed=0)
    reply = sharing.tell_and_ask(None, BatchRequest(q=3, spent=0.0))
    assert reply.episode_rows is not None
    assert reply.episode_rows.tolist() == [0, 0, 2]
    plain = session(1).tell_and_ask(None, BatchRequest(q=3, spent=0.0))
    assert plain.episode_rows is None


@pytest.mark.parametrize("rows", [[0, 0], [0, 2, 2], [-1, 1, 2]])
def test_rows_of_common_episodes_that_cannot_be_are_refused(rows: list[int]) -> None:
    sharing = LocalSession(SharingConfig(rows=rows), dimension=2, seed=0)
    with pytest.raises(RunError, match="expected 3, each from 0 to its own"):
        sharing.tell_and_ask(None, BatchRequest(q=3, spent=0.0))


@pytest.mark.parametrize("asked_alike", [True, False])
def test_what_was_under_way_when_an_asynchronous_search_ended_is_pending_no_longer(
    asked_alike: bool,
) -> None:
    config = LocalGpConfig(acquisition="ucb")
    before = config.build(dimension=2, seed=0)
    before.tell(points := before.ask(6), np.square(points).sum(1))
    before.ask(3)
    deaths = [False, True, False]  # its process is lost in the second call

    class Once(LocalSession):
        def tell_and_ask(
            self, told: EvaluatedBatch | None, wanted: BatchRequest | None, *, keep: bool = False
        ) -> OptimizerReply:
            if deaths.pop(0):
                raise LostError
            return super().tell_and_ask(told, wanted, keep=keep)

    kept = ResilientOptimizer(
        lambda: Once(config, dimension=2, seed=0),
        (LostError,),
        lambda _: None,
        before.state_dict(),
        [],
        asked_alike=asked_alike,
    )
    kept.advance(None, None)
    state = kept.advance(None, BatchRequest(q=1, spent=0.5), keep=True).state
    assert deaths == []
    assert state is not None
    assert len(state["pending"]) == (3 if asked_alike else 0)
