"""Compiled prey: `prey.flee` with its random points, for W episodes at once, float32.

The inner loop is over the trial points, with little work in it. A point p = r (cos, sin) has
a = r^2 directly from the random bits. With a predator at offset -e the squared distance is
|e + p|^2 = |e|^2 + a + 2 e p. It takes two multiplications; |e|^2 is moved to the other side of the
comparison. Lengths are in units of 1/256, in which a is an integer.
"""

from typing import Final

import numpy as np

from rolecast.core.compiled import inlined
from rolecast.core.counter_random import MIX_1, MIX_2, WEYL_INCREMENT, UInt32
from rolecast.core.simd import (
    Bits,
    Lanes,
    load,
    load_bits,
    pick,
    signed,
    spread,
    square_root,
    store,
)
from rolecast.core.types import Float32

f32 = np.float32
u32 = np.uint32

LENGTH_UNIT: Final = np.float32(256.0)
"""Units of length of this file in one unit of the world."""

HALF_TURN: Final = np.float32(np.pi / 2.0**32)
"""Factor from a signed 32-bit word, with the angle in its upper half, to half the angle."""

FAR_SQUARED: Final = np.float32(1e30)
"""Squared distance greater than that of any predator."""

LEAST_SCORE: Final = np.float32(-1e30)
"""Score less than that of any point."""


@inlined
def hashed(first: Bits, second: Bits, counter: int) -> Bits:
    """Return `counter_random.draw` of two keys and a counter without its last step.

    That step is bits ^ (bits >> 16), which does not change the upper half.
    """
    bits = first + u32(u32(counter) * WEYL_INCREMENT)
    bits = bits ^ (bits >> 16)
    bits = bits * MIX_1
    bits = bits ^ (bits >> 15)
    bits = bits + second
    return bits * MIX_2


@inlined
def disc_point(bits: Bits) -> tuple[Lanes, Lanes, Lanes]:
    """Return the point x, y of the disc from `hashed` bits, and x^2 + y^2; units of 1/256.

    The point is r (1 - S^2, S C), with S = sqrt(2) sin(h), C = sqrt(2) cos(h) and the half angle h
    in [-pi/2, pi/2]. Errors of the fitted polynomials are within 1e-7.
    """
    upper = bits >> 16
    share = signed(upper)
    radius = square_root(share)
    angle = signed((bits ^ upper) << 16) * HALF_TURN
    s = angle * angle
    sine = s * f32(3.6843444e-06) + f32(-0.000280142629)
    sine = sine * s + f32(0.0117847138)
    sine = sine * s + f32(-0.235702138)
    sine = (sine * s + f32(1.41421356)) * angle
    cosine = s * f32(3.27446041e-05) + f32(-0.00195920965)
    cosine = cosine * s + f32(0.0589212065)
    cosine = cosine * s + f32(-0.707105443)
    cosine = cosine * s + f32(1.4142135)
    reach = radius * sine
    return radius - reach * sine, reach * cosine, share


@inlined
def flee(
    positions: Float32,
    first_row: int,
    first: UInt32,
    second: UInt32,
    block: int,
    counter: int,
    points: int,
    n: int,
    prey: int,
    touch: np.float32,
    rows: Float32,
    scratch: int,
    target: int,
) -> None:
    """Write the point chosen by one prey of one block to rows[target] and the next row.

    Args:
        positions: [.., W], two rows an entity.
        first_row: of the block in positions.
        first: [K, W], first keys of the episodes.
        second: [K, W], second keys.
        block: row of the keys.
        counter: of the first draw.
        points: J, draws.
        n: predators.
        prey: index of the prey among the entities.
        touch: square of the distance at which predator and prey touch.
        rows: [.., W], the workspace.
        scratch: first of 3 n rows of it that are overwritten.
        target: first of the two rows of it that are written.
    """
    here_x = load(positions, first_row + 2 * prey)
    here_y = load(positions, first_row + 2 * prey + 1)
    # Predators: 2 e (two rows), and the least a + 2 e p without contact.
    near, near_x, near_y = spread(FAR_SQUARED), spread(FAR_SQUARED), spread(FAR_SQUARED)
    for predator in range(n):
        ex = here_x - load(positions, first_row + 2 * predator)
        ey = here_y - load(positions, first_row + 2 * predator + 1)
        squared = ex * ex + ey * ey
        ex, ey = ex * (f32(2.0) * LENGTH_UNIT), ey * (f32(2.0) * LENGTH_UNIT)
        store(rows, scratch + 3 * predator, ex)
        store(rows, scratch + 3 * predator + 1, ey)
        store(rows, scratch + 3 * predator + 2, (touch - squared) * (LENGTH_UNIT * LENGTH_UNIT))
        nearer = squared < near
        near = pick(nearer, squared, near)
        near_x = pick(nearer, ex, near_x)
        near_y = pick(nearer, ey, near_y)
    key, other_key = load_bits(first, block), load_bits(second, block)
    best, chosen, last = spread(LEAST_SCORE), key, counter + points - 1
    for c0 in range(counter, counter + points, 4):
        # Four points at a time, for four independent chains of arithmetic. Past the end the last
        # point is tried again, without effect: it is not better than itself.
        c1, c2, c3 = min(c0 + 1, last), min(c0 + 2, last), min(c0 + 3, last)
        bits0, bits1 = hashed(key, other_key, c0), hashed(key, other_key, c1)
        bits2, bits3 = hashed(key, other_key, c2), hashed(key, other_key, c3)
        x0, y0, share0 = disc_point(bits0)
        x1, y1, share1 = disc_point(bits1)
        x2, y2, share2 = disc_point(bits2)
        x3, y3, share3 = disc_point(bits3)
        score0, score1 = near_x * x0 + (near_y * y0 + share0), near_x * x1 + (near_y * y1 + share1)
        score2, score3 = near_x * x2 + (near_y * y2 + share2), near_x * x3 + (near_y * y3 + share3)
        free0, free1, free2, free3 = score0 > best, score1 > best, score2 > best, score3 > best
        for row in range(scratch, scratch + 3 * n, 3):
            ex, ey, least = load(rows, row), load(rows, row + 1), load(rows, row + 2)
            free0 = free0 & (ex * x0 + (ey * y0 + share0) >= least)
            free1 = free1 & (ex * x1 + (ey * y1 + share1) >= least)
            free2 = free2 & (ex * x2 + (ey * y2 + share2) >= least)
            free3 = free3 & (ex * x3 + (ey * y3 + share3) >= least)
        best, chosen = pick(free0, score0, best), pick(free0, bits0, chosen)
        free1 = free1 & (score1 > best)
        best, chosen = pick(free1, score1, best), pick(free1, bits1, chosen)
        free2 = free2 & (score2 > best)
        best, chosen = pick(free2, score2, best), pick(free2, bits2, chosen)
        free3 = free3 & (score3 > best)
        best, chosen = pick(free3, score3, best), pick(free3, bits3, chosen)
    x, y, _ = disc_point(chosen)
    found = best > LEAST_SCORE
    store(rows, target, pick(found, x * (f32(1.0) / LENGTH_UNIT), 0.0))
    store(rows, target + 1, pick(found, y * (f32(1.0) / LENGTH_UNIT), 0.0))
