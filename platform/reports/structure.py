"""The picture of the structure that a search has found: which parameters act together.

Rows and columns are the parameters in the policy's order, so that its small networks show as
squares on the diagonal; a dot is an edge, two parameters whose effects on the actions interact.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from numpy.typing import ArrayLike, NDArray

from rolecast.platform.reports.style import BLUE, INK, VERMILION, figure


def adjacency(edges: ArrayLike, size: int) -> NDArray[np.bool_]:
    """Return the symmetric matrix [D, D] of edges [M, 2], its diagonal False."""
    matrix = np.zeros((size, size), dtype=bool)
    pairs = np.asarray(edges, dtype=np.int64).reshape(-1, 2)
    matrix[pairs[:, 0], pairs[:, 1]] = matrix[pairs[:, 1], pairs[:, 0]] = True
    np.fill_diagonal(matrix, val=False)
    return matrix


def block_shares(
    matrix: NDArray[np.bool_], blocks: Mapping[str, slice]
) -> dict[tuple[str, str], float]:
    """Return, for each pair of blocks, which share of their parameter pairs is an edge."""
    shares: dict[tuple[str, str], float] = {}
    names = list(blocks)
    for row, first in enumerate(names):
        for second in names[row:]:
            part = matrix[blocks[first], blocks[second]]
            pairs = part.size - (len(part) if first == second else 0)
            shares[first, second] = float(part.sum()) / pairs if pairs else 0.0
    return shares


def structure_picture(
    edges: ArrayLike, blocks: Mapping[str, slice], *, cliques: Sequence[Sequence[int]] = ()
) -> Figure:
    """Draw the matrix of edges, parameters ordered by block, with the blocks' borders.

    Args:
        edges: [M, 2], pairs of parameters; empty where no structure was found.
        blocks: name of a network of the policy to its slice of the parameters.
        cliques: their number and largest size are written above.
    """
    size = max(part.stop for part in blocks.values())
    matrix = adjacency(edges, size)
    drawing, axes = figure(6.4, 6.4)
    grown = _grown(matrix, max(1, size // 200))
    axes.imshow(grown, cmap=ListedColormap(["white", BLUE]), vmin=0, vmax=1, interpolation="none")
    for part in blocks.values():
        for line in (part.start - 0.5, part.stop - 0.5):
            axes.axhline(line, color=VERMILION, lw=0.8)
            axes.axvline(line, color=VERMILION, lw=0.8)
    middles = [(part.start + part.stop - 1) / 2 for part in blocks.values()]
    names = [f"{name}\n{part.stop - part.start}" for name, part in blocks.items()]
    axes.set_xticks(middles, names, fontsize=9)
    axes.set_yticks(middles, names, fontsize=9)
    axes.spines[["top", "right"]].set_visible(True)
    count, pairs = int(matrix.sum()) // 2, size * (size - 1) // 2
    title = f"{count:,} edges of {pairs:,} pairs of parameters"
    if cliques:
        title += f", {len(cliques):,} cliques, the largest of {max(map(len, cliques))}"
    if not count:
        title = "no structure: the search treated its parameters as one group"
    axes.set_title(title, loc="left", fontsize=10, color=INK)
    return drawing


def _grown(matrix: NDArray[np.bool_], width: int) -> NDArray[np.bool_]:
    """Widen each dot to `width` cells, so that a single edge is seen in a large matrix."""
    grown = matrix.copy()
    for down in range(width):
        for right in range(width):
            grown[down:, right:] |= matrix[: len(matrix) - down, : len(matrix) - right]
    return grown
