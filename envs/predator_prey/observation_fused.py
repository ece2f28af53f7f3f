"""Compiled observations: `observation.observe` for one block of W episodes, float32.

Arrays are rows of W lanes, two rows an entity; `p`, `v` and `o` are the first rows of the block in
positions, velocities and observations. Values that belong to a compared distance are selected with
it, lane by lane. No lane needs a lookup by its own index.
"""

from typing import Final

import numpy as np

from rolecast.core.compiled import compiled, inlined
from rolecast.core.simd import Lanes, load, pick, spread, store
from rolecast.core.types import Float32

f32 = np.float32

FAR_SQUARED: Final = np.float32(1e30)
"""Squared distance greater than that of any entity."""

BLIND_VIEW: Final = np.float32(-1.0)
"""Squared view radius within which nothing lies."""


@compiled
def observe(
    positions: Float32,
    p: int,
    velocities: Float32,
    v: int,
    sizes: tuple[int, int, int, int],
    view: np.float32,
    nearest: bool,
    observations: Float32,
    o: int,
) -> None:
    """Write the observations [n, do] of one block.

    Args:
        positions: [.., W].
        p: first of the block's 2 m rows.
        velocities: [.., W].
        v: first of the block's 2 (n + k) rows.
        sizes: n, n + k, m, and scouts: the predators that see prey, all if 0.
        view: square of the view radius.
        nearest: show the nearest of each kind ("nearest16"), not all ("full").
        observations: [.., W], written.
        o: first of the block's n do rows.
    """
    n, movable, entities, scouts = sizes
    for a in range(n):
        prey_view = view if scouts == 0 or a < scouts else f32(BLIND_VIEW)
        store(observations, o, load(velocities, v + 2 * a))
        store(observations, o + 1, load(velocities, v + 2 * a + 1))
        store(observations, o + 2, load(positions, p + 2 * a))
        store(observations, o + 3, load(positions, p + 2 * a + 1))
        o += 4
        if nearest:
            see_two_nearest(positions, p, a, movable, entities, view, observations, o)
            see_two_nearest(positions, p, a, 0, n, view, observations, o + 4)
            see_nearest_prey(
                positions, p, velocities, v, a, n, movable, prey_view, observations, o + 8
            )
            o += 12
            continue
        for landmark in range(movable, entities):
            see(positions, p, a, landmark, view, observations, o)
            o += 2
        for other in range(movable):
            if other != a:
                other_view = view if other < n else prey_view
                see(positions, p, a, other, other_view, observations, o)
                o += 2
        for other in range(n, movable):
            _, _, squared = offset(positions, p, a, other)
            seen = squared <= prey_view
            store(observations, o, pick(seen, load(velocities, v + 2 * other), 0.0))
            store(observations, o + 1, pick(seen, load(velocities, v + 2 * other + 1), 0.0))
            o += 2


@inlined
def offset(positions: Float32, p: int, observer: int, other: int) -> tuple[Lanes, Lanes, Lanes]:
    """Return the offset x, y of one entity from another, and its squared length."""
    dx = load(positions, p + 2 * other) - load(positions, p + 2 * observer)
    dy = load(positions, p + 2 * other + 1) - load(positions, p + 2 * observer + 1)
    return dx, dy, dx * dx + dy * dy


@inlined
def see(
    positions: Float32,
    p: int,
    observer: int,
    other: int,
    view: np.float32,
    observations: Float32,
    o: int,
) -> None:
    """Write the offset of one entity from another to two rows, 0 beyond the view radius."""
    dx, dy, squared = offset(positions, p, observer, other)
    seen = squared <= view
    store(observations, o, pick(seen, dx, 0.0))
    store(observations, o + 1, pick(seen, dy, 0.0))


@inlined
def see_two_nearest(
    positions: Float32,
    p: int,
    observer: int,
    start: int,
    stop: int,
    view: np.float32,
    observations: Float32,
    o: int,
) -> None:
    """Write the offsets of the two entities of start..stop nearest to an observer, by index.

    Two others always exist, as n is at least 3.
    """
    first, second = spread(FAR_SQUARED), spread(FAR_SQUARED)
    x1, y1, x2, y2 = spread(0.0), spread(0.0), spread(0.0), spread(0.0)
    swapped = spread(0.0)  # 1 where the nearest has the higher index of the two
    for other in range(start, stop):
        if other != observer:
            dx, dy, squared = offset(positions, p, observer, other)
            nearer, near = squared < first, squared < second
            second = pick(nearer, first, pick(near, squared, second))
            x2, y2 = pick(nearer, x1, pick(near, dx, x2)), pick(nearer, y1, pick(near, dy, y2))
            swapped = pick(nearer, 1.0, pick(near, 0.0, swapped))
            first, x1, y1 = pick(nearer, squared, first), pick(nearer, dx, x1), pick(nearer, dy, y1)
    seen, seen_too, swap = first <= view, second <= view, swapped > 0.5
    x1, y1 = pick(seen, x1, 0.0), pick(seen, y1, 0.0)
    x2, y2 = pick(seen_too, x2, 0.0), pick(seen_too, y2, 0.0)
    store(observations, o, pick(swap, x2, x1))
    store(observations, o + 1, pick(swap, y2, y1))
    store(observations, o + 2, pick(swap, x1, x2))
    store(observations, o + 3, pick(swap, y1, y2))


@inlined
def see_nearest_prey(
    positions: Float32,
    p: int,
    velocities: Float32,
    v: int,
    observer: int,
    n: int,
    movable: int,
    view: np.float32,
    observations: Float32,
    o: int,
) -> None:
    """Write offset and velocity of the prey nearest to an observer to four rows."""
    first, x, y = spread(FAR_SQUARED), spread(0.0), spread(0.0)
    vx, vy = spread(0.0), spread(0.0)
    for prey in range(n, movable):
        dx, dy, squared = offset(positions, p, observer, prey)
        nearer = squared < first
        first, x, y = pick(nearer, squared, first), pick(nearer, dx, x), pick(nearer, dy, y)
        vx = pick(nearer, load(velocities, v + 2 * prey), vx)
        vy = pick(nearer, load(velocities, v + 2 * prey + 1), vy)
    seen = first <= view
    store(observations, o, pick(seen, x, 0.0))
    store(observations, o + 1, pick(seen, y, 0.0))
    store(observations, o + 2, pick(seen, vx, 0.0))
    store(observations, o + 3, pick(seen, vy, 0.0))
