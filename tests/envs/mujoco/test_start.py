import numpy as np
import pytest
from scipy import stats

from rolecast.core.counter_random import episode_keys
from rolecast.envs.mujoco.robots import ROBOT_MODELS
from rolecast.envs.mujoco.start import start_states

EPISODES = 4000
REST = {name: np.linspace(-1.0, 1.0, robot.positions) for name, robot in ROBOT_MODELS.items()}


@pytest.mark.parametrize("name", ROBOT_MODELS)
def test_starts_are_distributed_as_in_gymnasium(name: str) -> None:
    """Kolmogorov and Smirnov's test of each coordinate, at most 29 of a body.

    False alarm: 1e-6 a coordinate. A range or a deviation wrong by 10 % is always found.
    """
    robot, rest = ROBOT_MODELS[name], REST[name]
    keys = episode_keys(np.arange(EPISODES, dtype=np.uint64))
    positions, velocities = start_states(robot, rest, keys)
    scale = robot.start_noise
    flat = stats.uniform(-1.0, 2.0)
    speeds = stats.norm() if robot.normal_velocities else flat
    for column in ((positions - rest) / scale).T:
        assert stats.kstest(column, flat.cdf).pvalue > 1e-6
    for column in (velocities / scale).T:
        assert stats.kstest(column, speeds.cdf).pvalue > 1e-6


@pytest.mark.parametrize("name", ROBOT_MODELS)
def test_no_two_coordinates_of_a_start_are_drawn_alike(name: str) -> None:
    """Correlations of 4000 starts; false alarm: below 1e-6 a pair."""
    keys = episode_keys(np.arange(EPISODES, dtype=np.uint64))
    both = np.concatenate(start_states(ROBOT_MODELS[name], REST[name], keys), axis=1)
    correlation = np.corrcoef(both.T) - np.eye(both.shape[1])
    assert np.abs(correlation).max() < 5.0 / np.sqrt(EPISODES)
