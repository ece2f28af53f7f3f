"""Rewards, health and ends of a step, against NumPy's expressions, to the last bit."""

import numpy as np
import pytest

from rolecast.envs.mujoco.step_fused import (
    Rules,
    Running,
    View,
    observe_all,
    settle,
    sum_of_squares,
)

EPISODES, STATE, HORIZON = 12, 9, 5


@pytest.mark.parametrize("mortal", [False, True])
@pytest.mark.parametrize("contacts", [0.0, 5e-4])
def test_rewards_and_ends_are_those_of_numpy(mortal: bool, contacts: float) -> None:
    rng = np.random.default_rng(0)
    distance, torques = rng.normal(size=EPISODES), rng.normal(size=(EPISODES, 2))
    state = rng.normal(size=(EPISODES, STATE))
    state[3, 2] = np.nan
    low, high = np.full(6, -1.8), np.full(6, 1.8)
    steps = rng.integers(1, HORIZON + 1, EPISODES)
    seconds, motors, healthy_reward = 0.05, 0.1, 1.3
    earned = distance / seconds - motors * np.square(torques).sum(axis=1)
    if contacts:
        forces = np.clip(state[:, 6:], -1.0, 1.0)
        squares = np.square(forces)
        earned -= contacts * (squares[:, 0] + squares[:, 2] + squares[:, 1])
    healthy = ((low < state[:, :6]) & (state[:, :6] < high)).all(axis=1)
    bonus, fallen = np.zeros(EPISODES), np.zeros(EPISODES, dtype=np.bool_)
    if mortal:
        bonus = np.where(healthy, healthy_reward, 0.0)
        fallen = np.asarray(~healthy, dtype=np.bool_)
        earned += bonus
    written, fell, reward = np.zeros(EPISODES), np.zeros(EPISODES, dtype=bool), np.empty(EPISODES)
    done = np.zeros(EPISODES, dtype=bool)
    none, nowhere = np.zeros((0, 0), dtype=np.int64), np.zeros(0, dtype=np.int64)
    rules = Rules(
        functions=nowhere, memory=none, sizes=(0, 0, 0), frame_skip=1, shown=View(none, low[None]),
        low=low, high=high, seconds=seconds, control_cost=motors, contact_cost=contacts,
        healthy_reward=healthy_reward, mortal=mortal, horizon=HORIZON,
    )  # fmt: skip
    running = Running(
        state=state, place=reward, steps=steps, done=done, fallen=fell, bonus=written,
        observations=state[None], reward=reward, distance=distance,
    )  # fmt: skip
    for episode in range(EPISODES):
        settle(rules, running, torques, episode)
    assert not mortal or (fallen.any() and not fallen.all())
    np.testing.assert_array_equal(reward, earned)
    np.testing.assert_array_equal(written, bonus)
    np.testing.assert_array_equal(fell, fallen)
    np.testing.assert_array_equal(done, fallen | (steps == HORIZON))


@pytest.mark.parametrize("size", [1, 2, 3, 8, 13, 85])
def test_squares_are_added_by_turns(size: int) -> None:
    """Of each eight the last pair first: 6, 4, 2, 0, and 7, 5, 3, 1 apart."""
    numbers = np.random.default_rng(size).normal(size=size)
    kept = np.clip(numbers, -1.0, 1.0)
    sums, full = [0.0, 0.0], size - size % 8
    order = [8 * eight + place for eight in range(full // 8) for place in (6, 7, 4, 5, 2, 3, 0, 1)]
    for place in (*order, *range(full, size)):
        sums[place % 2] += kept[place] * kept[place]
    assert sum_of_squares(numbers, 1.0) == sums[0] + sums[1]
    assert sum_of_squares(numbers, np.inf) == pytest.approx(numbers @ numbers, rel=1e-14)


def test_columns_are_clipped_to_their_limits_and_nan_is_kept() -> None:
    state = np.array([[5.0, -5.0, np.nan, 0.0]])
    seen, limit = np.array([[0, 1], [2, -1]]), np.array([[2.0, np.inf], [1.0, 1.0]])
    shown = np.empty((1, 2, 2))
    observe_all(View(seen, limit), state, shown)
    np.testing.assert_array_equal(shown, [[[2.0, -5.0], [np.nan, 0.0]]])
