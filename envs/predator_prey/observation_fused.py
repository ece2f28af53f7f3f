"""The compiled observations: `observation.observe` for blocks of W episodes, float32."""

import numpy as np
from numpy.typing import NDArray

from rolecast.envs.compiled import compiled
from rolecast.envs.spec import LANES, Float32

f32 = np.float32


@compiled
def see(here: Float32, observer: int, other: int, view: np.float32, x: Float32, y: Float32) -> None:
    """Write the place of one entity relative to another into rows x, y [W]; 0 out of sight."""
    ax, ay, bx, by = here[observer, 0], here[observer, 1], here[other, 0], here[other, 1]
    for lane in range(LANES):
        dx = bx[lane] - ax[lane]
        dy = by[lane] - ay[lane]
        seen = f32(1.0) if dx * dx + dy * dy <= view else f32(0.0)
        x[lane] = dx * seen
        y[lane] = dy * seen


@compiled
def observe_full(
    positions: Float32, velocities: Float32, view: np.float32, prey: int, observations: Float32
) -> None:
    """Write the "full" observations [K, n, do, W] of all blocks."""
    blocks, n = observations.shape[0], observations.shape[1]
    movable, entities = n + prey, positions.shape[1]
    for block in range(blocks):
        here, speed = positions[block], velocities[block]
        for a in range(n):
            rows = observations[block, a]
            rows[0], rows[1], rows[2], rows[3] = speed[a, 0], speed[a, 1], here[a, 0], here[a, 1]
            row = 4
            for landmark in range(movable, entities):
                see(here, a, landmark, view, rows[row], rows[row + 1])
                row += 2
            for other in range(movable):
                if other != a:
                    see(here, a, other, view, rows[row], rows[row + 1])
                    row += 2
            for other in range(n, movable):
                x, y = rows[row], rows[row + 1]
                ax, ay, bx, by = here[a, 0], here[a, 1], here[other, 0], here[other, 1]
                for lane in range(LANES):
                    dx = bx[lane] - ax[lane]
                    dy = by[lane] - ay[lane]
                    seen = f32(1.0) if dx * dx + dy * dy <= view else f32(0.0)
                    x[lane] = speed[other, 0, lane] * seen
                    y[lane] = speed[other, 1, lane] * seen
                row += 2


@compiled
def two_nearest(
    here: Float32,
    observer: int,
    start: int,
    stop: int,
    low: NDArray[np.int32],
    high: NDArray[np.int32],
) -> None:
    """Write, per lane, the two entities of start..stop nearest to an observer, by rising index.

    Where fewer than two exist, `high` is the observer itself, which is seen at distance 0.
    """
    for lane in range(LANES):
        best, second = f32(1e30), f32(1e30)
        first_index, second_index = observer, observer
        for other in range(start, stop):
            if other != observer:
                dx = here[other, 0, lane] - here[observer, 0, lane]
                dy = here[other, 1, lane] - here[observer, 1, lane]
                squared = dx * dx + dy * dy
                if squared < best:
                    second, second_index = best, first_index
                    best, first_index = squared, other
                elif squared < second:
                    second, second_index = squared, other
        both = second < f32(1e30)
        low[lane] = min(first_index, second_index) if both else first_index
        high[lane] = max(first_index, second_index) if both else observer


@compiled
def observe_nearest(
    positions: Float32, velocities: Float32, view: np.float32, prey: int, observations: Float32
) -> None:
    """Write the "nearest16" observations [K, n, 16, W] of all blocks."""
    blocks, n = observations.shape[0], observations.shape[1]
    movable, entities = n + prey, positions.shape[1]
    chosen = np.empty((5, LANES), dtype=np.int32)
    for block in range(blocks):
        here, speed = positions[block], velocities[block]
        for a in range(n):
            rows = observations[block, a]
            rows[0], rows[1], rows[2], rows[3] = speed[a, 0], speed[a, 1], here[a, 0], here[a, 1]
            two_nearest(here, a, movable, entities, chosen[0], chosen[1])
            two_nearest(here, a, 0, n, chosen[2], chosen[3])
            for lane in range(LANES):
                best, index = f32(1e30), n
                for other in range(n, movable):
                    dx = here[other, 0, lane] - here[a, 0, lane]
                    dy = here[other, 1, lane] - here[a, 1, lane]
                    squared = dx * dx + dy * dy
                    if squared < best:
                        best, index = squared, other
                chosen[4, lane] = index
            for slot in range(5):
                x, y = rows[4 + 2 * slot], rows[5 + 2 * slot]
                for lane in range(LANES):
                    other = chosen[slot, lane]
                    dx = here[other, 0, lane] - here[a, 0, lane]
                    dy = here[other, 1, lane] - here[a, 1, lane]
                    seen = f32(1.0) if dx * dx + dy * dy <= view else f32(0.0)
                    x[lane] = dx * seen
                    y[lane] = dy * seen
                    if slot == 4:
                        rows[14, lane] = speed[other, 0, lane] * seen
                        rows[15, lane] = speed[other, 1, lane] * seen
