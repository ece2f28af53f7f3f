"""Two critics' values and their gradients by hand; see `joint/tight_mlp.py`."""

import torch
from torch import Tensor

from rolecast.baselines.rllib.tight_mlp import TightMLP, fit
from rolecast.baselines.td3.module import TwinCritics


class TightCritics:
    """Two critics of one agent; rows are observation and action, end to end."""

    def __init__(self, critics: TwinCritics) -> None:
        """Bind the weights, which may change in place but not be replaced."""
        self.first, self.second = TightMLP(critics.first), TightMLP(critics.second)

    def smaller(self, rows: Tensor) -> Tensor:
        """Return the smaller value [N] of rows [N, do + da]."""
        return torch.minimum(self.first(rows), self.second(rows)).squeeze(1)

    def learn(self, rows: Tensor, target: Tensor, weight: float) -> Tensor:
        """Write the gradients of a weight times the mean squared errors; return their sum.

        Args:
            rows: [N, do + da].
            target: [N].
            weight: of the errors.
        """
        wanted = target.unsqueeze(1)
        return fit(self.first, rows, wanted, weight) + fit(self.second, rows, wanted, weight)

    def climb_smaller(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        """Return the smaller value [N] of rows [N, do + da], and its slope [N, do + da].

        Each critic is differentiated on the rows alone where it is the smaller.
        """
        (first, one), (second, two) = self.first.keep(rows), self.second.keep(rows)
        smaller = (first < second).squeeze(1)
        slope = torch.empty_like(rows)
        for critic, kept, at in ((self.first, one, smaller), (self.second, two, ~smaller)):
            chosen = at.nonzero().squeeze(1)
            part = [layer.index_select(0, chosen) for layer in kept[1:]]
            ones = rows.new_ones((len(chosen), 1))
            slope.index_copy_(0, chosen, critic.by_inputs(part, ones))
        return torch.minimum(first, second).squeeze(1), slope
