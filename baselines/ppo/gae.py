"""Generalised advantage estimation over arrays of T steps of B episodes; Schulman et al. 2016."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor


def generalised_advantages(
    rewards: "Tensor",
    values: "Tensor",
    next_values: "Tensor",
    terminated: "Tensor",
    ended: "Tensor",
    *,
    gamma: float,
    lambda_: float,
) -> "Tensor":
    """Return advantages [T, B, n] of T steps, each worth what it led to.

    Args:
        rewards: [T, B, n], paid for each step.
        values: [T, B, n], of the observations that were acted on, in the unit of the return.
        next_values: [T, B, n], of the observations that came of it, before any new episode began.
        terminated: [T, B], 1 where the step ended its episode for good: nothing is to come.
        ended: [T, B], 1 where the next row belongs to another episode, terminated or truncated.
        gamma: discount of a step.
        lambda_: 0 trusts the values alone, 1 the rewards alone.
    Source: Schulman et al. 2016, equation 16. What a truncated episode would still have earned is
    its value where it was cut; the last row of all is cut likewise.
    """
    going = 1.0 - terminated.unsqueeze(-1)
    carried = gamma * lambda_ * (1.0 - ended.unsqueeze(-1))
    surprises = rewards + gamma * going * next_values - values
    advantages = surprises.clone()
    for step in range(len(rewards) - 2, -1, -1):
        advantages[step] += carried[step] * advantages[step + 1]
    return advantages


def advantage_weights(ended: "Tensor", *, gamma: float, lambda_: float) -> "Tensor":
    """Return the weights [B, T, T] of each later surprise in each advantage.

    The advantage of step t is `sum over u of weights[b, t, u] * surprise[u]`: the same estimate as
    `generalised_advantages`, written as the linear function of the rewards that it is.

    Args:
        ended: [T, B], 1 where the next row belongs to another episode.
        gamma: discount of a step.
        lambda_: as above.
    """
    steps = len(ended)
    weights = ended.new_zeros(ended.shape[1], steps, steps)
    for step in range(steps - 1, -1, -1):
        weights[:, step, step] = 1.0
        if step + 1 < steps:
            carried = gamma * lambda_ * (1.0 - ended[step])
            weights[:, step, step + 1 :] = carried[:, None] * weights[:, step + 1, step + 1 :]
    return weights
