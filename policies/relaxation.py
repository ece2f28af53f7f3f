"""Small MLPs in torch: what the surrogate Hessian of a policy is taken of (appendix A).

Works under `torch.func` (vmap, jacrev, hessian). Import this only where Hessians are wanted: torch
takes seconds to load, and running a policy does not need it.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from rolecast.policies.network import unpack
from rolecast.policies.parameterisation import Net


def finish_tensor(layers: Sequence[tuple[Tensor, Tensor]], sums: Tensor) -> Tensor:
    """Run a net on from the sums [..., width] of its first layer; returns [..., out]."""
    for weight, bias in layers[1:]:
        sums = torch.tanh(sums) @ weight.T + bias
    return sums


def forward_tensor(layers: Sequence[tuple[Tensor, Tensor]], inputs: Tensor) -> Tensor:
    """Run one net over rows [..., in]; hidden units are tanh, outputs [..., out] linear."""
    weight, bias = layers[0]
    return finish_tensor(layers, inputs @ weight.T + bias)


def mlp_actions(
    weights: Tensor, observations: Tensor, *, net: Net, observation_clip: float, output_gain: float
) -> Tensor:
    """Return the actions [S, n, da] of a shared MLP for weights [D], observations [S, n, do]."""
    clipped = observations.clamp(-observation_clip, observation_clip)
    return torch.tanh(output_gain * forward_tensor(unpack(weights, [net])[net.name], clipped))
