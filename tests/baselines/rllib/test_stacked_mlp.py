"""A stack of perceptrons is the same as its networks one by one."""

import numpy as np
import torch
from torch.nn import functional

from rolecast.baselines.rllib.stacked_mlp import StackedMLP


def test_each_network_of_a_stack_computes_a_plain_perceptron_of_its_own() -> None:
    torch.manual_seed(0)
    stack = StackedMLP(3, (4, 8, 8, 2))
    inputs = torch.randn(3, 5, 4)
    outputs = stack(inputs)
    for copy in range(3):
        rows = inputs[copy]
        for depth in range(3):
            rows = functional.relu(rows) if depth else rows
            weight, bias = stack.weights[depth][copy].T, stack.biases[depth][copy, 0]
            rows = functional.linear(rows, weight, bias)
        np.testing.assert_allclose(outputs[copy].detach(), rows.detach(), rtol=1e-4, atol=1e-6)


def test_networks_of_a_stack_differ_from_the_start() -> None:
    inputs = torch.ones(1, 1, 4).expand(2, 1, 4)
    first, second = StackedMLP(2, (4, 8, 1))(inputs)
    assert not torch.equal(first, second)
