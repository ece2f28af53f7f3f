"""Compiled predator-prey task: blocks of W episodes side by side, float32.

`physics.py`, `prey.py` and `observation.py` are the readable float64 reference. The kernels here,
in `prey_fused.py` and in `observation_fused.py` follow them: same order of events, same counters of
random draws. Arrays are rows of W lanes, two rows an entity, read and written as whole vectors. One
block takes its whole step before the next one, so that its rows stay in the first-level cache.
"""

from typing import Final

import numpy as np

from rolecast.core.compiled import compiled, inlined
from rolecast.core.counter_random import UInt32, draw, episode_keys, symmetric_uniform
from rolecast.core.kernel_address import at_step, call_all
from rolecast.core.lane_arrays import lane_array, workspace
from rolecast.core.simd import (
    Lanes,
    any_lane,
    block_stride,
    first_block,
    load,
    magnitude,
    pick,
    reinterpret,
    signed,
    spread,
    square_root,
    store,
    whole,
)
from rolecast.core.types import LANE_COUNT, STEP_ARGUMENT, Float32, KernelCalls, Seeds
from rolecast.envs.predator_prey.observation import observation_size
from rolecast.envs.predator_prey.observation_fused import observe
from rolecast.envs.predator_prey.physics import PredatorPreyParameters
from rolecast.envs.predator_prey.prey import FIRST_PREY_COUNTER
from rolecast.envs.predator_prey.prey_fused import flee

f32 = np.float32

CONTACT_REACH: Final = 20.0
"""Cutoff of the contact force in margins beyond contact, below 1e-8 of its scale."""

OBSERVE_STEP: Final = -1
"""Step number for which `advance` only observes."""


class PredatorPreyLanes:
    """Compiled form of the task, a `LaneTask`."""

    def __init__(self, params: PredatorPreyParameters, variant: str) -> None:
        self._params, self._variant = params, variant

    def start(self, seeds: Seeds) -> "PredatorPreyEpisodes":
        """Begin one episode for each of the L seeds."""
        return PredatorPreyEpisodes(self._params, self._variant, seeds)


class PredatorPreyEpisodes:
    """Running compiled episodes, a `LaneEpisodes`."""

    observations: Float32
    returns: Float32
    rewards: Float32

    def __init__(self, params: PredatorPreyParameters, variant: str, seeds: Seeds) -> None:
        n, movers, entities = params.predators, params.movers, params.entities
        size = observation_size(params, variant)
        blocks = -(-seeds.size // LANE_COUNT)
        lanes = seeds[np.minimum(np.arange(blocks * LANE_COUNT), seeds.size - 1)]
        keys = episode_keys(lanes.reshape(blocks, LANE_COUNT))
        counters = np.arange(2 * entities, dtype=np.uint32)[None, :, None]
        start = symmetric_uniform(draw(keys[0][:, None], keys[1][:, None], counters))
        start[:, 2 * movers :] *= params.landmark_spread
        self._positions = lane_array(blocks, entities, 2)
        self._positions[:] = start.reshape(self._positions.shape)
        self._velocities = lane_array(blocks, movers, 2)
        self.returns, self.rewards = lane_array(blocks), lane_array(blocks)
        self.observations = lane_array(blocks, n, size)
        self._step = OBSERVE_STEP
        numbers = (
            params.dt,
            params.damping,
            params.contact_force,
            params.contact_margin,
            params.touch_reward,
            params.view_radius**2,
            params.capture,
        )
        # At n = 3 both variants are equal, and "full" needs no search for the nearest.
        nearest = variant == "nearest16" and n > 3
        self._world = (
            *keys,
            (n, movers, entities, params.prey_points, size, params.scouts),
            nearest,
            params.sizes.astype(np.float32),
            params.gain.astype(np.float32),
            params.max_speeds.astype(np.float32),
            np.array(numbers, dtype=np.float32),
            self._positions,
            self._velocities,
            self.rewards,
            self.returns,
            self.observations,
        )
        self.advance(lane_array(blocks, n, 2))

    def advance(self, actions: Float32) -> None:
        """Take one step with actions [K, n, 2, W] in [-1, 1]."""
        call_all(at_step(self.calls(actions), self._step))
        self._step += 1

    def calls(self, actions: Float32) -> KernelCalls:
        """Return what `advance` calls."""
        return ((advance, (STEP_ARGUMENT, actions, *self._world)),)

    def workspace_rows(self) -> int:
        """Return the rows that the kernel has for what it computes in between."""
        return scratch_rows(self.observations.shape[1], self._velocities.shape[1])


@inlined
def scratch_rows(n: int, movers: int) -> int:
    """Return the rows of the scratch array of n predators among the movers: forces come first."""
    return 2 * movers + 3 * n


@compiled
def advance(
    step: int,
    actions: Float32,
    first: UInt32,
    second: UInt32,
    counts: tuple[int, int, int, int, int, int],
    nearest: bool,
    sizes: Float32,
    gains: Float32,
    max_speeds: Float32,
    constants: Float32,
    positions: Float32,
    velocities: Float32,
    rewards: Float32,
    returns: Float32,
    observations: Float32,
) -> None:
    """Advance all blocks by one step, in place: prey, contacts, motion, captures, observations.

    Args:
        step: steps taken before, from 0; `OBSERVE_STEP` only observes.
        actions: [K n 2, W].
        first: [K, W], first keys of the episodes.
        second: [K, W], second keys.
        counts: n, n + k, m, points that a prey tries, do, scouts.
        nearest: observe the nearest of each kind, not all.
        sizes: [m], radii.
        gains: [n], force of an action of 1.
        max_speeds: [n + k].
        constants: dt, damping, force and margin of contacts, reward of a touch, squared view,
            predators of a capture.
        positions: [K m 2, W].
        velocities: [K (n + k) 2, W].
        rewards: [K, W], of this step.
        returns: [K, W], so far.
        observations: [K n do, W], after the step.
    """
    n, movers, entities, points, size, scouts = counts
    time_step, damping, force, margin, reward, view, capture = constants
    touch = f32((sizes[0] + sizes[n]) ** 2)
    scratch = workspace(scratch_rows(n, movers))
    for block in range(first_block(), rewards.shape[0], block_stride()):
        p, v = 2 * block * entities, 2 * block * movers
        if step != OBSERVE_STEP:
            for a in range(n):
                for row in range(2 * a, 2 * a + 2):
                    action = load(actions, 2 * block * n + row)
                    action = pick(action > 1.0, 1.0, action)
                    action = pick(action < -1.0, -1.0, action)
                    store(scratch, row, gains[a] * action)
            for prey in range(n, movers):
                counter = FIRST_PREY_COUNTER + (step * (movers - n) + prey - n) * points
                flee(
                    positions, p, first, second, block, counter, points, n, prey, touch,
                    scratch, 2 * movers, 2 * prey,
                )  # fmt: skip
            push_apart(positions, p, sizes, force, margin, scratch, movers)
            move(positions, p, velocities, v, scratch, max_speeds, time_step, damping)
            paid = spread(0.0)
            for prey in range(n, movers):
                touching = spread(0.0)
                for a in range(n):
                    dx = load(positions, p + 2 * a) - load(positions, p + 2 * prey)
                    dy = load(positions, p + 2 * a + 1) - load(positions, p + 2 * prey + 1)
                    touching = touching + pick(dx * dx + dy * dy < touch, 1.0, 0.0)
                paid = paid + pick(touching >= capture, touching * reward, 0.0)
            store(rewards, block, paid)
            store(returns, block, load(returns, block) + paid)
        observe(
            positions, p, velocities, v, (n, movers, entities, scouts), view, nearest,
            observations, block * n * size,
        )  # fmt: skip


@inlined
def softplus_lanes(x: Lanes) -> Lanes:
    """Return log(1 + exp(x)) of every lane, within 2e-7, or 1e-7 of x if that is more.

    exp(-|x|) = 2^i exp(f) with |f| <= log(2) / 2; log(1 + e) = 2 atanh(e / (2 + e)). The polynomial
    of exp is Taylor's of degree 6; that of atanh is fitted.
    """
    below = magnitude(x) * f32(-1.44269504)
    below = pick(below < -120.0, -120.0, below)
    integer = whole(below - 0.5)
    f = (below - signed(integer)) * f32(0.693147181)
    e = f * f32(1.0 / 720.0) + f32(1.0 / 120.0)
    e = e * f + f32(1.0 / 24.0)
    e = e * f + f32(1.0 / 6.0)
    e = e * f + f32(0.5)
    e = e * f + f32(1.0)
    e = (e * f + f32(1.0)) * reinterpret((integer + 127) << 23)
    t = e / (e + f32(2.0))
    s = t * t
    log = s * f32(0.281915468) + f32(0.279576659)
    log = log * s + f32(0.400251143)
    log = log * s + f32(0.666663101)
    log = (log * s + f32(2.0)) * t
    return pick(x > 0.0, x, 0.0) + log


@inlined
def push_apart(
    positions: Float32,
    p: int,
    sizes: Float32,
    force: np.float32,
    margin: np.float32,
    forces: Float32,
    movers: int,
) -> None:
    """Add the contact forces between all entities of one block to `forces` [2 (n + k), W]."""
    for a in range(movers):
        for b in range(a + 1, len(sizes)):
            dx = load(positions, p + 2 * a) - load(positions, p + 2 * b)
            dy = load(positions, p + 2 * a + 1) - load(positions, p + 2 * b + 1)
            squared = dx * dx + dy * dy
            touch = sizes[a] + sizes[b]
            near = squared < f32((touch + f32(CONTACT_REACH) * margin) ** 2)
            if any_lane(near):
                distance = square_root(squared)
                overlap = margin * softplus_lanes((touch - distance) / margin)
                least = pick(distance > f32(1e-12), distance, f32(1e-12))
                push = pick(near, force * overlap / least, 0.0)
                store(forces, 2 * a, load(forces, 2 * a) + push * dx)
                store(forces, 2 * a + 1, load(forces, 2 * a + 1) + push * dy)
                if b < movers:
                    store(forces, 2 * b, load(forces, 2 * b) - push * dx)
                    store(forces, 2 * b + 1, load(forces, 2 * b + 1) - push * dy)


@inlined
def move(
    positions: Float32,
    p: int,
    velocities: Float32,
    v: int,
    forces: Float32,
    max_speeds: Float32,
    time_step: np.float32,
    damping: np.float32,
) -> None:
    """Move the n + k entities of one block by their forces, with limited speeds."""
    for a in range(len(max_speeds)):
        x = load(velocities, v + 2 * a) * (f32(1.0) - damping) + load(forces, 2 * a) * time_step
        y = load(velocities, v + 2 * a + 1) * (f32(1.0) - damping)
        y = y + load(forces, 2 * a + 1) * time_step
        squared, most = x * x + y * y, max_speeds[a]
        fast = squared > most * most
        if any_lane(fast):
            slow = pick(fast, most / square_root(squared), 1.0)
            x, y = x * slow, y * slow
        store(velocities, v + 2 * a, x)
        store(velocities, v + 2 * a + 1, y)
        store(positions, p + 2 * a, load(positions, p + 2 * a) + x * time_step)
        store(positions, p + 2 * a + 1, load(positions, p + 2 * a + 1) + y * time_step)
