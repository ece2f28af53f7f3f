"""Fused sum over cliques: one pass over pairs of points, without a matrix for each clique.

Squared differences of a row and a block of columns are computed once in all dimensions, then kept
in cache. Each clique c sums those of its members, `members[starts[c]:starts[c + 1]]`. Time
grows as pairs times total clique size, memory as pairs. Differs: a product with a membership
matrix gives the same, with some hundred times the arithmetic.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from rolecast.core.types import Float
from rolecast.platform.surrogate.clique_sum.cpu_kernels import (
    LN_2,
    Index,
    Real,
    covariances,
    mirror,
    slopes,
)

BLOCK_BYTES: Final = 128
"""Bytes of one dimension in a block of columns: two vectors, to hide the latency of one."""

MOST_TURNS: Final = {4: 126.0, 8: 1000.0}
"""Limit of halvings of a covariance, by bytes of a number: values of 1e-35 and 1e-298."""

SINGLE_THREAD_PAIRS: Final = 2_000_000
"""Pairs times cliques below which one thread is used."""


@dataclass(frozen=True)
class CliqueLayout:
    """Layout of cliques for the kernels: sorted by size, then members; used dimensions from 0.

    Loops of equal length then follow each other, and so do cliques with common dimensions.
    """

    order: Index
    """Clique at each place [M] of the sorted order."""

    starts: Index
    """Start of each clique in `members`, [M + 1]."""

    members: Index
    """Dimensions of all cliques, as indices into `used`."""

    used: Index
    """Dimensions that are in at least one clique."""

    @classmethod
    def of(cls, cliques: Sequence[Sequence[int]]) -> "CliqueLayout":
        """Return the layout of cliques of at least one dimension each."""
        members_of = [sorted(int(member) for member in clique) for clique in cliques]
        places = sorted(range(len(cliques)), key=lambda c: (len(members_of[c]), members_of[c]))
        order = np.array(places, dtype=np.int64)
        starts, members = flatten_cliques([members_of[place] for place in order])
        used, numbered = np.unique(members, return_inverse=True)
        return cls(order, starts, numbered, used)


def flatten_cliques(cliques: Sequence[Sequence[int]]) -> tuple[Index, Index]:
    """Return `starts` [M + 1] and the concatenated `members` of all cliques."""
    starts = np.zeros(len(cliques) + 1, dtype=np.int64)
    starts[1:] = np.cumsum([len(clique) for clique in cliques])
    members = [np.asarray(clique, dtype=np.int64) for clique in cliques]
    return starts, np.concatenate(members) if members else np.zeros(0, dtype=np.int64)


def clique_sum(
    A: Real,
    B: Real | None,
    layout: CliqueLayout,
    inverse: Float,
    weights: Float,
    *,
    smooth: bool = False,
    threads: int = 1,
) -> Real:
    """Return [N, M], the sum over c of w_c k(|a_c - b_c|^2 inverse_c), in the precision of A.

    Absolute error at weights of sum 1: 2e-6 in float32, 1e-13 in float64.

    Args:
        A: [N, D].
        B: [M, D]; None: A, for half the work.
        layout: of C cliques.
        inverse: [C], reciprocals of squared lengthscales.
        weights: [C].
        smooth: k is exp(-s / 2), the kernel of the radial basis function, not Matérn-5/2.
        threads: number of threads over the rows; the result does not depend on it.
    """
    job: _Job = _Job(A, B, layout, inverse, weights, smooth)
    result = np.zeros((len(A), len(job.blocks) * job.columns), dtype=A.dtype)

    def work(thread: int, count: int) -> None:
        share: Any = (B is None, thread, count, result)
        covariances(*job.arguments, *share)

    _share(work, threads, result.size * len(weights))
    if B is None:
        mirror(result)
    return result[:, : len(A if B is None else B)]


def clique_sum_gradient(
    A: Real,
    B: Real | None,
    coefficients: Real,
    layout: CliqueLayout,
    inverse: Float,
    weights: Float,
    *,
    smooth: bool = False,
    threads: int = 1,
) -> tuple[Real, Real | None, Float]:
    """Return the gradients of sum_ij c_ij k(a_i, b_j) in A [N, D], B [M, D] and weights [C].

    Args:
        A: as for `clique_sum`.
        B: likewise; if None, the first gradient is of both sides and the second None.
        coefficients: [N, M], c.
        layout: of C cliques.
        inverse: [C].
        weights: [C].
        smooth: as for `clique_sum`.
        threads: likewise; the order of sums, and so the rounding, depends on it.
    """
    job: _Job = _Job(A, B, layout, inverse, weights, smooth)
    padded = np.zeros((len(A), len(job.blocks) * job.columns), dtype=A.dtype)
    padded[:, : coefficients.shape[1]] = coefficients
    if B is None:
        square = padded[:, : len(A)]
        square += coefficients.T
        square[np.tril_indices(len(A))] = 0.0
        square[np.diag_indices(len(A))] = np.diag(coefficients)
    threads = _useful(threads, padded.size * len(weights))
    in_rows = np.zeros(job.rows.shape, dtype=A.dtype)
    in_blocks = np.zeros((threads, *job.blocks.shape), dtype=A.dtype)
    in_weights = np.zeros((threads, len(weights) * (job.columns // 2)), dtype=A.dtype)

    def work(thread: int, count: int) -> None:
        found: Any = (in_rows, in_blocks[thread], in_weights[thread])
        share: Any = (B is None, thread, count, padded, *found)
        slopes(*job.arguments, *share)

    _share(work, threads, padded.size * len(weights))
    there: Any = in_blocks.sum(0).reshape(len(job.blocks), in_rows.shape[1], job.columns)
    there = there.transpose(0, 2, 1).reshape(padded.shape[1], in_rows.shape[1])
    shares = in_weights.reshape(threads, len(weights), -1).sum((0, 2), dtype=np.float64)
    gradient = np.empty(len(weights))
    gradient[layout.order] = shares
    if B is None:
        return _widened(in_rows + there[: len(A)], layout, A), None, gradient
    return _widened(in_rows, layout, A), _widened(there[: len(B)], layout, B), gradient


class _Job:
    """Arguments of the kernels."""

    def __init__(
        self,
        A: Any,
        B: Any,
        layout: CliqueLayout,
        inverse: Float,
        weights: Float,
        smooth: bool,
    ) -> None:
        size = A.dtype.itemsize
        self.columns: int = BLOCK_BYTES // size
        self.rows: Any = np.ascontiguousarray(A[:, layout.used])
        columns = self.rows if B is None else B[:, layout.used]
        self.blocks: Any = _in_blocks(columns, self.columns)
        # k is computed from its turns, the number of halvings: exp(-r) = 2^-(r / ln 2).
        unit = 0.5 / LN_2 if smooth else 5.0 / LN_2**2
        most = MOST_TURNS[size] if smooth else MOST_TURNS[size] ** 2
        self.arguments: tuple[Any, ...] = (
            self.rows,
            self.blocks,
            layout.starts,
            layout.members * self.columns,
            (unit * np.asarray(inverse)[layout.order]).astype(A.dtype),
            np.asarray(weights)[layout.order].astype(A.dtype),
            A.dtype.type(most),
            smooth,
        )


def _in_blocks(points: Any, columns: int) -> Any:
    """Return points [M, D] as K blocks [K, D * columns], each dimension after dimension."""
    count, dimensions = points.shape
    blocks = -(-count // columns)
    padded = np.zeros((blocks * columns, dimensions), dtype=points.dtype)
    padded[:count] = points
    turned = padded.reshape(blocks, columns, dimensions).transpose(0, 2, 1)
    return np.ascontiguousarray(turned).reshape(blocks, dimensions * columns)


def _widened(gradient: Any, layout: CliqueLayout, points: Any) -> Any:
    """Return a gradient in the used dimensions as one in all dimensions."""
    full = np.zeros_like(points)
    full[:, layout.used] = gradient
    return full


def _useful(threads: int, work: int) -> int:
    return max(1, threads) if work > SINGLE_THREAD_PAIRS else 1


def _share(work: Callable[[int, int], None], threads: int, size: int) -> None:
    """Call work(thread, count) in each thread, in parallel."""
    count = _useful(threads, size)
    if count == 1:
        work(0, 1)
        return
    with ThreadPoolExecutor(count) as pool:
        list(pool.map(work, range(count), [count] * count))
