"""`channel.py` for blocks of W episodes side by side, float32, in one compiled kernel."""

import math

import numpy as np
from numpy.typing import NDArray

from rolecast.envs.compiled import compiled, inlined
from rolecast.envs.counter_random import MIX_1, MIX_2, WEYL, episode_keys
from rolecast.envs.rewards.channel import DRAWS, FIRST_COUNTER, GRID
from rolecast.envs.rewards.settings import RewardSettings
from rolecast.envs.spec import LANES, Float32, Seeds

f32 = np.float32
u32 = np.uint32


class LaneRewardChannel:
    """Keeps what L running episodes have earned and are not paid yet; all end at the horizon."""

    paid: Float32
    """[K, W], paid in the last step."""

    returns: Float32
    """[K, W], paid so far."""

    def __init__(self, settings: RewardSettings, seeds: Seeds, horizon: int) -> None:
        """Begin an episode for each of the L seeds, in K = ceil(L / W) blocks."""
        blocks = -(-seeds.size // LANES)
        lanes = seeds[np.minimum(np.arange(blocks * LANES), seeds.size - 1)]
        self._keys = episode_keys(lanes.reshape(blocks, LANES))
        self._horizon, self._step = horizon, 0
        late = min(settings.delay, horizon)
        self._late = np.zeros((blocks, late, LANES), dtype=np.float32)
        self._gathered = np.zeros((blocks, LANES), dtype=np.float32)
        self._settings = (
            settings.sparse,
            settings.noise,
            math.ceil(settings.flip * GRID),
            math.ceil(settings.drop * GRID),
        )
        self._flush = settings.flush_on_end
        self.paid, self.returns = np.zeros_like(self._gathered), np.zeros_like(self._gathered)

    def pay(self, raw: Float32) -> None:
        """Take what was earned [K, W] in a step; update `paid` and `returns` in place."""
        flush = self._flush and self._step == self._horizon - 1
        pay(
            raw,
            *self._keys,
            self._step,
            *self._settings,
            flush,
            self._late,
            self._gathered,
            self.paid,
            self.returns,
        )
        self._step += 1


@inlined
def uniform(first: np.uint32, second: np.uint32, counter: np.uint32) -> np.uint32:
    """Return an integer, uniform in [0, GRID): `counter_random.draw`, of which 24 bits are kept."""
    bits = u32(first + u32(counter * WEYL))
    bits = u32(bits ^ u32(bits >> u32(16)))
    bits = u32(bits * MIX_1)
    bits = u32(bits ^ u32(bits >> u32(15)))
    bits = u32(bits + second)
    bits = u32(bits * MIX_2)
    return u32(u32(bits ^ u32(bits >> u32(16))) >> u32(8))


@compiled
def pay(
    raw: Float32,
    first: NDArray[np.uint32],
    second: NDArray[np.uint32],
    step: int,
    sparse: int,
    noise: float,
    flip: int,
    drop: int,
    flush: bool,
    late: Float32,
    gathered: Float32,
    paid: Float32,
    returns: Float32,
) -> None:
    """Pay all blocks for one step, in place; `flip` and `drop` are probabilities times GRID."""
    counter = FIRST_COUNTER + DRAWS * step
    delay = late.shape[1]
    slot = step % delay if delay else 0
    pays = (step + 1) % sparse == 0
    for block in range(raw.shape[0]):
        for lane in range(LANES):
            key_1, key_2 = first[block, lane], second[block, lane]
            due = raw[block, lane]
            if noise > 0.0:
                one = f32(uniform(key_1, key_2, u32(counter)) + u32(1)) * f32(1.0 / GRID)
                two = f32(uniform(key_1, key_2, u32(counter + 1))) * f32(1.0 / GRID)
                radius = f32(math.sqrt(f32(-2.0) * f32(math.log(one))))
                due += f32(noise) * radius * f32(math.cos(f32(2.0 * math.pi) * two))
            if flip > 0 and uniform(key_1, key_2, u32(counter + 2)) < flip:
                due = -due
            if drop > 0 and uniform(key_1, key_2, u32(counter + 3)) < drop:
                due = f32(0.0)
            if delay:
                earlier = late[block, slot, lane]
                late[block, slot, lane] = due
                due = earlier
            total = gathered[block, lane] + due
            amount = total if pays else f32(0.0)
            gathered[block, lane] = f32(0.0) if pays else total
            if flush:
                amount += gathered[block, lane]
                for row in range(delay):
                    amount += late[block, row, lane]
            paid[block, lane] = amount
            returns[block, lane] += amount
