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
        worst_steps=worst,
        confirm_share=share,
        before=before,
    )
    spent, batches = Spent(), 0
    cost = max(1, int(cheap * worst))
    while fits := budget.search_fits(spent):
        q = min(batch, fits)
        spent = Spent(env_steps=spent.env_steps + q * cost, evaluations=spent.evaluations + q)
        batches += 1
    assert batches >= 1
    confirmed = spent.env_steps + budget.confirmations * worst
    assert total - 2 * worst < confirmed <= total or cost < worst
    assert spent.env_steps + budget.confirmations * worst <= total
    assert 0.0 <= budget.share(spent) <= 1.0


def test_a_budget_in_evaluations_counts_evaluations() -> None:
    budget = Budget(unit="evaluations", total=100, worst_steps=200, confirm_share=0.02)
    assert budget.confirmations == 2
    assert budget.search_fits(Spent(env_steps=10**9, evaluations=90)) == 8


def test_a_tiny_budget_is_mostly_for_the_search() -> None:
    budget = Budget(unit="evaluations", total=3, worst_steps=1, confirm_share=0.02)
    assert (budget.confirmations, budget.search_fits(Spent())) == (1, 2)


def test_a_budget_below_one_evaluation_is_refused() -> None:
    with pytest.raises(ConfigError, match="env_steps is 199; expected at least 200"):
        Budget(unit="env_steps", total=199, worst_steps=200, confirm_share=0.0)
