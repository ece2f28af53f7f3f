"""The host of an optimiser refuses what no optimiser may say, and states that are not its own."""

from dataclasses import dataclass

import pytest

from rolecast.core.errors import RunError
from rolecast.platform.optimizers.batch_plan import default_batch_plan
from rolecast.platform.optimizers.protocol import Proposal
from rolecast.platform.optimizers.random import RandomSearch
from rolecast.platform.search.optimizer_host import OptimizerHost, Wanted


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


def host(wanted: int) -> OptimizerHost:
    return OptimizerHost(FrugalConfig(wanted=wanted), dimension=2, seed=0)


@pytest.mark.parametrize(("planned", "found"), [(8, 3), (3, 3), (None, None)])
def test_an_optimizer_is_asked_how_many_episodes_it_needs_where_that_is_open(
    planned: int | None, found: int | None
) -> None:
    reply = host(3).exchange(None, Wanted(q=1, spent=0.0, episodes=planned))
    assert reply.episodes == found


@pytest.mark.parametrize("wanted", [0, -1, 9])
def test_more_than_is_planned_and_none_are_refused(wanted: int) -> None:
    with pytest.raises(RunError, match=rf"wants {wanted} episodes .*expected from 1 to the 8"):
        host(wanted).exchange(None, Wanted(q=1, spent=0.0, episodes=8))


def test_a_state_of_another_version_is_told_as_that() -> None:
    state = Frugal(0, 1).state_dict()
    name = sorted(state)[0]
    with pytest.raises(RunError, match=f"has no '{name}'; expected that of the version"):
        host(1).restore({key: value for key, value in state.items() if key != name})
