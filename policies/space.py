"""Parameter space: named blocks, and the affine map from the unit cube to weights."""

import re
from dataclasses import dataclass, field
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from rolecast.core.types import Float
from rolecast.policies.symmetry import TiedSubspace, Ties

if TYPE_CHECKING:
    from rolecast.policies.normalisation import ObservationStatistics


@dataclass(frozen=True, kw_only=True, eq=False)
class Block:
    """Block of parameters: the weight matrix or the biases of a layer."""

    net: str
    """Name of its net: "role", "edge", "message", "update", "mlp" or "linear"."""

    layer: int
    """Layer within the net, from 0."""

    kind: str
    """Kind of array: "weight", shape (out, in), or "bias", shape (out,)."""

    centre: Float
    """Weights at the centre of the cube, in the shape of the block."""

    half_range: float
    """Maximum distance of a weight from its centre, at the faces of the cube."""

    columns: tuple[str, ...] = field(default=())
    """Name of each input column of a "weight" block; empty for a bias."""

    @property
    def name(self) -> str:
        """Name of the block: net, layer and kind."""
        return f"{self.net}.{self.layer}.{self.kind}"

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the array."""
        return self.centre.shape

    @property
    def size(self) -> int:
        """Number of weights."""
        return prod(self.shape)


_OBSERVED_COLUMN: Final = re.compile(r"(?:neighbour )?obs\[(\d+)\]")
"""Name of an input column that is an entry of an observation."""


@dataclass(frozen=True, eq=False)
class _ObservedColumns:
    """Columns of one first layer that read entries of an observation."""

    weight: slice
    bias: slice
    shape: tuple[int, ...]
    columns: NDArray[np.int64]
    entries: NDArray[np.int64]

    def fold(self, weights: Float, statistics: "ObservationStatistics") -> None:
        """Change weights [..., D] in place: W <- W / s, b <- b - W m / s for these columns."""
        lead = weights.shape[:-1]
        matrix = weights[..., self.weight].reshape(*lead, *self.shape)
        scaled = matrix[..., self.columns] / statistics.deviation[self.entries]
        matrix[..., self.columns] = scaled
        weights[..., self.weight] = matrix.reshape(*lead, -1)
        # Column by column: a product of matrices may round otherwise for another batch.
        for place, entry in enumerate(self.entries):
            weights[..., self.bias] -= scaled[..., place] * statistics.mean[entry]


@dataclass(frozen=True, eq=False)
class ParameterSpace:
    """Parameter space of D parameters in blocks, in the order of the parameter vector (C order)."""

    blocks: tuple[Block, ...]

    ties: Ties | None = None
    """Orbits [D] of the weights under the task's symmetries; None where there are none."""

    tied: bool = False
    """Whether the cube has a coordinate for each orbit, in place of each weight."""

    @cached_property
    def dimension(self) -> int:
        """Number of coordinates of the cube: D, or k orbits if `tied`."""
        return self.subspace.dimension if self.subspace is not None else self.size

    @cached_property
    def subspace(self) -> TiedSubspace | None:
        """Subspace of the tied weights, if `tied`."""
        return TiedSubspace(self.ties) if self.tied and self.ties is not None else None

    @cached_property
    def size(self) -> int:
        """Number D of parameters."""
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
        """Net name to the slice of its blocks in the parameter vector."""
        spans: dict[str, slice] = {}
        for block in self.blocks:
            part = self.slices[block.name]
            spans[block.net] = slice(spans.get(block.net, part).start, part.stop)
        return spans

    @cached_property
    def centre(self) -> Float:
        """Weights [D] at the centre of the cube."""
        return np.concatenate([block.centre.ravel() for block in self.blocks])

    @cached_property
    def half_range(self) -> Float:
        """Distance [D] from the centre to the faces of the cube."""
        return np.concatenate([np.full(block.size, block.half_range) for block in self.blocks])

    @cached_property
    def input_groups(self) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        """Group of each coordinate: weights of one input column of one layer are a group.

        The biases of a layer are one group. Groups are numbered from 0 in order of appearance. If
        `tied`, each coordinate is a group of its own.
        """
        if self.subspace is not None:
            return np.arange(self.dimension)
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

    @cached_property
    def observed(self) -> "tuple[_ObservedColumns, ...]":
        """First layers that read observations."""
        found = []
        for block, bias in zip(self.blocks, self.blocks[1:], strict=False):
            read = [(c, _OBSERVED_COLUMN.fullmatch(name)) for c, name in enumerate(block.columns)]
            pairs = [(column, int(match[1])) for column, match in read if match]
            if pairs:
                columns, entries = np.array(pairs).T
                parts = self.slices[block.name], self.slices[bias.name]
                found.append(_ObservedColumns(*parts, block.shape, columns, entries))
        return tuple(found)

    def weights(self, cube: Float, statistics: "ObservationStatistics | None" = None) -> Float:
        """Return weights [..., D] for points of the unit cube [..., dimension].

        w = c + (2 u - 1) r. If `tied`, u - 1/2 are coordinates in the orthonormal basis of the
        orbits, so that distances in the cube mean the same.

        Args:
            cube: [..., dimension].
            statistics: of the observations, by which they are normalised; the weights then read
                observations as they are. None, or of no observation: not normalised.
        """
        deviations = 2.0 * np.asarray(cube, dtype=np.float64) - 1.0
        if self.subspace is not None:
            deviations = deviations @ self.subspace.basis.T
        plain = self.centre + self.half_range * deviations
        if statistics is None or not statistics.count:
            return plain
        for layer in self.observed:
            layer.fold(plain, statistics)
        return plain

    def cube(self, weights: Float) -> Float:
        """Return points for weights [..., D]; outside [0, 1] for weights out of range.

        If `tied`, the points of the nearest tied weights.
        """
        deviations = (np.asarray(weights) - self.centre) / self.half_range
        if self.subspace is not None:
            deviations = deviations @ self.subspace.basis
        return 0.5 * (deviations + 1.0)
