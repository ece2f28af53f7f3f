"""Length of a task's episodes: its horizon, or what episodes that end by themselves last."""

from typing import Final, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from rolecast.core.counter_random import episode_keys
from rolecast.core.types import Float
from rolecast.envs.rewards.task import unwrapped
from rolecast.envs.scripted import SCRIPTED
from rolecast.envs.spec import BatchedTask

MEASURED_SEEDS: Final = np.array([11, 22, 33, 44, 55], dtype=np.uint64)
"""Seeds of the episodes that are measured."""


@runtime_checkable
class EndsItself(Protocol):
    """Task that may have no horizon."""

    ends_itself: bool
    """Whether no horizon is known, so that each episode has to end by itself."""


def without_horizon(task: BatchedTask) -> bool:
    """Return whether no horizon of a task is known."""
    below = unwrapped(task)
    return isinstance(below, EndsItself) and below.ends_itself


def episode_lengths(task: BatchedTask) -> NDArray[np.int64]:
    """Return the steps of five episodes under random actions, which are played here.

    Raises:
        RunError: the task failed, or an episode did not end.
    """
    return lengths_and_returns(task)[0]


def lengths_and_returns(task: BatchedTask) -> tuple[NDArray[np.int64], Float]:
    """Return the steps [5] of episodes under random actions, and the sums [5] of their rewards.

    Raises:
        RunError: as in `episode_lengths`.
    """
    below, keys = unwrapped(task), episode_keys(MEASURED_SEEDS)
    below.reset(MEASURED_SEEDS)
    lengths = np.zeros(MEASURED_SEEDS.size, dtype=np.int64)
    returns = np.zeros(MEASURED_SEEDS.size)
    live = np.ones(MEASURED_SEEDS.size, dtype=np.bool_)
    step = 0
    while live.any():
        _, rewards, done, _ = below.step(SCRIPTED["random"].act(below, keys, step))
        lengths += live
        with np.errstate(over="ignore", invalid="ignore"):  # who asks for them looks
            returns[live] += rewards[live]
        live &= ~done
        step += 1
    return lengths, returns


def typical_steps(task: BatchedTask) -> int:
    """Return the steps that an episode is planned with: the horizon, or else the longest measured.

    Raises:
        RunError: as in `episode_lengths`.
    """
    return int(episode_lengths(task).max()) if without_horizon(task) else task.spec.horizon
