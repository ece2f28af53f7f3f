"""The parameter vector: named blocks, and the affine map from the unit cube to weights."""

from dataclasses import dataclass, field
from functools import cached_property
from math import prod

import numpy as np

from rolecast.core.types import Float


@dataclass(frozen=True, kw_only=True, eq=False)
class Block:
    """One array of weights: a layer's matrix or its biases."""

    net: str
    """The small network it belongs to: "role", "edge", "message", "update" or "mlp"."""

    layer: int
    """Layer within the net, from 0."""

    kind: str
    """"weight", shape (out, in), or "bias", shape (out,)."""

    centre: Float
    """Weights at the middle of the cube; its shape is the block's."""

    half_range: float
    """Largest distance of a weight from its centre, reached at the faces of the cube."""

    columns: tuple[str, ...] = field(default=())
    """What each input column of a "weight" block reads; empty for a bias."""

    @property
    def name(self) -> str:
        """Net, layer and kind in one word."""
        return f"{self.net}.{self.layer}.{self.kind}"

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the array."""
        return self.centre.shape

    @property
    def size(self) -> int:
        """Number of weights."""
        return prod(self.shape)


@dataclass(frozen=True, eq=False)
class ParameterSpace:
    """D parameters in blocks, in the order in which the policy reads them (C order inside)."""

    blocks: tuple[Block, ...]

    @cached_property
    def size(self) -> int:
        """D."""
        return sum(block.size for block in self.blocks)

    @cached_property
    def slices(self) -> dict[str, slice]:
        """Block name to its slice of the parameter vector."""
        ends = np.cumsum([block.size for block in self.blocks])
        return {
            block.name: slice(int(end) - block.size, int(end))
            for block, end in zip(self.blocks, ends, strict=True)
        }

    @cached_property
    def nets(self) -> dict[str, slice]:
        """Net name to the slice of the parameter vector that its blocks fill."""
        spans: dict[str, slice] = {}
        for block in self.blocks:
            part = self.slices[block.name]
            spans[block.net] = slice(spans.get(block.net, part).start, part.stop)
        return spans

    @cached_property
    def centre(self) -> Float:
        """Weights [D] at the middle of the cube."""
        return np.concatenate([block.centre.ravel() for block in self.blocks])

    @cached_property
    def half_range(self) -> Float:
        """Distance [D] from the centre to the faces of the cube."""
        return np.concatenate([np.full(block.size, block.half_range) for block in self.blocks])

    @cached_property
    def input_groups(self) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        """Group [D] of each parameter: the weights that read one input column of one layer.

        The biases of a layer are one group. Groups are numbered from 0 in order of appearance.
        """
        groups: list[np.ndarray[tuple[int], np.dtype[np.int64]]] = []
        count = 0
        for block in self.blocks:
            if block.kind == "bias":
                groups.append(np.full(block.size, count))
                count += 1
            else:
                outputs, inputs = block.shape
                groups.append(count + np.tile(np.arange(inputs), outputs))
                count += inputs
        return np.concatenate(groups)

    def weights(self, cube: Float) -> Float:
        """Map points [..., D] of the unit cube to weights [..., D]."""
        return self.centre + self.half_range * (2.0 * np.asarray(cube, dtype=np.float64) - 1.0)

    def cube(self, weights: Float) -> Float:
        """Map weights [..., D] back to the cube; outside [0, 1] for weights out of range."""
        return 0.5 * ((np.asarray(weights) - self.centre) / self.half_range + 1.0)
