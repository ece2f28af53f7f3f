"""The compiled prey: `prey.flee` with its random points, for blocks of W episodes, float32."""

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rolecast.envs.compiled import compiled
from rolecast.envs.counter_random import MIX_1, MIX_2, WEYL
from rolecast.envs.spec import LANES, Float32

f32 = np.float32
u32 = np.uint32

# Rows of the scratch array of `flee`.
HERE_X, HERE_Y, NEAR_X, NEAR_Y, BEST, REACH, AWAY, TARGET_X, TARGET_Y, FORCE_X, FORCE_Y = (
    row * LANES for row in range(11)
)
SCRATCH: Final = 11 * LANES


@compiled
def flee(
    here: Float32,
    first: NDArray[np.uint32],
    second: NDArray[np.uint32],
    counter: int,
    points: int,
    n: int,
    prey: int,
    touch: np.float32,
    scratch: Float32,
    forces: Float32,
) -> None:
    """Write forces [2, W] of one prey of one block: `prey.flee` for W episodes at once.

    `here` [m, 2, W]. All that the long loop touches lies in one flat array at constant offsets
    (`scratch`, rows of W), or the compiler could not rule out that rows overlap.
    """
    for lane in range(LANES):
        scratch[HERE_X + lane] = here[prey, 0, lane]
        scratch[HERE_Y + lane] = here[prey, 1, lane]
        scratch[BEST + lane] = f32(1e30)
        scratch[FORCE_X + lane] = f32(0.0)
        scratch[FORCE_Y + lane] = f32(0.0)
    for predator in range(n):
        there_x, there_y = here[predator, 0], here[predator, 1]
        for lane in range(LANES):
            x = there_x[lane]
            y = there_y[lane]
            dx = scratch[HERE_X + lane] - x
            dy = scratch[HERE_Y + lane] - y
            squared = dx * dx + dy * dy
            nearer = squared < scratch[BEST + lane]
            scratch[BEST + lane] = squared if nearer else scratch[BEST + lane]
            scratch[NEAR_X + lane] = x if nearer else scratch[NEAR_X + lane]
            scratch[NEAR_Y + lane] = y if nearer else scratch[NEAR_Y + lane]
    for lane in range(LANES):
        scratch[BEST + lane] = f32(-0.5)
    for point in range(points):
        offset = u32(u32(counter + point) * WEYL)
        for lane in range(LANES):
            bits = u32(first[lane] + offset)
            bits = u32(bits ^ u32(bits >> u32(16)))
            bits = u32(bits * MIX_1)
            bits = u32(bits ^ u32(bits >> u32(15)))
            bits = u32(bits + second[lane])
            bits = u32(bits * MIX_2)
            bits = u32(bits ^ u32(bits >> u32(16)))
            radius = f32(math.sqrt(f32(u32(bits >> u32(16))) * f32(1.0 / 65536.0)))
            # Half the angle, shifted to [-pi/2, pi/2), where short polynomials do; then doubled.
            turn = (f32(u32(bits & u32(65535))) - f32(32768.0)) * f32(math.pi / 65536.0)
            square = turn * turn
            sine = f32(-1.0 / 5040.0) + square * f32(1.0 / 362880.0)
            sine = f32(-1.0 / 6.0) + square * (f32(1.0 / 120.0) + square * sine)
            sine = turn * (f32(1.0) + square * sine)
            cosine = f32(1.0 / 40320.0) - square * f32(1.0 / 3628800.0)
            cosine = f32(1.0 / 24.0) + square * (f32(-1.0 / 720.0) + square * cosine)
            cosine = f32(1.0) + square * (f32(-0.5) + square * cosine)
            x = scratch[HERE_X + lane] - radius * (cosine * cosine - sine * sine)
            y = scratch[HERE_Y + lane] - radius * f32(2.0) * sine * cosine
            dx = x - scratch[NEAR_X + lane]
            dy = y - scratch[NEAR_Y + lane]
            scratch[TARGET_X + lane] = x
            scratch[TARGET_Y + lane] = y
            scratch[AWAY + lane] = dx * dx + dy * dy
            scratch[REACH + lane] = f32(1e30)
        for predator in range(n):
            there_x, there_y = here[predator, 0], here[predator, 1]
            for lane in range(LANES):
                dx = scratch[TARGET_X + lane] - there_x[lane]
                dy = scratch[TARGET_Y + lane] - there_y[lane]
                squared = dx * dx + dy * dy
                closest = scratch[REACH + lane]
                scratch[REACH + lane] = squared if squared < closest else closest
        for lane in range(LANES):
            best = scratch[BEST + lane]
            away = scratch[AWAY + lane] if scratch[REACH + lane] >= touch else f32(-1.0)
            better = away > best
            scratch[BEST + lane] = away if better else best
            x = scratch[TARGET_X + lane] - scratch[HERE_X + lane]
            y = scratch[TARGET_Y + lane] - scratch[HERE_Y + lane]
            scratch[FORCE_X + lane] = x if better else scratch[FORCE_X + lane]
            scratch[FORCE_Y + lane] = y if better else scratch[FORCE_Y + lane]
    for lane in range(LANES):
        forces[0, lane] = scratch[FORCE_X + lane]
        forces[1, lane] = scratch[FORCE_Y + lane]
