"""Compiled drone delivery: blocks of W episodes side by side, float32.

`physics.py` is the readable float64 reference. The kernel follows it line by line: same order of
events, same counters of random draws.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from rolecast.core.compiled import compiled, inlined
from rolecast.core.counter_random import MIX_1, MIX_2, WEYL_INCREMENT, episode_keys
from rolecast.core.kernel_address import call_all
from rolecast.core.lane_arrays import workspace
from rolecast.core.simd import (
    Bits,
    Lanes,
    Mask,
    any_lane,
    block_stride,
    first_block,
    load,
    load_bits,
    pick,
    signed,
    square_root,
    store,
    whole,
)
from rolecast.core.types import LANE_COUNT, Float32, KernelCall, KernelCalls, Seeds
from rolecast.envs.drone_delivery.observation import observation_size
from rolecast.envs.drone_delivery.observation_fused import observe_lanes
from rolecast.envs.drone_delivery.physics import (
    FIRST_POINT_COUNTER,
    DroneDeliveryParameters,
    start,
)
from rolecast.envs.drone_delivery.world_fused import (
    COUNT,
    DISTANCE,
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
    to_world,
)

UInt32 = NDArray[np.uint32]
f32 = np.float32

WAS_X, WAS_Y, HITS = range(3)
"""Rows of the scratch array of each drone: last position, and number of its collisions."""

SCRATCH_ROWS: Final = 3
"""Number of rows of the scratch array, of each drone."""


class DroneDeliveryLanes:
    """Compiled form of the task, a `LaneTask`."""

    def __init__(self, params: DroneDeliveryParameters) -> None:
        self._params = params

    def start(self, seeds: Seeds) -> "DroneDeliveryEpisodes":
        """Begin one episode for each of the L seeds."""
        return DroneDeliveryEpisodes(self._params, seeds)


class DroneDeliveryEpisodes:
    """Running compiled episodes, a `LaneEpisodes`."""

    observations: Float32
    rewards: Float32
    returns: Float32

    def __init__(self, params: DroneDeliveryParameters, seeds: Seeds) -> None:
        blocks = -(-seeds.size // LANE_COUNT)
        keys = episode_keys(seeds[np.minimum(np.arange(blocks * LANE_COUNT), seeds.size - 1)])
        self._world = to_world(start(params, keys))
        self._keys = keys[0].reshape(blocks, LANE_COUNT), keys[1].reshape(blocks, LANE_COUNT)
        self._constants = np.array(
            [
                params.dt,
                params.gain * params.dt,
                1.0 - params.damping,
                params.dt * params.hover_burn,
                params.dt * params.speed_burn,
                params.delivery_radius**2,
                params.nearest_point**2,
                params.delivery_reward,
                params.empty_penalty,
                params.contact**2,
                params.stop_steps,
                params.collision_penalty,
                params.handover,
                params.handover_radius**2,
            ],
            dtype=np.float32,
        )
        self._view, self._speed_unit = f32(params.view_radius), f32(params.speed_unit)
        self.rewards = np.zeros((blocks, LANE_COUNT), dtype=np.float32)
        self.returns = np.zeros((blocks, LANE_COUNT), dtype=np.float32)
        shape = (blocks, params.drones, observation_size(params), LANE_COUNT)
        self.observations = np.zeros(shape, dtype=np.float32)
        kernel, arguments = self._observing()
        kernel(*arguments)

    def _observing(self) -> KernelCall:
        return observe_lanes, (self._world, self._view, self._speed_unit, self.observations)

    def advance(self, actions: Float32) -> None:
        """Take one step with actions [K, n, 2, W] in [-1, 1]."""
        call_all(self.calls(actions))

    def calls(self, actions: Float32) -> KernelCalls:
        """Return what `advance` calls."""
        results = self.rewards, self.returns
        moving = advance, (self._world, actions, *self._keys, self._constants, *results)
        return moving, self._observing()

    def workspace_rows(self) -> int:
        """Return the most rows that a kernel has for what it computes in between."""
        rows: int = self.observations.shape[1] * SCRATCH_ROWS
        return rows


@compiled
def advance(
    world: Float32,
    actions: Float32,
    first: UInt32,
    second: UInt32,
    constants: Float32,
    rewards: Float32,
    returns: Float32,
) -> None:
    """Advance all blocks [K, n, WORLD_ROWS, W] by one step, in place.

    Its rewards [K, W] are written, and added to the returns [K, W].
    """
    blocks, n = actions.shape[0], actions.shape[1]
    scratch = workspace(n * SCRATCH_ROWS)
    for block in range(first_block(), blocks, block_stride()):
        store(rewards, block, 0.0)
        keys = load_bits(first, block), load_bits(second, block)
        for drone in range(n):
            row = (block * n + drone) * WORLD_ROWS
            wish, was = 2 * (block * n + drone), drone * SCRATCH_ROWS
            fly(world, row, actions, wish, constants, scratch, was)
            settle(world, row, drone, n, keys, constants, rewards, block)
        if constants[12] > 0.0:
            hand_over(world, block * n * WORLD_ROWS, n, constants[13])
        collide(world, block * n * WORLD_ROWS, n, constants, scratch, rewards, block)
        store(returns, block, load(returns, block) + load(rewards, block))


@inlined
def fly(
    rows: Float32,
    row: int,
    wishes: Float32,
    wish: int,
    constants: Float32,
    scratch: Float32,
    was: int,
) -> None:
    """Move the drone whose rows begin at `row` by the action in the two rows from `wish` on."""
    dt, thrust, keep = constants[0], constants[1], constants[2]
    flying = (load(rows, row + FUEL) > 0.0) & (load(rows, row + STOPPED) <= 0.0)
    for axis in range(2):
        action, place = load(wishes, wish + axis), load(rows, row + X + axis)
        action = pick(action > 1.0, 1.0, pick(action < -1.0, -1.0, action))
        speed = pick(flying, load(rows, row + VX + axis) * keep + action * thrust, 0.0)
        store(rows, row + VX + axis, speed)
        store(rows, row + X + axis, place + speed * dt)
        store(scratch, was + WAS_X + axis, place)
    store(scratch, was + HITS, 0.0)


@inlined
def settle(
    rows: Float32,
    row: int,
    drone: int,
    n: int,
    keys: tuple[Bits, Bits],
    constants: Float32,
    rewards: Float32,
    block: int,
) -> None:
    """Burn fuel, deliver and run dry: the drone whose rows begin at `row`, after its move."""
    hover, burn, reach = constants[3], constants[4], constants[5]
    prize, dry = constants[7], constants[8]
    vx, vy, fuel = load(rows, row + VX), load(rows, row + VY), load(rows, row + FUEL)
    squared = vx * vx + vy * vy
    demand = squared * square_root(squared) * burn + hover
    left = fuel - pick(demand < fuel, demand, fuel)
    store(rows, row + FUEL, left)
    dx = load(rows, row + POINT_X) - load(rows, row + X)
    dy = load(rows, row + POINT_Y) - load(rows, row + Y)
    delivered = (dx * dx + dy * dy < reach) & (left > 0.0) & (load(rows, row + LOADED) > 0.0)
    if any_lane(delivered):
        distance = load(rows, row + DISTANCE)
        paid = pick(delivered, distance * distance * prize, 0.0)
        store(rewards, block, load(rewards, block) + paid)
        store(rows, row + FUEL, pick(delivered, 1.0, left))
        if constants[12] > 0.0:
            store(rows, row + LOADED, pick(delivered, 0.0, load(rows, row + LOADED)))
        give_point(rows, row, drone, n, keys, constants[6], delivered)
    empty = left <= 0.0
    if any_lane(empty):
        store(rewards, block, load(rewards, block) - pick(empty, dry, 0.0))
        store(rows, row + VX, pick(empty, 0.0, vx))
        store(rows, row + VY, pick(empty, 0.0, vy))


@inlined
def hand_over(rows: Float32, row: int, n: int, reach: np.float32) -> None:
    """Load the drones of one block that are near their givers; `reach` is squared.

    The fuel of both is that after their deliveries: a drone that delivers has some left.
    """
    for drone in range(n):
        own, giver = row + drone * WORLD_ROWS, row + (drone + n - 1) % n * WORLD_ROWS
        dx, dy = (
            load(rows, giver + X) - load(rows, own + X),
            load(rows, giver + Y) - load(rows, own + Y),
        )
        near = (dx * dx + dy * dy < reach) & (load(rows, own + FUEL) > 0.0)
        near = near & (load(rows, giver + FUEL) > 0.0)
        store(rows, own + LOADED, pick(near, 1.0, load(rows, own + LOADED)))


@inlined
def give_point(
    rows: Float32,
    row: int,
    drone: int,
    n: int,
    keys: tuple[Bits, Bits],
    near: np.float32,
    delivered: Mask,
) -> None:
    """Count a delivery, if made, and give the next point; `near` is squared."""
    made = load(rows, row + COUNT) + pick(delivered, 1.0, 0.0)
    counter = whole(made * f32(2 * n) + f32(FIRST_POINT_COUNTER + 2 * drone))
    px, py = coordinate(keys, counter), coordinate(keys, counter + 1)
    x, y = load(rows, row + X), load(rows, row + Y)
    dx, dy = px - x, py - y
    too_near = dx * dx + dy * dy < near
    px = pick(too_near, px - pick(px < 0.0, -1.0, 1.0), px)
    py = pick(too_near, py - pick(py < 0.0, -1.0, 1.0), py)
    dx, dy = px - x, py - y
    distance = square_root(dx * dx + dy * dy)
    store(rows, row + COUNT, made)
    store(rows, row + POINT_X, pick(delivered, px, load(rows, row + POINT_X)))
    store(rows, row + POINT_Y, pick(delivered, py, load(rows, row + POINT_Y)))
    store(rows, row + DISTANCE, pick(delivered, distance, load(rows, row + DISTANCE)))


@inlined
def coordinate(keys: tuple[Bits, Bits], counter: Bits) -> Lanes:
    """Return `symmetric_uniform(draw(*keys, counter))`, exactly."""
    bits = keys[0] + counter * WEYL_INCREMENT
    bits = (bits ^ (bits >> 16)) * MIX_1
    bits = (bits ^ (bits >> 15)) + keys[1]
    bits = bits * MIX_2
    return signed((bits ^ (bits >> 16)) >> 8) * f32(2.0**-23) - f32(1.0)


@inlined
def collide(
    rows: Float32,
    row: int,
    n: int,
    constants: Float32,
    scratch: Float32,
    rewards: Float32,
    block: int,
) -> None:
    """Stop new pairs in contact of one block; count down the earlier stops."""
    contact, stop, bump = constants[9], constants[10], constants[11]
    for a in range(n):
        ra, sa = row + a * WORLD_ROWS, a * SCRATCH_ROWS
        for b in range(a + 1, n):
            rb, sb = row + b * WORLD_ROWS, b * SCRATCH_ROWS
            dx = load(rows, ra + X) - load(rows, rb + X)
            dy = load(rows, ra + Y) - load(rows, rb + Y)
            touch = dx * dx + dy * dy < contact
            if any_lane(touch):
                dx = load(scratch, sa + WAS_X) - load(scratch, sb + WAS_X)
                dy = load(scratch, sa + WAS_Y) - load(scratch, sb + WAS_Y)
                hit = pick(touch & (dx * dx + dy * dy >= contact), 1.0, 0.0)
                store(scratch, sa + HITS, load(scratch, sa + HITS) + hit)
                store(scratch, sb + HITS, load(scratch, sb + HITS) + hit)
                store(rewards, block, load(rewards, block) - hit * bump)
    for drone in range(n):
        r = row + drone * WORLD_ROWS
        halted = load(scratch, drone * SCRATCH_ROWS + HITS) > 0.0
        left = load(rows, r + STOPPED) - 1.0
        store(rows, r + STOPPED, pick(halted, stop, pick(left > 0.0, left, 0.0)))
        store(rows, r + VX, pick(halted, 0.0, load(rows, r + VX)))
        store(rows, r + VY, pick(halted, 0.0, load(rows, r + VY)))
