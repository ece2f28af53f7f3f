"""Layers of the compiled policies, over W lanes in float32.

Arrays are rows of W lanes. `w` holds the parameters of each lane, `rows` all intermediate values.
Integers are row numbers, because a view for each part would cost more than its arithmetic. Rows are
read and written as whole vectors (`rolecast.core.simd`).
"""

import numpy as np

from rolecast.core.compiled import inlined
from rolecast.core.simd import Lanes, load, pick, store
from rolecast.core.types import Float32
from rolecast.policies.network import TANH_BOUND


@inlined
def tanh_lanes(x: Lanes) -> Lanes:
    """Return tanh of every lane, within 1e-6; NaN stays NaN.

    Source: x P(x^2) / Q(x^2), degrees 13 and 6, fitted to [-7.905, 7.905]; the coefficients are
    those of the Eigen library.
    """
    x = clip_lanes(x, TANH_BOUND)
    s = x * x
    p = s * np.float32(-2.76076847742355e-16) + np.float32(2.00018790482477e-13)
    p = p * s + np.float32(-8.60467152213735e-11)
    p = p * s + np.float32(5.12229709037114e-08)
    p = p * s + np.float32(1.48572235717979e-05)
    p = p * s + np.float32(6.37261928875436e-04)
    p = p * s + np.float32(4.89352455891786e-03)
    q = s * np.float32(1.19825839466702e-06) + np.float32(1.18534705686654e-04)
    q = q * s + np.float32(2.26843463243900e-03)
    q = q * s + np.float32(4.89352518554385e-03)
    return p * x / q


@inlined
def clip_lanes(x: Lanes, bound: np.float32) -> Lanes:
    """Return every lane clipped to [-bound, bound]; NaN stays NaN."""
    x = pick(x > bound, bound, x)
    return pick(x < -bound, -bound, x)


@inlined
def clip_rows(
    source: Float32, first: int, bound: np.float32, rows: Float32, target: int, count: int
) -> None:
    """Write `count` rows of source from `first` on, clipped to [-bound, bound], to rows[target]."""
    for i in range(count):
        store(rows, target + i, clip_lanes(load(source, first + i), bound))


@inlined
def zero_rows(rows: Float32, target: int, count: int) -> None:
    """Set `count` rows from `target` on to 0."""
    for i in range(count):
        store(rows, target + i, 0.0)


@inlined
def squash_sum(rows: Float32, a: int, b: int, target: int, count: int) -> None:
    """Write tanh(rows[a] + rows[b]) to rows[target], for `count` rows each."""
    for i in range(count):
        store(rows, target + i, tanh_lanes(load(rows, a + i) + load(rows, b + i)))


@inlined
def squash(rows: Float32, target: int, count: int) -> None:
    """Replace `count` rows from `target` on by their tanh."""
    for i in range(target, target + count):
        store(rows, i, tanh_lanes(load(rows, i)))


@inlined
def add_product(
    w: Float32,
    q: int,
    stride: int,
    base: Float32,
    b: int,
    rows: Float32,
    x: int,
    count: int,
    y: int,
    units: int,
) -> None:
    """Write part of a layer: y[u] = base[b + u] + sum over i of w[q + u stride + i] x[i].

    Four units at a time, so that four sums are under way at once.

    Args:
        w: [.., W], weights of every lane.
        q: parameter that multiplies x[0] for unit 0.
        stride: inputs of the whole layer.
        base: [.., W], what the sums begin with: biases in `w`, or rows of `rows`.
        b: first of the `units` rows of base.
        rows: [.., W], holds x and y.
        x: first of the `count` rows that this part reads.
        count: inputs of this part.
        y: first of the `units` rows written.
        units: units of the layer.
    """
    fours = units - units % 4
    for u in range(0, fours, 4):
        q0 = q + u * stride
        q1, q2, q3 = q0 + stride, q0 + 2 * stride, q0 + 3 * stride
        s0, s1 = load(base, b + u), load(base, b + u + 1)
        s2, s3 = load(base, b + u + 2), load(base, b + u + 3)
        for i in range(count):
            row = load(rows, x + i)
            s0 = s0 + load(w, q0 + i) * row
            s1 = s1 + load(w, q1 + i) * row
            s2 = s2 + load(w, q2 + i) * row
            s3 = s3 + load(w, q3 + i) * row
        store(rows, y + u, s0)
        store(rows, y + u + 1, s1)
        store(rows, y + u + 2, s2)
        store(rows, y + u + 3, s3)
    for u in range(fours, units):
        q0 = q + u * stride
        s0 = load(base, b + u)
        for i in range(count):
            s0 = s0 + load(w, q0 + i) * load(rows, x + i)
        store(rows, y + u, s0)


@inlined
def add_code(
    w: Float32,
    q: int,
    stride: int,
    code: int,
    bits: int,
    base: Float32,
    b: int,
    rows: Float32,
    y: int,
    units: int,
) -> None:
    """Write y[u] = base[b + u] + sum of w[q + u stride + bit] over the bits that are set.

    Args:
        w: [.., W], weights of every lane.
        q: parameter that multiplies bit 0 for unit 0.
        stride: inputs of the whole layer.
        code: bits that are set, as an integer.
        bits: number of bits.
        base: [.., W], what the sums begin with, as in `add_product`.
        b: first of the `units` rows of base.
        rows: [.., W], holds y.
        y: first of the `units` rows written.
        units: units of the layer.
    """
    for u in range(units):
        total = load(base, b + u)
        for bit in range(bits):
            if (code >> bit) & 1:
                total = total + load(w, q + u * stride + bit)
        store(rows, y + u, total)


@inlined
def dense(w: Float32, q: int, rows: Float32, x: int, count: int, y: int, units: int) -> int:
    """Write one whole layer, y[u] = bias[u] + sum over i of weight[u, i] x[i].

    Args:
        w: [.., W], weights of every lane.
        q: first parameter of the layer: units * count weights, then `units` biases.
        rows: [.., W], holds x and y.
        x: first input.
        count: inputs.
        y: first output.
        units: outputs.
    Returns:
        The first parameter after the layer.
    """
    bias = q + units * count
    add_product(w, q, count, w, bias, rows, x, count, y, units)
    return bias + units


@inlined
def dense_three(
    w: Float32, q: int, rows: Float32, x: int, count: int, y: int, units: int, shift: int
) -> None:
    """Write one whole layer, as `dense`, for three agents at once: one weight is read for three.

    Args:
        w: [.., W], weights of every lane.
        q: first parameter of the layer.
        rows: [.., W], holds x and y.
        x: first input of the first agent.
        count: inputs.
        y: first output of the first agent.
        units: outputs.
        shift: rows from one agent's inputs, or outputs, to the next one's.
    """
    bias = q + units * count
    pairs = units - units % 2
    for u in range(0, pairs, 2):
        q0 = q + u * count
        q1 = q0 + count
        s0, t0 = load(w, bias + u), load(w, bias + u + 1)
        s1, t1, s2, t2 = s0, t0, s0, t0
        for i in range(count):
            w0, w1 = load(w, q0 + i), load(w, q1 + i)
            x0, x1 = load(rows, x + i), load(rows, x + shift + i)
            x2 = load(rows, x + 2 * shift + i)
            s0, t0 = s0 + w0 * x0, t0 + w1 * x0
            s1, t1 = s1 + w0 * x1, t1 + w1 * x1
            s2, t2 = s2 + w0 * x2, t2 + w1 * x2
        store(rows, y + u, s0)
        store(rows, y + u + 1, t0)
        store(rows, y + shift + u, s1)
        store(rows, y + shift + u + 1, t1)
        store(rows, y + 2 * shift + u, s2)
        store(rows, y + 2 * shift + u + 1, t2)
    if pairs < units:
        last, inputs = y + pairs, q + pairs * count
        for agent in range(3):
            add_product(
                w, inputs, count, w, bias + pairs, rows, x + agent * shift, count,
                last + agent * shift, 1,
            )  # fmt: skip
