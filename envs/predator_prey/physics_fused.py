"""The compiled predator-prey task: blocks of W episodes side by side, float32.

`physics.py`, `prey.py` and `observation.py` are the readable float64 reference; the kernels here,
in `prey_fused.py` and in `observation_fused.py` follow them line by line: same order of operations,
same counters of random draws. Arrays are [K, entity, 2, W]: every inner loop runs over the W lanes
of one row, so that it becomes vector instructions.
"""

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rolecast.envs.compiled import compiled
from rolecast.envs.counter_random import draw, episode_keys, symmetric_uniform
from rolecast.envs.predator_prey.observation import observation_size
from rolecast.envs.predator_prey.observation_fused import observe_full, observe_nearest
from rolecast.envs.predator_prey.physics import PredatorPreyParameters
from rolecast.envs.predator_prey.prey import FIRST_COUNTER
from rolecast.envs.predator_prey.prey_fused import SCRATCH, flee
from rolecast.envs.spec import LANES, Float32, Seeds

f32 = np.float32

CONTACT_REACH: Final = 20.0
"""Margins beyond touch at which the contact force is below 1e-8 of its scale, and left out."""


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
    rewards: Float32

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
        self.rewards = np.zeros((blocks, LANES), dtype=np.float32)
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
            self.rewards,
            self.returns,
        )
        self._step += 1
        self._observe()


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
    rewards: Float32,
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
        paid = rewards[block]
        for lane in range(LANES):
            paid[lane] = f32(0.0)
        for a in range(n):
            for p in range(n, movable):
                ax, ay, bx, by = here[a, 0], here[a, 1], here[p, 0], here[p, 1]
                for lane in range(LANES):
                    dx = ax[lane] - bx[lane]
                    dy = ay[lane] - by[lane]
                    paid[lane] += reward if dx * dx + dy * dy < touch_capture else f32(0.0)
        for lane in range(LANES):
            returns[block, lane] += paid[lane]
