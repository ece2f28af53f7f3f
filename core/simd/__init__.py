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
from rolecast.core.simd.memory import load, load_bits, spread, store
from rolecast.core.simd.operators import Bits, Lanes, Mask

__all__ = [
    "Bits",
    "Lanes",
    "Mask",
    "any_lane",
    "equal",
    "load",
    "load_bits",
    "magnitude",
    "pattern",
    "pick",
    "reinterpret",
    "signed",
    "spread",
    "square_root",
    "store",
    "whole",
]
