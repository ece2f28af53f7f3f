"""Counter-based random numbers: draw k of an episode is a function of its seed and k alone.

So a batch, a single environment and a compiled kernel give the same trajectory for one seed,
whatever runs beside it and in whatever order. Source: the mixing constants are those of a
published search for 32-bit integer hashes of low bias (Wellons 2018, "lowbias32").
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from rolecast.core.types import Float, Seeds

UInt32 = NDArray[np.uint32]

WEYL_INCREMENT: Final = np.uint32(0x9E3779B9)
"""Increment between counters: 2^32 over the golden ratio, odd."""

MIX_1: Final = np.uint32(0x7FEB352D)
MIX_2: Final = np.uint32(0x846CA68B)


def episode_keys(seeds: Seeds) -> tuple[UInt32, UInt32]:
    """Split seeds [B] into two 32-bit keys [B] each, which `draw` takes."""
    seeds = np.asarray(seeds, dtype=np.uint64)
    low = (seeds & np.uint64(0xFFFFFFFF)).astype(np.uint32)
    high = (seeds >> np.uint64(32)).astype(np.uint32)
    first = draw(low, high, np.uint32(0xA511E9B3))
    return first, draw(high, first, np.uint32(0x63D83595))


def folded_seed(seed: int) -> int:
    """Return a seed of 64 bits folded to 31; seeds below 2^31 are unchanged, others are mixed."""
    if seed < 2**31:
        return seed
    return int(episode_keys(np.array([seed], dtype=np.uint64))[0][0]) % 2**31


def draw(key_1: UInt32, key_2: UInt32, counter: UInt32 | np.uint32) -> UInt32:
    """Return 32 random bits for each key pair at a counter.

    Args:
        key_1: first key, of any shape that broadcasts with counter.
        key_2: second key, likewise.
        counter: index of the draw within its episode.
    """
    with np.errstate(over="ignore"):
        bits = np.uint32(key_1) + np.uint32(counter) * WEYL_INCREMENT
        bits = bits ^ (bits >> np.uint32(16))
        bits = bits * MIX_1
        bits = bits ^ (bits >> np.uint32(15))
        bits = bits + np.uint32(key_2)
        bits = bits * MIX_2
        return np.asarray(bits ^ (bits >> np.uint32(16)), dtype=np.uint32)


def symmetric_uniform(bits: UInt32) -> Float:
    """Map 32 random bits to [-1, 1), on a grid of 2^-23 that float32 holds exactly."""
    return (bits >> np.uint32(8)).astype(np.float64) * 2.0**-23 - 1.0
