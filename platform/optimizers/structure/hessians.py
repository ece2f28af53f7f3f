"""Scores pairs of parameters by Hessians of the policy: how strongly they interact in its actions.

Section 4.4 and appendices A and H of the DSS-GP-UCB paper. The return's own Hessian cannot be
observed; that of the policy's actions, over states met by running it, stands in for it. A zero
there does not imply a zero in the return's Hessian: a remainder stays, which is why the surrogate
keeps a common term over all dimensions.
"""

from typing import Final

import numpy as np
import torch

from rolecast.core.errors import ConfigError
from rolecast.core.types import Float
from rolecast.policies.protocol import Policy

HESSIAN_AVERAGES: Final = ("rms", "signed")
"""How Hessians are averaged: root mean square, or the paper's signed sum."""


def hessian_scores(
    policy: Policy, weights: Float, observations: Float, *, score: str, seed: int
) -> Float:
    """Return how strongly each pair of parameters interacts in the policy's actions, [D, D].

    In units of the cube: an entry is the second derivative of an action, for moves along two
    edges of the cube. "rms" averages squares over policies, states and action components by
    Hessians of random signs of the components: the square of such a Hessian is, on average, the
    sum of the components' squares, so one Hessian a policy is enough. "signed" averages the
    entries themselves and loses the pairs whose sign changes with a third weight.

    Args:
        policy: with `relaxed_act`.
        weights: [T, D], policies around which to look.
        observations: [S, n, do], states met; each policy takes its share of them.
        score: one of `HESSIAN_AVERAGES`.
        seed: of the random signs.
    Raises:
        ConfigError: there are fewer states than policies.
    """
    if len(observations) < len(weights):
        expected = f"at least {len(weights)}, one for each policy"
        raise ConfigError("number of states for Hessians", len(observations), expected)
    ranges = 2.0 * policy.space.half_range
    generator = torch.Generator().manual_seed(seed)
    total = np.zeros((weights.shape[1], weights.shape[1]))
    shares = np.array_split(observations, len(weights))
    for point, share in zip(weights, shares, strict=True):
        states = torch.as_tensor(share)
        shape = policy.relaxed_act(torch.as_tensor(point), states).shape
        signs = torch.ones(shape, dtype=torch.float64)
        if score == "rms":
            signs = 2.0 * torch.randint(2, shape, generator=generator).double() - 1.0

        def projected(
            values: torch.Tensor, states: torch.Tensor = states, signs: torch.Tensor = signs
        ) -> torch.Tensor:
            return (policy.relaxed_act(values, states) * signs).sum()

        hessian = torch.func.hessian(projected)(torch.as_tensor(point)).numpy()
        hessian = hessian * np.outer(ranges, ranges)
        total += np.square(hessian) / signs.numel() if score == "rms" else hessian / signs.numel()
    average = total / len(weights)
    return np.sqrt(average) if score == "rms" else np.abs(average)
