"""Compiled observations: `observation.observe` for blocks of W episodes, float32."""

from typing import Final

import numpy as np

from rolecast.core.compiled import compiled
from rolecast.core.simd import (
    block_stride,
    first_block,
    load,
    pick,
    spread,
    square_root,
    store,
)
from rolecast.core.types import Float32
from rolecast.envs.drone_delivery.observation import HANDOVER_SIZE, LEAST_DIVISOR
from rolecast.envs.drone_delivery.world_fused import (
    FUEL,
    LOADED,
    POINT_X,
    POINT_Y,
    STOPPED,
    VX,
    VY,
    WORLD_ROWS,
    X,
    Y,
)

FAR_SQUARED: Final = np.float32(1e30)
"""Squared distance greater than that of any drone."""

NEAREST_DRONE_ROW: Final = 7
SECOND_DRONE_ROW: Final = 11
"""First rows of the nearest and the second nearest drone in an observation."""

LOADED_ROW: Final = 13
"""First row of what hand-overs add to an observation."""


@compiled
def observe_lanes(
    world: Float32, view: np.float32, speed_unit: np.float32, observations: Float32
) -> None:
    """Write the observations [K, n, do, W] of all blocks [K, n, WORLD_ROWS, W]."""
    blocks, n, size = world.shape[0], world.shape[1], observations.shape[2]
    handover = size == HANDOVER_SIZE
    rows, shown = world, observations
    one, tiny = np.float32(1.0), np.float32(LEAST_DIVISOR)
    per_speed, per_view, limit = one / speed_unit, one / view, view * view
    for block in range(first_block(), blocks, block_stride()):
        for drone in range(n):
            row, out = (block * n + drone) * WORLD_ROWS, (block * n + drone) * size
            x, y = load(rows, row + X), load(rows, row + Y)
            vx, vy = load(rows, row + VX), load(rows, row + VY)
            store(shown, out, vx * per_speed)
            store(shown, out + 1, vy * per_speed)
            store(shown, out + 2, load(rows, row + FUEL))
            store(shown, out + 3, pick(load(rows, row + STOPPED) > 0.0, 1.0, 0.0))
            dx, dy = load(rows, row + POINT_X) - x, load(rows, row + POINT_Y) - y
            if handover:
                giver = (block * n + (drone + n - 1) % n) * WORLD_ROWS
                loaded = load(rows, row + LOADED)
                gx, gy = load(rows, giver + X) - x, load(rows, giver + Y) - y
                hidden = gx * gx + gy * gy > limit
                dx = pick(loaded > 0.0, dx, pick(hidden, 0.0, gx))
                dy = pick(loaded > 0.0, dy, pick(hidden, 0.0, gy))
                store(shown, out + LOADED_ROW, loaded)
                store(shown, out + LOADED_ROW + 1, x)
                store(shown, out + LOADED_ROW + 2, y)
            far = square_root(dx * dx + dy * dy)
            far = pick(far > tiny, far, tiny)
            store(shown, out + 4, dx / far)
            store(shown, out + 5, dy / far)
            store(shown, out + 6, far)
            for empty in range(out + NEAREST_DRONE_ROW, out + LOADED_ROW):
                store(shown, empty, 0.0)
            best, second = spread(FAR_SQUARED), spread(FAR_SQUARED)
            for other in range(n):
                if other != drone:
                    there = (block * n + other) * WORLD_ROWS
                    dx, dy = load(rows, there + X) - x, load(rows, there + Y) - y
                    squared = dx * dx + dy * dy
                    squared = pick(squared <= limit, squared, FAR_SQUARED)
                    distance = square_root(squared)
                    nearness = one / pick(distance > tiny, distance, tiny) - per_view
                    seen = (
                        dx * nearness,
                        dy * nearness,
                        (load(rows, there + VX) - vx) * per_speed,
                        (load(rows, there + VY) - vy) * per_speed,
                    )
                    nearest, next_nearest = squared < best, squared < second
                    for part in range(4):
                        held = load(shown, out + NEAREST_DRONE_ROW + part)
                        store(
                            shown, out + NEAREST_DRONE_ROW + part, pick(nearest, seen[part], held)
                        )
                        if part < 2:
                            later = pick(
                                next_nearest, seen[part], load(shown, out + SECOND_DRONE_ROW + part)
                            )
                            store(shown, out + SECOND_DRONE_ROW + part, pick(nearest, held, later))
                    second = pick(nearest, best, pick(next_nearest, squared, second))
                    best = pick(nearest, squared, best)
