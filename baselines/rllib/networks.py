"""The networks of learners: multi-layer perceptrons of three sizes."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from types import MappingProxyType
from typing import Final

import torch
from torch import Tensor, nn

NETWORK_SIZES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "small": "policies with the parameter counts of the paper's tables 2 and 3",
        "paper": "the networks of the algorithm's authors",
        "xl": "two hidden layers of 400",
    }
)
"""Names of sizes, and what they are."""

Widths = tuple[int, ...]


def mlp(
    inputs: int, hidden: Sequence[int], outputs: int, *, last_layer: float | None = None
) -> nn.Sequential:
    """Return a perceptron with ReLU between its layers and nothing after the last.

    Args:
        inputs: numbers that it takes.
        hidden: widths between.
        outputs: numbers that it returns.
        last_layer: weights of the last layer are drawn within this of 0; None as torch draws them.
    """
    layers: list[nn.Module] = []
    for fan_in, fan_out in pairwise((inputs, *hidden, outputs)):
        # In place, as the gradient of a linear layer does not need what it returned.
        layers += [nn.Linear(fan_in, fan_out), nn.ReLU(inplace=True)]
    if last_layer is not None:
        for weights in layers[-2].parameters():
            nn.init.uniform_(weights, -last_layer, last_layer)
    return nn.Sequential(*layers[:-1])


def policy_widths(size: str, agents: int, paper: Widths) -> Widths:
    """Return the hidden widths of the network that acts.

    Args:
        size: one of `NETWORK_SIZES`.
        agents: n; the small policy of a single agent is 10-10, one shared by a team 14-14.
        paper: widths of the algorithm's authors.
    """
    return {"small": (10, 10) if agents == 1 else (14, 14), "paper": paper, "xl": (400, 400)}[size]


def joint_input(state: Tensor, actions: Tensor) -> Tensor:
    """Return a state [N, S] or [N, n, do] and all actions [N, n, da] as rows [N, S + n da]."""
    return torch.cat([state.flatten(1), actions.flatten(1)], dim=1)
