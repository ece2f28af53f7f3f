"""Running means and deviations that live in a module, and so travel with its weights."""

from typing import Any, Final

import torch
from torch import Tensor, nn

SMALLEST_STD: Final = 1e-4
"""Deviations below it are those of a number that does not change."""


def mixed_moments(
    mean: Tensor, variance: Tensor, rows: Tensor, share: float
) -> tuple[Tensor, Tensor]:
    """Return mean and variance of a mixture: of what has the given ones, and a share of rows [N].

    In float64, as variances of large numbers cancel; RLlib keeps module states in float32.
    """
    rows, mean = rows.double(), mean.double()
    apart = rows.mean(dim=0) - mean
    spread = share * rows.var(dim=0, correction=0) + (1.0 - share) * variance.double()
    return mean + share * apart, spread + share * (1.0 - share) * apart.square()


class RunningNormaliser(nn.Module):
    """Brings numbers to mean 0 and deviation 1 by all rows seen so far.

    Differs from the common implementation: no clipping. So the next linear layer can absorb the
    normalisation (`folded`), and the acting policy stays a plain MLP.
    """

    count: Tensor
    mean: Tensor
    variance: Tensor

    def __init__(self, size: int) -> None:
        super().__init__()
        self.register_buffer("count", torch.zeros(()))
        self.register_buffer("mean", torch.zeros(size))
        self.register_buffer("variance", torch.zeros(size))

    @property
    def std(self) -> Tensor:
        """Deviations [size]; 1 before anything was seen, and for a number that does not change.

        Such a number may change in a later episode: it is then as large as it moved, not as that
        divided by `SMALLEST_STD`.
        """
        if self.count < 2:
            return torch.ones_like(self.mean)
        std = self.variance.sqrt()
        return torch.where(std < SMALLEST_STD, 1.0, std)

    @torch.no_grad()
    def see(self, rows: Tensor) -> None:
        """Take rows [N, size] into the statistics. Source: Chan, Golub and LeVeque 1983."""
        total = float(self.count) + len(rows)
        mixed = mixed_moments(self.mean, self.variance, rows, len(rows) / total)
        for buffer, value in zip((self.mean, self.variance), mixed, strict=True):
            buffer.copy_(value)
        self.count.fill_(total)

    def forward(self, rows: Tensor) -> Tensor:
        """Return rows [..., size] normalised."""
        return (rows - self.mean) / self.std

    @torch.no_grad()
    def folded(self, layer: Any) -> nn.Linear:
        """Return a new layer that does on raw rows what `layer` does on normalised ones."""
        weight = layer.weight.double() / self.std.double()
        bias = layer.bias.double() - weight @ self.mean.double()
        new = nn.Linear(layer.in_features, layer.out_features)
        new.weight.copy_(weight)
        new.bias.copy_(bias)
        return new


class ValueScale(nn.Module):
    """The mean and deviation of recent value targets; the critic's last layer predicts in them.

    Source: PopArt, van Hasselt et al. 2016, as in MAPPO (Yu et al. 2022, suggestion 1).
    """

    weight: Tensor
    mean: Tensor
    variance: Tensor

    def __init__(self, decay: float) -> None:
        super().__init__()
        self.decay = decay
        self.register_buffer("weight", torch.zeros(()))
        self.register_buffer("mean", torch.zeros(()))
        self.register_buffer("variance", torch.ones(()))

    @property
    def std(self) -> Tensor:
        """Deviation of the targets, at least `SMALLEST_STD`; 1 before anything was seen."""
        return self.variance.sqrt().clamp(min=SMALLEST_STD)

    @torch.no_grad()
    def see(self, targets: Tensor, last: Any) -> None:
        """Move to new targets, and `last` with them, so that what it means does not change.

        Before the first targets the layer means nothing yet, and is left alone.

        Args:
            targets: of any shape, in the unit of the return.
            last: the critic's last layer, an `nn.Linear`, changed in place.
        """
        known, mean, std = bool(self.weight > 0), self.mean.double(), self.std.double()
        self.weight.copy_(self.decay * self.weight + (1.0 - self.decay))
        share = (1.0 - self.decay) / float(self.weight)
        mixed = mixed_moments(self.mean, self.variance, targets.reshape(-1), share)
        for buffer, value in zip((self.mean, self.variance), mixed, strict=True):
            buffer.copy_(value)
        if known:  # a critic that has learned nothing says nothing worth keeping
            last.weight.copy_(last.weight.double() * (std / self.std))
            last.bias.copy_((last.bias.double() * std + mean - self.mean) / self.std)

    def to_unit(self, values: Tensor) -> Tensor:
        """Return what the critic should say for values in the unit of the return."""
        return (values - self.mean) / self.std

    def from_unit(self, outputs: Tensor) -> Tensor:
        """Return the values in the unit of the return that the critic's outputs mean."""
        return outputs * self.std + self.mean
