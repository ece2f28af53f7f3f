"""W lanes as one value inside compiled kernels: `load`, arithmetic, comparisons, `pick`, `store`.

A loop over LANES numbers is at the mercy of the compiler: it unrolls the short ones before it looks
for vectors, and gives up where too many arrays might overlap. Measured here, a layer of an MLP ran
20 times slower than its vectors can. So a kernel says what it means: `Lanes` (float32), `Bits`
(32-bit words, for random numbers) and `Mask` (one truth value a lane) are types of their own in
compiled code, W numbers in registers, with operators among lanes and with scalars. Each lane's
arithmetic has one order, whatever runs beside it.
"""

from rolecast.core.simd.functions import (
    any_lane,
    equal,
    magnitude,
    pattern,
    pick,
    reinterpret,
    signed,
    square_root,
    whole,
)
from rolecast.core.simd.memory import load, load_bits, load_lane, spread, store, store_lane
from rolecast.core.simd.operators import Bits, Lanes, Mask
from rolecast.core.simd.place import block_stride, first_block, first_lane, lane_stop

__all__ = [
    "Bits",
    "Lanes",
    "Mask",
    "any_lane",
    "block_stride",
    "equal",
    "first_block",
    "first_lane",
    "lane_stop",
    "load",
    "load_bits",
    "load_lane",
    "magnitude",
    "pattern",
    "pick",
    "reinterpret",
    "signed",
    "spread",
    "square_root",
    "store",
    "store_lane",
    "whole",
]
