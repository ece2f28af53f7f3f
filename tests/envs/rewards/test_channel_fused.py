from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rolecast.core.counter_random import episode_keys
from rolecast.core.types import LANE_COUNT
from rolecast.envs.rewards.channel import RewardChannel
from rolecast.envs.rewards.channel_fused import LaneRewardChannel
from rolecast.envs.rewards.settings import RewardSettings

SEEDS = np.array([0, 5, 2**32 + 5, 2**64 - 1, *range(100, 117)], dtype=np.uint64)


def both(horizon: int, settings: RewardSettings, scale: float = 1.0) -> tuple[Any, Any]:
    """Return what the reference and the compiled channel pay, [T, L] each."""
    rng = np.random.default_rng(1)
    rows = -(-SEEDS.size // LANE_COUNT) * LANE_COUNT
    earned = scale * rng.integers(-8, 9, (horizon, rows)).astype(np.float64)
    live = np.ones(SEEDS.size, dtype=np.bool_)
    reference = RewardChannel(settings, episode_keys(SEEDS), horizon)
    fused = LaneRewardChannel(settings, SEEDS, horizon)
    paid = []
    for step in range(horizon):
        last = live & (step == horizon - 1)
        expected = reference.pay(earned[step, : SEEDS.size], live, last)
        fused.pay(earned[step].astype(np.float32).reshape(-1, LANE_COUNT))
        paid.append((expected, fused.paid.ravel()[: SEEDS.size].copy()))
    one, other = (np.array(column) for column in zip(*paid, strict=True))
    np.testing.assert_allclose(fused.returns.ravel()[: SEEDS.size], other.sum(axis=0), atol=1e-3)
    return one, other


@given(
    sparse=st.integers(1, 12),
    delay=st.integers(0, 12),
    flip=st.sampled_from([0.0, 0.3, 1.0]),
    drop=st.sampled_from([0.0, 0.3, 1.0]),
    flush=st.booleans(),
)
def test_it_pays_what_the_reference_pays(
    sparse: int, delay: int, flip: float, drop: float, flush: bool
) -> None:
    settings = RewardSettings(sparse=sparse, delay=delay, flip=flip, drop=drop, flush_on_end=flush)
    np.testing.assert_array_equal(*both(10, settings))


@pytest.mark.parametrize("noise", [0.25, 3.0])
def test_its_noise_is_that_of_the_reference_in_float32(noise: float) -> None:
    one, other = both(40, RewardSettings(noise=noise, sparse=2, delay=3), scale=0.5)
    np.testing.assert_allclose(one, other, atol=4e-6 * max(noise, 1.0))


def test_lanes_do_not_depend_on_their_neighbours() -> None:
    settings = RewardSettings(sparse=2, delay=1, noise=1.0, flip=0.5, drop=0.1)
    raw = np.arange(2 * LANE_COUNT, dtype=np.float32).reshape(2, LANE_COUNT)
    seeds = np.arange(2 * LANE_COUNT, dtype=np.uint64)
    ahead, turned = (
        LaneRewardChannel(settings, seeds, 6),
        LaneRewardChannel(settings, seeds[::-1], 6),
    )
    for _ in range(6):
        ahead.pay(raw)
        turned.pay(np.ascontiguousarray(raw.ravel()[::-1]).reshape(2, LANE_COUNT))
        np.testing.assert_array_equal(ahead.paid.ravel(), turned.paid.ravel()[::-1])
