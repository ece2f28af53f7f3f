"""The parts of which the compiled policies are made: layers over W lanes, float32.

An array of rows is [k, W]: row q of `w` is parameter q of every lane's own weights, row i of `x` is
input i. Rows are read and written as whole vectors (`rolecast.envs.lane_vectors`).
"""

from typing import Final

import numpy as np

from rolecast.envs.compiled import compiled
from rolecast.envs.lane_vectors import Lanes, load, pick_greater, store
from rolecast.envs.spec import Float32

TANH_BOUND: Final = np.float32(7.90531110763549805)
"""From here on, tanh is 1 to float32."""


@compiled
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


@compiled
def clip_lanes(x: Lanes, bound: np.float32) -> Lanes:
    """Return every lane clipped to [-bound, bound]; NaN stays NaN."""
    x = pick_greater(x, bound, bound, x)
    return pick_greater(-bound, x, -bound, x)


@compiled
def clip_rows(source: Float32, bound: np.float32, target: Float32) -> None:
    """Write source [k, W], clipped to [-bound, bound], to target [k, W]."""
    for i in range(source.shape[0]):
        store(target, i, clip_lanes(load(source, i), bound))


@compiled
def copy_rows(source: Float32, start: int, target: Float32) -> None:
    """Fill target [k, W] with the rows of source that begin at `start`."""
    for i in range(target.shape[0]):
        store(target, i, load(source, start + i))


@compiled
def squash(y: Float32) -> None:
    """Replace y [k, W] by its tanh."""
    for i in range(y.shape[0]):
        store(y, i, tanh_lanes(load(y, i)))


@compiled
def add_product(w: Float32, start: int, stride: int, x: Float32, y: Float32) -> None:
    """Add part of a layer to its sums: y[u] += sum over i of w[start + u stride + i] x[i].

    Four units at a time, so that four sums are under way at once.

    Args:
        w: [D, W], weights of every lane.
        start: parameter that multiplies x[0] for unit 0.
        stride: inputs of the whole layer.
        x: [count, W], the inputs that this part reads.
        y: [out, W], sums.
    """
    count, units = x.shape[0], y.shape[0]
    fours = units - units % 4
    for u in range(0, fours, 4):
        q0 = start + u * stride
        q1, q2, q3 = q0 + stride, q0 + 2 * stride, q0 + 3 * stride
        s0, s1, s2, s3 = load(y, u), load(y, u + 1), load(y, u + 2), load(y, u + 3)
        for i in range(count):
            row = load(x, i)
            s0 = s0 + load(w, q0 + i) * row
            s1 = s1 + load(w, q1 + i) * row
            s2 = s2 + load(w, q2 + i) * row
            s3 = s3 + load(w, q3 + i) * row
        store(y, u, s0)
        store(y, u + 1, s1)
        store(y, u + 2, s2)
        store(y, u + 3, s3)
    for u in range(fours, units):
        q0 = start + u * stride
        s0 = load(y, u)
        for i in range(count):
            s0 = s0 + load(w, q0 + i) * load(x, i)
        store(y, u, s0)


@compiled
def add_code(w: Float32, start: int, stride: int, code: int, bits: int, y: Float32) -> None:
    """Add the columns of a layer that a code sets: y[u] += w[start + u stride + bit] for its bits.

    Args:
        w: [D, W], weights of every lane.
        start: parameter that multiplies bit 0 for unit 0.
        stride: inputs of the whole layer.
        code: bits that are set, as an integer.
        bits: number of bits.
        y: [out, W], sums.
    """
    for u in range(y.shape[0]):
        total = load(y, u)
        for bit in range(bits):
            if (code >> bit) & 1:
                total = total + load(w, start + u * stride + bit)
        store(y, u, total)


@compiled
def dense(w: Float32, start: int, x: Float32, y: Float32) -> int:
    """Write one whole layer, y[u] = bias[u] + sum over i of weight[u, i] x[i].

    Args:
        w: [D, W], weights of every lane.
        start: first parameter of the layer: out * in weights, then out biases.
        x: [in, W].
        y: [out, W].
    Returns:
        The first parameter after the layer.
    """
    bias = start + y.shape[0] * x.shape[0]
    copy_rows(w, bias, y)
    add_product(w, start, x.shape[0], x, y)
    return bias + y.shape[0]
