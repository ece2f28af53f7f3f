"""The project's counter-based random numbers on tensors: `counter_random.draw`, on any device.

Torch has no arithmetic for uint32, so bits live in int32, which wraps in the same way; a right
shift copies the sign there, which a mask takes away again. Half the memory of int64, and faster.
"""

from typing import Final

import numpy as np
import torch
from torch import Tensor

from rolecast.core import counter_random
from rolecast.core.counter_random import UInt32, episode_keys
from rolecast.core.types import Seeds


def _signed(bits: np.uint32) -> int:
    """Return the int32 that has the same bits."""
    return int(bits.astype(np.int32))


WEYL: Final = _signed(counter_random.WEYL)
MIX_1: Final = _signed(counter_random.MIX_1)
MIX_2: Final = _signed(counter_random.MIX_2)


def key_tensors(seeds: Seeds, device: torch.device) -> tuple[Tensor, Tensor]:
    """Return the two keys, int32 [B] each, of episodes with seeds [B]."""
    first, second = (_as_tensor(key, device) for key in episode_keys(seeds))
    return first, second


def draw(key_1: Tensor, key_2: Tensor, counter: Tensor) -> Tensor:
    """Return 32 random bits for each key pair at a counter; all int32, of shapes that broadcast."""
    bits = key_1 + counter * WEYL
    bits ^= shifted(bits, 16)
    bits *= MIX_1
    bits ^= shifted(bits, 15)
    bits += key_2
    bits *= MIX_2
    bits ^= shifted(bits, 16)
    return bits


def symmetric_uniform(bits: Tensor, dtype: torch.dtype) -> Tensor:
    """Map 32 random bits, int32, to [-1, 1), on a grid of 2^-23 that float32 holds exactly."""
    return shifted(bits, 8).to(dtype) * 2.0**-23 - 1.0


def shifted(bits: Tensor, places: int) -> Tensor:
    """Shift int32 bits to the right by 1 to 31 places; zeros come in from the left."""
    return (bits >> places).bitwise_and_((1 << (32 - places)) - 1)


def _as_tensor(key: UInt32, device: torch.device) -> Tensor:
    return torch.from_numpy(key.view(np.int32)).to(device)
