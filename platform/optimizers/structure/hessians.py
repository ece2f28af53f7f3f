"""Interaction scores of pairs of parameters, from Hessians of the policy's actions.

Sections 4.4 and 4.5 and appendices A and H of the DSS-GP-UCB paper. The Hessian H_v of the return
cannot be observed. The Hessian H_pi of the actions, over states met by the policy, replaces it.
H_v = r + H_pi o g has a remainder r: a zero of H_pi does not imply a zero of H_v. The surrogate
therefore keeps a common term over all dimensions.
"""

import numpy as np
import torch

from rolecast.core.errors import ConfigError
from rolecast.core.types import Float
from rolecast.policies.protocol import Policy


def hessian_scores(
    policy: Policy, weights: Float, observations: Float, *, score: str, seed: int
) -> Float:
    """Return interaction scores [D, D] of the parameters, in units of the cube.

    An entry averages d^2 a_k / (d theta_a d theta_b) over policies, states and action components k.
    "rms" is the root mean square: one Hessian of sum_k s_k a_k for each policy, s_k random signs.
    "signed" is the absolute mean. It loses the pairs whose sign changes with a third weight.

    Args:
        policy: with `relaxed_act`.
        weights: [T, D], weights of the policies at which Hessians are computed.
        observations: [S, n, do], states met; each policy gets an equal part of them.
        score: average over Hessians, "rms" or "signed".
        seed: seed of the random signs.
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

        # E[(sum_k s_k H_k)^2] = sum_k H_k^2, entry by entry, for independent signs s_k.
        hessian = torch.func.hessian(projected)(torch.as_tensor(point)).numpy()
        hessian = hessian * np.outer(ranges, ranges)
        total += np.square(hessian) / signs.numel() if score == "rms" else hessian / signs.numel()
    average = total / len(weights)
    return np.sqrt(average) if score == "rms" else np.abs(average)
