"""The choice of plausible mechanisms: eta of every node but the reward, whose eta is +1.

Without noise eta is a constant a node. With noise it is a small net of the node's inputs, so that
it answers to what the noise makes of them. Appendix A.3 of the MCBO paper. Differs: its sigmoid
gives [0, 1]; here 2 sigmoid(.) - 1 gives [-1, 1], as in the authors' code.
"""

from collections.abc import Callable, Sequence
from typing import Final, Protocol

import numpy as np
import torch
from torch import Tensor

from rolecast.core.types import Float
from rolecast.platform.optimizers.mcbo.graph_model import Deviates

HIDDEN_FACTOR: Final = 4
"""Hidden units of a net, for each of its inputs."""

START_RANGE: Final = (0.001, 0.999)
"""Range of the uniform start value of the sigmoid."""


class Optimism(Protocol):
    """A parametric family of eta, over B starts at once."""

    @property
    def bounds(self) -> list[tuple[float, float]]:
        """Range of each parameter."""

    def draw(self, count: int, rng: np.random.Generator) -> Float:
        """Return random parameters [count, K]."""

    def deviates(self, parameters: Tensor) -> Deviates:
        """Return eta of parameters [B, K]."""


class ConstantOptimism:
    """eta is a constant of each node."""

    def __init__(self, sizes: Sequence[int]) -> None:
        """Set up.

        Args:
            sizes: inputs of each node; the last is the reward.
        """
        self._reward = len(sizes) - 1

    @property
    def bounds(self) -> list[tuple[float, float]]:
        """Range of each constant."""
        return [(-1.0, 1.0)] * self._reward

    def draw(self, count: int, rng: np.random.Generator) -> Float:
        """Return random constants [count, m - 1]."""
        return rng.uniform(-1.0, 1.0, (count, self._reward))

    def deviates(self, parameters: Tensor) -> Deviates:
        """Return eta of constants [B, m - 1]."""

        def eta(place: int, inputs: Callable[[], Tensor]) -> Tensor | float:
            return 1.0 if place == self._reward else parameters[:, place, None]

        return eta


class NetOptimism:
    """eta is a net of the node's inputs: linear, ReLU, linear, sigmoid."""

    def __init__(self, sizes: Sequence[int]) -> None:
        """Set up.

        Args:
            sizes: inputs of each node; the last is the reward.
        """
        self._sizes = list(sizes[:-1])
        self._ends = np.cumsum([0, *(self._count(size) for size in self._sizes)]).tolist()

    @property
    def bounds(self) -> list[tuple[float, float]]:
        """No bound of a weight."""
        return [(-np.inf, np.inf)] * self._ends[-1]

    @staticmethod
    def _count(size: int) -> int:
        """Return the number of weights of a net with so many inputs."""
        hidden = HIDDEN_FACTOR * size
        return hidden * size + hidden + hidden + 1

    def draw(self, count: int, rng: np.random.Generator) -> Float:
        """Return random weights [count, K]: uniform in 1 / sqrt(inputs), as torch draws them."""
        parts = []
        for size in self._sizes:
            hidden = HIDDEN_FACTOR * size
            first = rng.uniform(-1.0, 1.0, (count, hidden * size + hidden)) / size**0.5
            second = rng.uniform(-1.0, 1.0, (count, hidden)) / hidden**0.5
            level = rng.uniform(*START_RANGE, (count, 1))
            parts += [first, second, np.log(level / (1.0 - level))]
        return np.concatenate(parts, axis=1) if parts else np.zeros((count, 0))

    def deviates(self, parameters: Tensor) -> Deviates:
        """Return eta of weights [B, K]."""

        def eta(place: int, inputs: Callable[[], Tensor]) -> Tensor | float:
            if place == len(self._sizes):
                return 1.0
            size = self._sizes[place]
            hidden = HIDDEN_FACTOR * size
            weights = parameters[:, self._ends[place] : self._ends[place + 1]]
            ends = np.cumsum([hidden * size, hidden, hidden])
            first, bias, second, level = torch.tensor_split(weights, ends.tolist(), dim=1)
            layer = torch.einsum("bsi,bhi->bsh", inputs(), first.reshape(-1, hidden, size))
            units = torch.relu(layer + bias[:, None, :])
            return 2.0 * torch.sigmoid(torch.einsum("bsh,bh->bs", units, second) + level) - 1.0

        return eta
