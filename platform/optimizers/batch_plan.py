"""Batch plan: episodes of an evaluation and candidates of a batch, from the budget."""

from rolecast.platform.optimizers.protocol import Proposal


def default_batch_plan(
    budget_episodes: int, *, episodes: int = 8, batch_size: int = 60
) -> Proposal:
    """Propose many candidates of few episodes, in some 25 batches or more of an ample budget.

    A batch has 10 candidates where the budget has 50 episodes or more: 250 make 25 batches.

    Four times the candidates at a quarter of the episodes pay where returns are mostly noise. A
    given return then needs about half the environment steps (docs/notebook).

    Args:
        budget_episodes: budget in episodes.
        episodes: E where the budget is ample.
        batch_size: q where the budget is ample.
    """
    batch = max(1, budget_episodes // 25)
    return Proposal(
        episodes=min(max(batch // batch_size, 1), episodes),
        batch_size=min(max(batch, min(10, max(budget_episodes // 5, 1))), batch_size),
    )
