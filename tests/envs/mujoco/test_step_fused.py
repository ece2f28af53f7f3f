"""Rewards, health and ends of a step, against NumPy's expressions, to the last bit."""

import numpy as np
import pytest

from rolecast.envs.mujoco.step_fused import observe_columns, settle

EPISODES, STATE, HORIZON = 12, 9, 5


@pytest.mark.parametrize("mortal", [False, True])
@pytest.mark.parametrize("contacts", [0.0, 5e-4])
def test_rewards_and_ends_are_those_of_numpy(mortal: bool, contacts: float) -> None:
    rng = np.random.default_rng(0)
    live, distance = rng.random(EPISODES) < 0.7, rng.normal(size=EPISODES)
    state = rng.normal(size=(EPISODES, STATE))
    state[3, 2] = np.nan
    low, high = np.full(6, -1.8), np.full(6, 1.8)
    squares = rng.random((2, EPISODES))
    steps = rng.integers(0, HORIZON, EPISODES)
    done = ~live
    seconds, motors, healthy_reward = 0.05, 0.1, 1.3
    earned = distance / seconds - motors * squares[0]
    if contacts:
        earned -= contacts * squares[1]
    healthy = ((low < state[:, :6]) & (state[:, :6] < high)).all(axis=1)
    bonus, fallen = np.zeros(EPISODES), np.zeros(EPISODES, dtype=bool)
    if mortal:
        bonus = np.asarray(healthy_reward * (healthy & live), dtype=np.float64)
        earned += bonus
        fallen = live & ~healthy
    ended = done | fallen | (steps + live >= HORIZON)
    taken, gone = steps.copy(), done.copy()
    written, fell, reward = np.zeros(EPISODES), np.zeros(EPISODES, dtype=bool), np.empty(EPISODES)
    numbers = seconds, motors, contacts, healthy_reward
    broken = settle(
        live, distance, state, low, high, squares, numbers, mortal, taken, HORIZON, gone, fell,
        written, reward,
    )  # fmt: skip
    assert broken == -1
    assert not mortal or (fallen.any() and not fallen.all())
    np.testing.assert_array_equal(reward, np.where(live, earned, 0.0))
    np.testing.assert_array_equal(written, bonus)
    np.testing.assert_array_equal(fell, fallen)
    np.testing.assert_array_equal(gone, ended)
    np.testing.assert_array_equal(taken, steps + live)


def test_the_first_episode_with_a_reward_that_is_not_finite_is_named() -> None:
    flags, zeros = np.zeros(3, dtype=bool), np.zeros(3)
    distance = np.array([0.0, np.inf, np.nan])
    broken = settle(
        ~flags, distance, np.zeros((3, 2)), zeros[:2], zeros[:2], np.zeros((2, 3)),
        (1.0, 0.0, 0.0, 0.0), False, np.zeros(3, dtype=np.int64), 9, flags.copy(), flags.copy(),
        zeros.copy(), zeros.copy(),
    )  # fmt: skip
    assert broken == 1


def test_columns_are_clipped_to_their_limits_and_nan_is_kept() -> None:
    state = np.array([[5.0, -5.0, np.nan, 0.0]])
    seen, limit = np.array([[0, 1], [2, -1]]), np.array([[2.0, np.inf], [1.0, 1.0]])
    shown = np.empty((1, 2, 2))
    observe_columns(state, seen, limit, shown)
    np.testing.assert_array_equal(shown, [[[2.0, -5.0], [np.nan, 0.0]]])
