"""Compiled loops of `clique_sum`, over pairs of points in blocks that stay in cache."""

from collections.abc import Callable
from typing import Any, Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from rolecast.core.compiled import compiled, inlined
from rolecast.core.types import Float, Float32
from rolecast.platform.surrogate.clique_sum.vectors import (
    Scalar,
    Vector,
    exp2_minus,
    limit,
    load,
    reciprocal_root,
    store,
    total,
)

Index = NDArray[np.int64]
F = TypeVar("F", bound=Callable[..., object])
Real = TypeVar("Real", Float, Float32)

LN_2: Final = float(np.log(2.0))
LEAST_SQUARED_DISTANCE: Final = 1e-30
"""Squared distance added to all pairs, so that its root is above 0."""

CLIQUE_GROUP: Final = 128
"""Cliques in one partial sum: a long sum of small numbers loses precision."""


def _unlocked(kernel: F) -> F:
    """Return a kernel that runs without the interpreter lock."""
    options: dict[str, Any] = kernel.targetoptions  # type: ignore[attr-defined]  # numba's
    options["nogil"] = True
    return kernel


@inlined
def _square_differences(own: Any, theirs: Any, columns: int, squares: Any) -> None:
    """Write the squared differences of a point [D] and a block [D * columns]."""
    half = columns // 2
    for d in range(len(own)):
        left = load(theirs, d * columns) - own[d]
        right = load(theirs, d * columns + half) - own[d]
        store(squares, d * columns, left * left)
        store(squares, d * columns + half, right * right)


@inlined
def _covariance(scaled: Vector, weight: Scalar, smooth: bool) -> Vector:
    """Return w k of a distance in turns (smooth) or squared turns.

    Turns t = r / ln 2: exp(-r) = 2^-t. Matérn-5/2 is w (1 + t ln 2 + (t ln 2)^2 / 3) 2^-t.
    """
    if smooth:
        return exp2_minus(scaled) * weight
    turns = scaled * reciprocal_root(scaled)
    return exp2_minus(turns) * (weight + weight * (turns * LN_2 + scaled * (LN_2 * LN_2 / 3.0)))


@_unlocked
@compiled
def covariances(
    rows: Real,
    blocks: Real,
    starts: Index,
    places: Index,
    scales: Real,
    weights: Real,
    most: Scalar,
    smooth: bool,
    symmetric: bool,
    thread: int,
    threads: int,
    result: Real,
) -> None:
    """Add covariances to result [N, K * columns], in every `threads`-th row from `thread` on.

    If symmetric, only blocks that reach to the right of the diagonal.
    """
    columns = blocks.shape[1] // rows.shape[1]
    half = columns // 2
    squares, nothing = np.empty_like(blocks[0]), np.zeros_like(blocks[0, :half])
    for block in range(len(blocks)):
        first = block * columns
        end = min(len(rows), first + columns) if symmetric else len(rows)
        for row in range(thread, end, threads):
            out = result[row]
            _square_differences(rows[row], blocks[block], columns, squares)
            for group in range(0, len(weights), CLIQUE_GROUP):
                left_sum, right_sum = load(nothing, 0), load(nothing, 0)
                for c in range(group, min(group + CLIQUE_GROUP, len(weights))):
                    place = places[starts[c]]
                    left, right = load(squares, place), load(squares, place + half)
                    for member in range(starts[c] + 1, starts[c + 1]):
                        place = places[member]
                        left = left + load(squares, place)
                        right = right + load(squares, place + half)
                    left = limit(left * scales[c] + LEAST_SQUARED_DISTANCE, most)
                    right = limit(right * scales[c] + LEAST_SQUARED_DISTANCE, most)
                    left_sum = left_sum + _covariance(left, weights[c], smooth)
                    right_sum = right_sum + _covariance(right, weights[c], smooth)
                store(out, first, load(out, first) + left_sum)
                store(out, first + half, load(out, first + half) + right_sum)


@inlined
def covariance_and_slope(scaled: Vector, smooth: bool) -> tuple[Vector, Vector]:
    """Return k and its derivative in the squared distance, over -scale ln(2)^2 / 6 or -ln(2)."""
    if smooth:
        power = exp2_minus(scaled)
        return power, power
    turns = scaled * reciprocal_root(scaled)
    power = exp2_minus(turns)
    slope = power + power * (turns * LN_2)
    return slope + power * (scaled * (LN_2 * LN_2 / 3.0)), slope


@_unlocked
@compiled
def slopes(
    rows: Real,
    blocks: Real,
    starts: Index,
    places: Index,
    scales: Real,
    weights: Real,
    most: Scalar,
    smooth: bool,
    symmetric: bool,
    thread: int,
    threads: int,
    coefficients: Real,
    in_rows: Real,
    in_blocks: Real,
    in_weights: Real,
) -> None:
    """Add gradients of sum_ij c_ij k_ij, in every `threads`-th row from `thread` on.

    Arguments as for `covariances`, and coefficients c [N, K * columns]; the gradients go into
    in_rows [N, D], in_blocks [K, D * columns] and, spread over a vector each, in_weights
    [M * half].
    """
    columns = blocks.shape[1] // rows.shape[1]
    half = columns // 2
    squares, slope = np.empty_like(blocks[0]), np.empty_like(blocks[0])
    unit = -2.0 * LN_2 if smooth else -LN_2 * LN_2 / 3.0
    for block in range(len(blocks)):
        first = block * columns
        theirs = blocks[block]
        end = min(len(rows), first + columns) if symmetric else len(rows)
        for row in range(thread, end, threads):
            own = rows[row]
            _square_differences(own, theirs, columns, squares)
            slope[:] = 0.0
            left_share, right_share = (
                load(coefficients[row], first),
                load(coefficients[row], first + half),
            )
            for c in range(len(weights)):
                place = places[starts[c]]
                left, right = load(squares, place), load(squares, place + half)
                for member in range(starts[c] + 1, starts[c + 1]):
                    place = places[member]
                    left = left + load(squares, place)
                    right = right + load(squares, place + half)
                left = limit(left * scales[c] + LEAST_SQUARED_DISTANCE, most)
                right = limit(right * scales[c] + LEAST_SQUARED_DISTANCE, most)
                left_value, left = covariance_and_slope(left, smooth)
                right_value, right = covariance_and_slope(right, smooth)
                sum_so_far = load(in_weights, c * half)
                sum_so_far = sum_so_far + left_share * left_value + right_share * right_value
                store(in_weights, c * half, sum_so_far)
                factor = unit * weights[c] * scales[c]
                left, right = left * (left_share * factor), right * (right_share * factor)
                for member in range(starts[c], starts[c + 1]):
                    place = places[member]
                    store(slope, place, load(slope, place) + left)
                    store(slope, place + half, load(slope, place + half) + right)
            for d in range(len(own)):
                place = d * columns
                left = load(slope, place) * (load(theirs, place) - own[d])
                right = load(slope, place + half) * (load(theirs, place + half) - own[d])
                store(in_blocks[block], place, load(in_blocks[block], place) + left)
                store(in_blocks[block], place + half, load(in_blocks[block], place + half) + right)
                in_rows[row, d] -= total(left + right)


@compiled
def mirror(matrix: Real) -> None:
    """Copy the upper triangle to the lower one."""
    for row in range(len(matrix)):
        for column in range(row):
            matrix[row, column] = matrix[column, row]
