"""Small MLPs in torch, for the surrogate Hessian of a policy (appendix A).

They work under `torch.func` (vmap, jacrev, hessian). Import this module only for Hessians: torch
takes seconds to load, and acting does not need it.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from rolecast.policies.network import unpack
from rolecast.policies.parameterisation import Net


def finish_tensor(layers: Sequence[tuple[Tensor, Tensor]], sums: Tensor) -> Tensor:
    """Return the outputs [..., out] of a net from the sums [..., width] of its first layer."""
    for weight, bias in layers[1:]:
        sums = torch.tanh(sums) @ weight.T + bias
    return sums


def forward_tensor(layers: Sequence[tuple[Tensor, Tensor]], inputs: Tensor) -> Tensor:
    """Return the linear outputs [..., out] of a net with tanh hidden units, for rows [..., in]."""
    weight, bias = layers[0]
    return finish_tensor(layers, inputs @ weight.T + bias)


def mlp_actions(
    weights: Tensor, observations: Tensor, *, net: Net, observation_clip: float, output_gain: float
) -> Tensor:
    """Return the actions [S, n, da] of a shared MLP for weights [D], observations [S, n, do]."""
    clipped = observations.clamp(-observation_clip, observation_clip)
    return torch.tanh(output_gain * forward_tensor(unpack(weights, [net])[net.name], clipped))
