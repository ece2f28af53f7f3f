"""Values and gradients of a perceptron by hand, without the graph that autograd would keep.

Networks of these sizes take a step in so little time that a fifth of it went into the graph.
Losses stay written for autograd, which the tests hold these gradients against.
"""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

Kept = list[Tensor]
"""What each layer of a network was given, [N, width], the first layer's first."""


class TightMLP:
    """Reads the weights of a perceptron made by `mlp`, and writes their gradients.

    Everything here belongs under `torch.no_grad()`. Rows N are first; there are no others.
    """

    def __init__(self, network: nn.Sequential) -> None:
        """Bind the weights, which may change in place but not be replaced.

        Args:
            network: linear layers with ReLU between them and nothing after the last.
        """
        self._layers = [
            (layer.weight, layer.bias) for layer in network if isinstance(layer, nn.Linear)
        ]

    def __call__(self, rows: Tensor) -> Tensor:
        """Return outputs [N, out] of inputs [N, in]."""
        return self.keep(rows)[0]

    def keep(self, rows: Tensor) -> tuple[Tensor, Kept]:
        """Return outputs [N, out] of inputs [N, in], and what gradients need."""
        kept: Kept = []
        for depth, (weight, bias) in enumerate(self._layers):
            if depth:
                rows.relu_()
            kept.append(rows)
            rows = torch.addmm(bias, rows, weight.t())
        return rows, kept

    def learn(self, kept: Sequence[Tensor], slope: Tensor, beside: Tensor | None = None) -> None:
        """Write the gradients of a loss by weights and biases.

        Args:
            kept: as `keep` returned it.
            slope: [N, out], of the loss by the outputs.
            beside: [N, width], of the loss by what the last of two or more layers was given, where
                that went elsewhere too.
        """
        for depth in reversed(range(len(self._layers))):
            weight, bias = self._layers[depth]
            weight.grad, bias.grad = slope.t() @ kept[depth], slope.sum(dim=0)
            if depth:
                slope = slope @ weight
                if beside is not None:
                    slope += beside
                    beside = None
                _rectify(slope, kept[depth])

    def by_inputs(self, kept: Sequence[Tensor], slope: Tensor) -> Tensor:
        """Return the slope [N, in] of a loss by the inputs, for that [N, out] by the outputs.

        Args:
            kept: as `keep` returned it; the inputs themselves, its first item, may be missing.
            slope: [N, out].
        """
        behind = len(kept) - len(self._layers)
        for depth in reversed(range(len(self._layers))):
            slope = slope @ self._layers[depth][0]
            if depth:
                _rectify(slope, kept[depth + behind])
        return slope


def _rectify(slope: Tensor, outputs: Tensor) -> None:
    """Set a slope to 0, in place, where a ReLU returned 0."""
    torch.ops.aten.threshold_backward.grad_input(slope, outputs, 0, grad_input=slope)


def fit(critic: TightMLP, rows: Tensor, target: Tensor, weight: float) -> Tensor:
    """Write the gradients of a weight times the mean squared error of a critic; return that loss.

    Args:
        critic: of one output.
        rows: [N, in].
        target: [N, 1].
        weight: of the error.
    """
    value, kept = critic.keep(rows)
    miss = value - target
    critic.learn(kept, miss * (2.0 * weight / len(rows)))
    return weight * miss.square().mean()


def climb(critic: TightMLP, rows: Tensor) -> tuple[Tensor, Tensor]:
    """Return the value [N, 1] of rows [N, in], and its slope [N, in].

    Args:
        critic: of one output.
        rows: [N, in].
    """
    value, kept = critic.keep(rows)
    return value, critic.by_inputs(kept, torch.ones_like(value))


class TightPolicy:
    """A policy that acts by the tanh of a perceptron."""

    def __init__(self, network: nn.Sequential) -> None:
        """Bind the weights; see `TightMLP`."""
        self._net = TightMLP(network)

    def __call__(self, observations: Tensor) -> Tensor:
        """Return actions [N, da] for observations [N, do]."""
        return torch.tanh_(self._net(observations))

    def climb(self, observations: Tensor, critic: TightMLP) -> Tensor:
        """Write the gradients of minus the mean value of what the policy does; return that loss.

        Args:
            observations: [N, do].
            critic: its value of an observation and an action, end to end.
        """
        raw, kept = self._net.keep(observations)
        actions = torch.tanh_(raw)
        value, slope = climb(critic, torch.cat([observations, actions], dim=1))
        by_actions = slope[:, observations.shape[1] :] / -len(observations)
        self._net.learn(kept, by_actions * (1.0 - actions.square()))
        return -value.mean()
