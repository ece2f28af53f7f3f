"""Compiled reward channel: `channel.py` for blocks of W episodes side by side, float32."""

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rolecast.core.compiled import compiled, inlined
from rolecast.core.counter_random import MIX_1, MIX_2, WEYL_INCREMENT, episode_keys
from rolecast.core.kernel_address import at_step, call_all
from rolecast.core.types import LANE_COUNT, STEP_ARGUMENT, Float32, KernelCalls, Seeds
from rolecast.envs.rewards.channel import DRAWS_PER_STEP, FIRST_REWARD_COUNTER, UNIFORM_GRID
from rolecast.envs.rewards.settings import RewardSettings

f32 = np.float32
u32 = np.uint32

PAID_ROW: Final = 0
GATHERED_ROW: Final = 1
RETURN_ROW: Final = 2


class LaneRewardChannel:
    """Reward channel of L running episodes with unpaid rewards; all end at the horizon."""

    paid: Float32
    """Rewards [K, W] paid in the last step."""

    returns: Float32
    """Returns [K, W] paid so far."""

    def __init__(self, settings: RewardSettings, seeds: Seeds, horizon: int) -> None:
        """Begin an episode for each of the L seeds, in K = ceil(L / W) blocks."""
        blocks = -(-seeds.size // LANE_COUNT)
        # Few arrays: each argument of a compiled function costs a quarter of a microsecond.
        self._keys = np.zeros((2, blocks, LANE_COUNT), dtype=np.uint32)
        if settings.noise or settings.flip or settings.drop:
            lanes = seeds[np.minimum(np.arange(blocks * LANE_COUNT), seeds.size - 1)]
            self._keys[:] = episode_keys(lanes.reshape(blocks, LANE_COUNT))
        self._step, self._flush_step = 0, horizon - 1 if settings.flush_on_end else -1
        late = min(settings.delay, horizon)
        self._late = np.zeros((blocks, late, LANE_COUNT), dtype=np.float32)
        self._accounts = np.zeros((3, blocks, LANE_COUNT), dtype=np.float32)
        self.paid, self.returns = self._accounts[PAID_ROW], self._accounts[RETURN_ROW]
        self._settings = settings
        self._flip, self._drop = (
            math.ceil(probability * UNIFORM_GRID) for probability in (settings.flip, settings.drop)
        )

    def pay(self, raw: Float32) -> None:
        """Pay for the rewards earned [K, W] in a step; update `paid` and `returns` in place."""
        call_all(at_step(self.calls(raw), self._step))
        self._step += 1

    def calls(self, raw: Float32) -> KernelCalls:
        """Return what `pay` calls."""
        arguments = (
            raw,
            self._keys,
            STEP_ARGUMENT,
            self._settings.sparse,
            self._settings.noise,
            self._flip,
            self._drop,
            self._flush_step,
            self._late,
            self._accounts,
        )
        return ((pay, arguments),)


@inlined
def uniform(first: np.uint32, second: np.uint32, counter: np.uint32) -> np.uint32:
    """Return an integer, uniform in [0, UNIFORM_GRID): 24 bits of `counter_random.draw`."""
    bits = u32(first + u32(counter * WEYL_INCREMENT))
    bits = u32(bits ^ u32(bits >> u32(16)))
    bits = u32(bits * MIX_1)
    bits = u32(bits ^ u32(bits >> u32(15)))
    bits = u32(bits + second)
    bits = u32(bits * MIX_2)
    return u32(u32(bits ^ u32(bits >> u32(16))) >> u32(8))


@compiled
def pay(
    raw: Float32,
    keys: NDArray[np.uint32],
    step: int,
    sparse: int,
    noise: float,
    flip: int,
    drop: int,
    flush_step: int,
    late: Float32,
    accounts: Float32,
) -> None:
    """Pay all blocks for one step, in place.

    Args:
        raw: [K, W].
        keys: [2, K, W].
        step: steps taken before.
        sparse: S.
        noise: standard deviation.
        flip: probability times UNIFORM_GRID.
        drop: the same.
        flush_step: step in which all unpaid rewards are paid; -1 is none.
        late: [K, D, W], delayed rewards; the oldest is at step % D.
        accounts: [3, K, W], rows PAID_ROW, GATHERED_ROW and RETURN_ROW.
    """
    counter = FIRST_REWARD_COUNTER + DRAWS_PER_STEP * step
    delay = late.shape[1]
    slot = step % delay if delay else 0
    for block in range(raw.shape[0]):
        key_1, key_2 = keys[0, block], keys[1, block]
        due, kept = accounts[PAID_ROW, block], accounts[GATHERED_ROW, block]
        for lane in range(LANE_COUNT):
            due[lane] = raw[block, lane]
        if noise > 0.0:
            for lane in range(LANE_COUNT):
                one = uniform(key_1[lane], key_2[lane], u32(counter))
                two = uniform(key_1[lane], key_2[lane], u32(counter + 1))
                radius = math.sqrt(
                    f32(-2.0) * math.log(f32(one + u32(1)) * f32(1.0 / UNIFORM_GRID))
                )
                turn = f32(2.0 * math.pi / UNIFORM_GRID) * f32(two)
                due[lane] += f32(noise) * f32(radius) * f32(math.cos(turn))
        if flip > 0:
            for lane in range(LANE_COUNT):
                wrong = uniform(key_1[lane], key_2[lane], u32(counter + 2)) < flip
                due[lane] = -due[lane] if wrong else due[lane]
        if drop > 0:
            for lane in range(LANE_COUNT):
                lost = uniform(key_1[lane], key_2[lane], u32(counter + 3)) < drop
                due[lane] = f32(0.0) if lost else due[lane]
        if delay:
            earlier = late[block, slot]
            for lane in range(LANE_COUNT):
                due[lane], earlier[lane] = earlier[lane], due[lane]
        for lane in range(LANE_COUNT):
            kept[lane] += due[lane]
            due[lane] = f32(0.0)
        if (step + 1) % sparse == 0:
            for lane in range(LANE_COUNT):
                due[lane], kept[lane] = kept[lane], f32(0.0)
        if step == flush_step:
            for lane in range(LANE_COUNT):
                due[lane] += kept[lane]
            for row in range(delay):
                for lane in range(LANE_COUNT):
                    due[lane] += late[block, row, lane]
        for lane in range(LANE_COUNT):
            accounts[RETURN_ROW, block, lane] += due[lane]
