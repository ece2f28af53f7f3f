"""How many episodes an evaluation and how many candidates a batch should have, for a budget."""

from rolecast.platform.optimizers.protocol import Proposal


def default_batch_plan(
    budget_episodes: int, *, episodes: int = 8, batch_size: int = 60
) -> Proposal:
    """Propose many candidates of few episodes: some 25 batches or more, however small the budget.

    Where returns are mostly noise, four times the candidates at a quarter of the episodes reach
    a given return in about half the environment steps (docs/optimizers.md).

    Args:
        budget_episodes: what the budget allows, in episodes.
        episodes: E where the budget is ample.
        batch_size: q where the budget is ample.
    """
    batch = max(1, budget_episodes // 25)
    return Proposal(
        episodes=min(max(batch // batch_size, 1), episodes),
        batch_size=min(max(batch, min(10, max(budget_episodes // 5, 1))), batch_size),
    )
