"""Fused sum over cliques on CUDA, without a matrix for each clique; sums have a fixed order.

The same as `clique_sum` for the CPU. The kernels are compiled on first use, in a second or two.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
import torch
import triton
from torch import Tensor

from rolecast.platform.surrogate.clique_sum.cpu import CliqueLayout
from rolecast.platform.surrogate.clique_sum.cpu_kernels import Index
from rolecast.platform.surrogate.clique_sum.triton_kernels import gathered, gradient, value

GRADIENT_GROUP: Final = 8
"""Dimensions of a clique in one program of the gradient; a larger clique has several."""

BUSY_PROGRAMS: Final = 1056
"""Programs that keep a large device busy: eight for each of its 132 multiprocessors."""

MOST_GRADIENTS: Final = 2**26
"""Maximum gradients kept at once, one for each dimension of a clique and point."""

Tile = tuple[int, int, int]
"""Rows and columns of a tile, and warps that share it."""

VALUE_TILES: Final = {torch.float32: (64, 64, 2), torch.float64: (32, 32, 8)}
GRADIENT_TILES: Final = {torch.float32: (32, 128, 2), torch.float64: (16, 32, 4)}
"""Fastest tiles of some thirty on an H100, at 1,000 points and 1,500 cliques."""

CLIQUE_BLOCK: Final = 128
"""Cliques in one partial sum."""

SHORT_TILE_ROWS: Final = 16
"""Rows of a tile for inputs of at most that many rows."""


def triton_clique_sum(
    u1: Tensor,
    u2: Tensor | None,
    weights: Tensor,
    layout: CliqueLayout,
    *,
    smooth: bool,
    inverse: Tensor | None = None,
) -> Tensor:
    """Return the sum [N, M] of `device_clique_sum`, for points on the current CUDA device."""
    if not (len(u1) and (u2 is None or len(u2))):
        return u1.new_zeros(len(u1), len(u1 if u2 is None else u2))
    job = _Job(u1, u2, weights, layout, inverse, VALUE_TILES)
    tiles = triton.cdiv(job.rows, job.high) * triton.cdiv(job.columns, job.wide)
    count = len(job.order)
    splits = max(1, min(count // 16, triton.cdiv(BUSY_PROGRAMS, tiles)))
    found = u1.new_empty(splits, job.rows, job.columns)
    grid = (triton.cdiv(job.columns, job.wide), triton.cdiv(job.rows, job.high), splits)
    value[grid](
        *(job.u1, job.u2, job.starts, job.members, job.inverse, job.weights, found),
        *(job.rows, job.columns, count, triton.cdiv(count, splits)),
        SMOOTH=smooth,
        SAME=u2 is None,
        BLOCK=CLIQUE_BLOCK,
        HIGH=job.high,
        WIDE=job.wide,
        num_warps=job.warps,
    )
    total = found[0] if splits == 1 else found.sum(0)
    return total if u2 is not None else total.triu() + total.triu(1).T


def triton_clique_sum_gradient(
    u1: Tensor,
    u2: Tensor,
    weights: Tensor,
    coefficients: Tensor,
    layout: CliqueLayout,
    *,
    smooth: bool,
    inverse: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """Return the gradients of `device_clique_sum_gradient`, on the current CUDA device."""
    if not (len(u1) and len(u2)):
        return torch.zeros_like(u1), torch.zeros_like(weights)
    job = _Job(u1, u2, weights, layout, inverse, GRADIENT_TILES)
    blocks = triton.cdiv(job.rows, job.high)
    in_points = torch.zeros_like(job.u1)
    in_weights = u1.new_zeros(len(job.order), blocks)
    coefficients = coefficients.to(u1.dtype).contiguous()
    for groups in _groups(layout, job.rows):
        entries = u1.new_empty(groups.entries, job.rows)
        cliques, begins, starts, places = (
            torch.as_tensor(each, device=u1.device)
            for each in (groups.cliques, groups.begins, groups.starts, groups.places)
        )
        gradient[(len(groups.cliques), blocks)](
            *(job.u1, job.u2, job.starts, job.members, job.inverse, job.weights, coefficients),
            *(cliques, begins, entries, in_weights),
            *(groups.first, job.rows, job.columns, blocks),
            SMOOTH=smooth,
            GROUP=GRADIENT_GROUP,
            HIGH=job.high,
            WIDE=job.wide,
            num_warps=job.warps,
        )
        gathered[(len(layout.used), triton.cdiv(job.rows, 128))](
            *(entries, starts, places, in_points, job.rows), WIDE=128
        )
    whole = torch.zeros_like(u1)
    whole[:, job.used] = in_points.T
    shares = torch.zeros_like(weights)
    shares[job.order] = in_weights.sum(1).to(weights.dtype)
    return whole, shares


class _Job:
    """Arguments of the kernels: points by dimension, sorted cliques, tile sizes."""

    def __init__(
        self,
        u1: Tensor,
        u2: Tensor | None,
        weights: Tensor,
        layout: CliqueLayout,
        inverse: Tensor | None,
        tiles: Mapping[torch.dtype, Tile],
    ) -> None:
        device = u1.device
        self.used = torch.as_tensor(layout.used, device=device)
        self.order = torch.as_tensor(layout.order, device=device)
        self.starts = torch.as_tensor(layout.starts, device=device)
        self.members = torch.as_tensor(layout.members, device=device)
        scales = torch.ones_like(weights) if inverse is None else inverse
        self.weights = weights[self.order].to(u1.dtype).contiguous()
        self.inverse = scales[self.order].to(u1.dtype).contiguous()
        self.u1 = u1[:, self.used].T.contiguous()
        self.u2 = self.u1 if u2 is None else u2[:, self.used].T.contiguous()
        self.rows, self.columns = self.u1.shape[1], self.u2.shape[1]
        self.high, self.wide, self.warps = tiles[u1.dtype]
        if self.rows <= SHORT_TILE_ROWS:
            self.high = SHORT_TILE_ROWS


@dataclass(frozen=True)
class _Groups:
    """Consecutive cliques of one launch of the gradient, each cut into groups of dimensions."""

    first: int
    """Start of the first clique in the members."""

    entries: int
    """Number of members of these cliques."""

    cliques: Index
    """Clique of each group, [G]."""

    begins: Index
    """Start of each group in the members, [G]."""

    starts: Index
    """Start of each dimension in `places`, [D + 1]."""

    places: Index
    """Entries of the first dimension, then of the second."""


def _groups(layout: CliqueLayout, rows: int) -> Iterator[_Groups]:
    """Yield groups of consecutive cliques, about MOST_GRADIENTS numbers each for those rows."""
    most = max(1, MOST_GRADIENTS // rows)
    start, count = 0, len(layout.order)
    while start < count:
        first = int(layout.starts[start])
        stop = int(np.searchsorted(layout.starts, first + most, side="right")) - 1
        stop = min(max(stop, start + 1), count)
        ends = layout.starts[start : stop + 1]
        pieces = -(-np.diff(ends) // GRADIENT_GROUP)
        within = np.arange(pieces.sum()) - np.repeat(np.cumsum(pieces) - pieces, pieces)
        members = layout.members[first : ends[-1]]
        yield _Groups(
            first=first,
            entries=len(members),
            cliques=np.repeat(np.arange(start, stop), pieces),
            begins=np.repeat(ends[:-1], pieces) + GRADIENT_GROUP * within,
            starts=np.concatenate([[0], np.bincount(members, minlength=len(layout.used)).cumsum()]),
            places=np.argsort(members, kind="stable"),
        )
        start = stop
