"""Budgets of any size are divided into many batches."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rolecast.platform.optimizers.batch_plan import default_batch_plan
from rolecast.platform.optimizers.protocol import Proposal
from rolecast.platform.optimizers.registry import optimizer_config
from tests.platform.optimizers.conftest import NAMES

BUDGETS = st.integers(1, 200_000)
SHAPES = [{}, {"episodes": 32, "batch_size": 15}, {"episodes": 1, "batch_size": 20}]


def batches(budget: int, proposal: Proposal) -> int:
    """Return how many whole batches a budget of episodes pays for."""
    return budget // (proposal.episodes * proposal.batch_size)


@pytest.mark.parametrize("shape", SHAPES)
@settings(deadline=None)
@given(budget=BUDGETS)
def test_there_are_twenty_batches_or_more_from_250_episodes_on(
    shape: dict[str, int], budget: int
) -> None:
    proposal = default_batch_plan(budget, **shape)
    assert proposal.episodes >= 1
    assert proposal.batch_size >= 1
    count = batches(budget, proposal)
    assert count >= (20 if budget >= 250 else min(budget, 2))


@pytest.mark.parametrize("shape", SHAPES)
@settings(deadline=None)
@given(budget=BUDGETS, more=BUDGETS)
def test_a_larger_budget_never_means_fewer_episodes_or_smaller_batches(
    shape: dict[str, int], budget: int, more: int
) -> None:
    small, large = default_batch_plan(budget, **shape), default_batch_plan(budget + more, **shape)
    assert small.episodes <= large.episodes
    assert small.batch_size <= large.batch_size


@pytest.mark.parametrize("shape", SHAPES)
def test_an_ample_budget_has_the_shape_asked_for(shape: dict[str, int]) -> None:
    asked = {"episodes": 8, "batch_size": 60} | shape
    proposal = default_batch_plan(10**6, **shape)
    assert (proposal.episodes, proposal.batch_size) == (asked["episodes"], asked["batch_size"])


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("budget", [2, 30, 250, 1000, 32_000, 64_000])
def test_every_optimizer_divides_any_budget(name: str, budget: int) -> None:
    count = batches(budget, optimizer_config(name).proposal(budget))
    assert count >= (20 if budget >= 250 else 2)
