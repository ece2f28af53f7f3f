"""The compiled predator-prey task: blocks of W episodes side by side, float32.

`physics.py` and `prey.py` are the readable float64 reference, and these kernels follow them line by
line: same order of operations, same counters of random draws. Arrays are [K, entity, 2, W]: every
inner loop runs over the W lanes of one row, so that it becomes vector instructions.
"""

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rolecast.envs.compiled import compiled
from rolecast.envs.counter_random import MIX_1, MIX_2, WEYL, draw, episode_keys, symmetric_uniform
from rolecast.envs.predator_prey.observation import observation_size
from rolecast.envs.predator_prey.physics import PredatorPreyParameters
from rolecast.envs.predator_prey.prey import FIRST_COUNTER
from rolecast.envs.spec import LANES, Float32, Seeds

f32 = np.float32
u32 = np.uint32

CONTACT_REACH: Final = 20.0
"""Margins beyond touch at which the contact force is below 1e-8 of its scale, and left out."""


# Rows of the scratch array of `flee`.
HERE_X, HERE_Y, NEAR_X, NEAR_Y, BEST, REACH, AWAY, TARGET_X, TARGET_Y, FORCE_X, FORCE_Y = (
    row * LANES for row in range(11)
)
SCRATCH: Final = 11 * LANES


class PredatorPreyLanes:
    """Starts blocks of episodes; a `LaneTask`."""

    def __init__(self, params: PredatorPreyParameters, variant: str) -> None:
        self._params, self._variant = params, variant

    def start(self, seeds: Seeds) -> "PredatorPreyEpisodes":
        """Begin one episode for each of the L seeds."""
        return PredatorPreyEpisodes(self._params, self._variant, seeds)


class PredatorPreyEpisodes:
    """Running episodes; a `LaneEpisodes`."""

    observations: Float32
    returns: Float32

    def __init__(self, params: PredatorPreyParameters, variant: str, seeds: Seeds) -> None:
        n, k, entities = params.predators, params.prey, params.entities
        blocks = -(-seeds.size // LANES)
        lanes = seeds[np.minimum(np.arange(blocks * LANES), seeds.size - 1)]
        keys = episode_keys(lanes.reshape(blocks, LANES))
        counters = np.arange(2 * entities, dtype=np.uint32)[None, :, None]
        start = symmetric_uniform(draw(keys[0][:, None], keys[1][:, None], counters))
        positions = start.reshape(blocks, entities, 2, LANES)
        positions[:, n + k :] *= params.landmark_spread
        self._positions = positions.astype(np.float32)
        self._velocities = np.zeros((blocks, n + k, 2, LANES), dtype=np.float32)
        self._keys = keys
        self._step = 0
        self._sizes = params.sizes.astype(np.float32)
        self._gains = params.gain.astype(np.float32)
        self._max_speeds = params.max_speeds.astype(np.float32)
        self._points = params.prey_points
        self._constants = np.array(
            [
                params.dt,
                params.damping,
                params.contact_force,
                params.contact_margin,
                params.touch_reward,
            ],
            dtype=np.float32,
        )
        self._view = f32(params.view_radius**2)
        self._nearest = variant == "nearest16"
        self.returns = np.zeros((blocks, LANES), dtype=np.float32)
        size = observation_size(params, variant)
        self.observations = np.zeros((blocks, n, size, LANES), dtype=np.float32)
        self._observe()

    def _observe(self) -> None:
        observe = observe_nearest if self._nearest else observe_full
        k = self._velocities.shape[1] - self.observations.shape[1]
        observe(self._positions, self._velocities, self._view, k, self.observations)

    def advance(self, actions: Float32) -> None:
        """Take one step with actions [K, n, 2, W] in [-1, 1]."""
        advance(
            self._positions,
            self._velocities,
            actions,
            *self._keys,
            self._step,
            self._points,
            self._sizes,
            self._gains,
            self._max_speeds,
            self._constants,
            self.returns,
        )
        self._step += 1
        self._observe()


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


@compiled
def push_apart(
    positions: Float32,
    sizes: Float32,
    force: np.float32,
    margin: np.float32,
    forces: Float32,
    movable: int,
) -> None:
    """Add the contact forces between all entities of one block to `forces` [movable, 2, W]."""
    for a in range(movable):
        for b in range(a + 1, len(sizes)):
            touch = sizes[a] + sizes[b]
            limit = f32((touch + f32(CONTACT_REACH) * margin) ** 2)
            ax, ay, bx, by = positions[a, 0], positions[a, 1], positions[b, 0], positions[b, 1]
            nearest = f32(1e30)
            for lane in range(LANES):
                dx = ax[lane] - bx[lane]
                dy = ay[lane] - by[lane]
                nearest = min(nearest, dx * dx + dy * dy)
            if nearest >= limit:
                continue
            for lane in range(LANES):
                dx = ax[lane] - bx[lane]
                dy = ay[lane] - by[lane]
                squared = dx * dx + dy * dy
                if squared < limit:
                    distance = math.sqrt(squared)
                    depth = (touch - distance) / margin
                    soft = max(depth, f32(0.0)) + f32(math.log1p(math.exp(-abs(depth))))
                    push = force * margin * soft / max(distance, f32(1e-12))
                    forces[a, 0, lane] += push * dx
                    forces[a, 1, lane] += push * dy
                    if b < movable:
                        forces[b, 0, lane] -= push * dx
                        forces[b, 1, lane] -= push * dy


@compiled
def advance(
    positions: Float32,
    velocities: Float32,
    actions: Float32,
    first: NDArray[np.uint32],
    second: NDArray[np.uint32],
    step: int,
    points: int,
    sizes: Float32,
    gains: Float32,
    max_speeds: Float32,
    constants: Float32,
    returns: Float32,
) -> None:
    """Advance all blocks by one step, in place: prey, contacts, motion, captures."""
    blocks, n = actions.shape[0], actions.shape[1]
    movable = velocities.shape[1]
    k = movable - n
    time_step, damping, force, margin, reward = constants
    forces = np.empty((movable, 2, LANES), dtype=np.float32)
    scratch = np.empty(SCRATCH, dtype=np.float32)
    touch_capture = f32((sizes[0] + sizes[n]) ** 2)
    for block in range(blocks):
        here, speed = positions[block], velocities[block]
        for a in range(n):
            for axis in range(2):
                row, action = forces[a, axis], actions[block, a, axis]
                for lane in range(LANES):
                    row[lane] = gains[a] * min(max(action[lane], f32(-1.0)), f32(1.0))
        for p in range(k):
            flee(
                here,
                first[block],
                second[block],
                FIRST_COUNTER + (step * k + p) * points,
                points,
                n,
                n + p,
                touch_capture,
                scratch,
                forces[n + p],
            )
        push_apart(here, sizes, force, margin, forces, movable)
        for a in range(movable):
            vx, vy, px, py = speed[a, 0], speed[a, 1], here[a, 0], here[a, 1]
            fx, fy, most = forces[a, 0], forces[a, 1], max_speeds[a]
            for lane in range(LANES):
                x = vx[lane] * (f32(1.0) - damping) + fx[lane] * time_step
                y = vy[lane] * (f32(1.0) - damping) + fy[lane] * time_step
                squared = x * x + y * y
                slow = f32(1.0) if squared <= most * most else most / math.sqrt(squared)
                vx[lane] = x * slow
                vy[lane] = y * slow
                px[lane] += vx[lane] * time_step
                py[lane] += vy[lane] * time_step
        paid = returns[block]
        for a in range(n):
            for p in range(n, movable):
                ax, ay, bx, by = here[a, 0], here[a, 1], here[p, 0], here[p, 1]
                for lane in range(LANES):
                    dx = ax[lane] - bx[lane]
                    dy = ay[lane] - by[lane]
                    paid[lane] += reward if dx * dx + dy * dy < touch_capture else f32(0.0)


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
