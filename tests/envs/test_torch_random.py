"""Random numbers on tensors are those of the reference, bit by bit."""

import numpy as np
import pytest
import torch

from rolecast.core.counter_random import draw, episode_keys
from rolecast.envs import torch_random

CPU = torch.device("cpu")


@pytest.mark.parametrize("count", [1, 7, 33, 1000], ids="{} episodes".format)
def test_draws_have_the_bits_of_the_reference(count: int) -> None:
    """Lengths that fill vector registers and such that leave a rest."""
    rng = np.random.default_rng(count)
    seeds = rng.integers(0, 2**64, count, dtype=np.uint64)
    counters = np.concatenate([[0, 1, 2**31 - 1], rng.integers(0, 2**31, 20)]).astype(np.uint32)
    first, second = episode_keys(seeds)
    keys = torch_random.key_tensors(seeds, CPU)
    drawn = torch_random.draw(*keys, torch.from_numpy(counters.view(np.int32))[:, None])
    np.testing.assert_array_equal(
        drawn.numpy().view(np.uint32), draw(first, second, counters[:, None])
    )


@pytest.mark.parametrize("places", [1, 8, 16, 31])
def test_shifts_bring_in_zeros(places: int) -> None:
    bits = np.array([0, 1, 2**31 - 1, 2**31, 2**32 - 1], dtype=np.uint32)
    shifted = torch_random.shifted(torch.from_numpy(bits.view(np.int32)), places)
    np.testing.assert_array_equal(shifted.numpy(), bits >> np.uint32(places))
