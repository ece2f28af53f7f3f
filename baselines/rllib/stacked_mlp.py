"""Several perceptrons of one shape as one batched product, for critics that agents do not share."""

from collections.abc import Sequence
from itertools import pairwise

import torch
from torch import Tensor, nn


class StackedMLP(nn.Module):
    """n separate perceptrons with rectified hidden units and linear outputs.

    Initialised as `torch.nn.Linear`: uniform within 1 / sqrt(inputs of the layer).
    """

    def __init__(self, copies: int, widths: Sequence[int]) -> None:
        """Draw the weights.

        Args:
            copies: n, the number of networks.
            widths: of inputs, hidden layers and outputs.
        """
        super().__init__()
        self.weights, self.biases = nn.ParameterList(), nn.ParameterList()
        for fan_in, fan_out in pairwise(widths):
            bound = fan_in**-0.5
            weight, bias = torch.empty(copies, fan_in, fan_out), torch.empty(copies, 1, fan_out)
            self.weights.append(nn.Parameter(weight.uniform_(-bound, bound)))
            self.biases.append(nn.Parameter(bias.uniform_(-bound, bound)))

    def forward(self, inputs: Tensor) -> Tensor:
        """Return outputs [n, B, out] of inputs [n, B, in], one block of rows for each network."""
        rows = inputs
        for depth, (weight, bias) in enumerate(zip(self.weights, self.biases, strict=True)):
            rows = torch.baddbmm(bias, rows.relu_() if depth else rows, weight)
        return rows
