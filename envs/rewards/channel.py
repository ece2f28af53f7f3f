"""Reward channel, step by step: the readable float64 form of `channel_fused.py`."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from rolecast.core.counter_random import UInt32, draw
from rolecast.core.types import Float
from rolecast.envs.rewards.settings import RewardSettings

FIRST_REWARD_COUNTER: Final = 3 * 2**30
"""First counter of rewards; smaller ones are for the task and scripts."""

DRAWS_PER_STEP: Final = 4
"""Counters of a step: two for the noise, one for the flip, one for the loss."""

UNIFORM_GRID: Final = 2**24
"""Grid of uniform numbers: multiples of 1 / UNIFORM_GRID, which are exact in float32."""

EpisodeKeys = tuple[UInt32, UInt32]


def malformed(
    settings: RewardSettings, keys: EpisodeKeys, step: int | NDArray[np.int64], raw: Float
) -> Float:
    """Return rewards [B] with the noise, flips and losses of a step.

    They depend on an episode's seed and the step alone. The noise is limited to 5.77 standard
    deviations (Box and Muller 1958, on the grid).

    Args:
        settings: amount of each.
        keys: keys of the B episodes, from `episode_keys`.
        step: steps taken before, from 0; or [B] of them.
        raw: [B], rewards earned in this step.
    """
    first = (FIRST_REWARD_COUNTER + DRAWS_PER_STEP * np.asarray(step, dtype=np.int64)).astype(
        np.uint32
    )
    reward = raw
    if settings.noise:
        radius = np.sqrt(-2.0 * np.log((_uniform(keys, first) + 1) / UNIFORM_GRID))
        turn = 2.0 * np.pi * _uniform(keys, first + np.uint32(1)) / UNIFORM_GRID
        reward = reward + settings.noise * radius * np.cos(turn)
    if settings.flip:
        wrong = _uniform(keys, first + np.uint32(2)) < settings.flip * UNIFORM_GRID
        reward = np.where(wrong, -reward, reward)
    if settings.drop:
        lost = _uniform(keys, first + np.uint32(3)) < settings.drop * UNIFORM_GRID
        reward = np.where(lost, 0.0, reward)
    return reward


class RewardChannel:
    """Reward channel of B running episodes, with their unpaid rewards."""

    def __init__(self, settings: RewardSettings, keys: EpisodeKeys, horizon: int) -> None:
        """Begin B episodes.

        Args:
            settings: reward settings.
            keys: keys of the B episodes, from `episode_keys`.
            horizon: maximum steps of an episode.
        """
        batch = keys[0].size
        self._settings, self._keys = settings, (keys[0].copy(), keys[1].copy())
        self._steps = np.zeros(batch, dtype=np.int64)
        self._late = np.zeros((min(settings.delay, horizon), batch))
        self._gathered = np.zeros(batch)

    def restart(self, episodes: NDArray[np.int64], keys: EpisodeKeys) -> None:
        """Restart episodes [K] of B; their unpaid rewards are dropped."""
        for own, new in zip(self._keys, keys, strict=True):
            own[episodes] = new
        self._steps[episodes], self._gathered[episodes], self._late[:, episodes] = 0, 0.0, 0.0

    def pay(self, raw: Float, live: NDArray[np.bool_], last: NDArray[np.bool_]) -> Float:
        """Return the paid rewards [B] of the next step; 0 for episodes that have ended.

        Args:
            raw: [B], rewards earned in this step.
            live: [B], whether the episode was running before the step.
            last: [B], whether this step is its last.
        """
        settings = self._settings
        due = malformed(settings, self._keys, self._steps, raw)
        if settings.delay:
            oldest = self._steps % len(self._late), np.arange(raw.size)
            due, self._late[oldest] = self._late[oldest], due
        self._steps += 1
        self._gathered = self._gathered + due
        pays = self._steps % settings.sparse == 0
        paid = np.where(pays, self._gathered, 0.0)
        self._gathered = np.where(pays, 0.0, self._gathered)
        if settings.flush_on_end:
            late = sum(self._late, np.zeros(raw.size))  # row by row, whatever B is
            paid = paid + np.where(last, self._gathered + late, 0.0)
        return np.where(live, paid, 0.0)


def _uniform(keys: EpisodeKeys, counter: UInt32) -> NDArray[np.int64]:
    """Return integers [B], uniform in [0, UNIFORM_GRID)."""
    return (draw(*keys, counter) >> np.uint32(8)).astype(np.int64)
