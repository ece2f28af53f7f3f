from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rolecast.core.errors import ConfigError
from rolecast.platform.search.planning.budget import Budget, Spent


@given(
    total=st.integers(1, 10_000),
    worst=st.integers(1, 500),
    share=st.floats(0.0, 0.5),
    batch=st.integers(1, 80),
    cheap=st.floats(0.01, 1.0),
    before=st.integers(0, 500),
)
def test_a_search_spends_its_budget_and_never_more(
    total: int, worst: int, share: float, batch: int, cheap: float, before: int
) -> None:
    """Steps that were used before it began count as used."""
    if total < worst:
        total += worst
    budget = Budget(
        unit="env_steps",
        total=total + before,
        episodes=1,
        episode_steps=worst,
        confirm_share=share,
        random_play_steps=before,
    )
    spent, batches = Spent(), 0
    cost = max(1, int(cheap * worst))
    while fits := budget.search_fits(spent):
        q = min(batch, fits)
        spent = Spent(env_steps=spent.env_steps + q * cost, evaluations=spent.evaluations + q)
        batches += 1
    assert batches >= 1
    confirmed = spent.env_steps + budget.confirmations(spent) * worst
    assert total - 2 * worst < confirmed <= total or cost < worst
    assert spent.env_steps + budget.confirmations(spent) * worst <= total
    assert 0.0 <= budget.share(spent) <= 1.0


def test_a_budget_in_evaluations_counts_evaluations() -> None:
    budget = Budget(
        unit="evaluations", total=100, episodes=2, episode_steps=100, confirm_share=0.02
    )
    assert budget.confirmations(Spent()) == 10
    assert budget.search_fits(Spent(env_steps=10**9, evaluations=82)) == 8


@pytest.mark.parametrize(
    ("total", "episodes", "share", "expected"),
    [
        (1_000, 1, 0.02, 24),
        (1_000, 8, 0.02, 20),
        (150, 1, 0.02, 15),
        (150, 8, 0.02, 4),
        (20, 1, 0.02, 2),
        (1_000, 1, 0.0, 0),
    ],
)
def test_a_confirmation_has_episodes_for_all_that_it_compares(
    total: int, episodes: int, share: float, expected: int
) -> None:
    """24 episodes and four evaluations, as far as a tenth of the budget allows."""
    budget = Budget(
        unit="evaluations", total=total, episodes=episodes, episode_steps=9, confirm_share=share
    )
    assert budget.confirmations(Spent()) == expected


def test_a_tiny_budget_is_mostly_for_the_search() -> None:
    budget = Budget(unit="evaluations", total=3, episodes=1, episode_steps=1, confirm_share=0.02)
    assert (budget.confirmations(Spent()), budget.search_fits(Spent())) == (1, 2)


def test_longer_episodes_than_random_play_has_are_reckoned_with() -> None:
    """Ten steps of random play become 100: of 10,000 steps, a hundred episodes are left, not 900.

    Three evaluations of two episodes are told, whose longest lasted 200 steps together.
    """
    budget = Budget(unit="env_steps", total=10_000, episodes=2, episode_steps=10, confirm_share=0.1)
    assert (budget.confirmations(Spent()), budget.search_fits(Spent())) == (50, 450)
    spent = Spent().after(np.array([100, 200, 100]), 2)
    assert spent == Spent(env_steps=400, evaluations=3, longest=100)
    assert (budget.confirmations(spent), budget.search_fits(spent)) == (5, 43)
    late = replace(spent, env_steps=9_500)
    assert (budget.search_fits(late), budget.confirmation_fits(late)) == (0, 2)


def test_a_budget_below_one_evaluation_is_refused() -> None:
    with pytest.raises(ConfigError, match="env_steps is 199; expected at least 200"):
        Budget(unit="env_steps", total=199, episodes=2, episode_steps=100, confirm_share=0.0)
