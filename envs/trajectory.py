"""Trajectories of random play, by which a task's contract is checked."""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rolecast.core.counter_random import episode_keys
from rolecast.core.errors import RunError
from rolecast.core.types import Float, Seeds
from rolecast.envs.rewards.task import earned_reward, survival_bonus, unwrapped
from rolecast.envs.scripted import SCRIPTED
from rolecast.envs.spec import BatchedTask

TRAJECTORY_STEPS: Final = 200
"""Maximum steps of each episode."""


@dataclass(frozen=True, kw_only=True)
class Trajectory:
    """Trajectory of B episodes under random actions, of at most T steps."""

    observations: Float
    """Observations [T + 1, B, n, do]."""

    rewards: Float
    """Rewards [T, B] as paid."""

    earned: Float
    """Rewards [T, B] as earned, without the reward settings."""

    bonus: Float
    """Survival bonus [T, B] in the earned rewards; 0 for a task without one."""

    done: NDArray[np.bool_]
    """Whether an episode has ended [T, B]."""

    def equals(self, other: "Trajectory") -> bool:
        """Return whether two trajectories are the same in every bit."""
        return (
            np.array_equal(self.observations, other.observations)
            and np.array_equal(self.rewards, other.rewards, equal_nan=True)
            and np.array_equal(self.earned, other.earned, equal_nan=True)
            and np.array_equal(self.done, other.done)
        )

    def share_beyond(self, bound: float) -> float:
        """Return the share of the numbers observed by running episodes outside [-bound, bound]."""
        begun = np.ones((1, self.done.shape[1]), dtype=np.bool_)
        running = np.concatenate([begun, ~self.done])
        return float(np.mean(np.abs(self.observations[running]) > bound))


def random_trajectory(task: BatchedTask, seeds: Seeds) -> Trajectory:
    """Run episodes under random actions that depend on each seed alone.

    All is copied, as a task may write the next step into the same arrays.

    Raises:
        RunError: rewards or ends are not what `BatchedTask.step` says; or the task failed.
    """
    keys = episode_keys(seeds)
    observations, rewards, earned, bonus, done = [np.array(task.reset(seeds))], [], [], [], []
    for step in range(min(task.spec.horizon, TRAJECTORY_STEPS)):
        seen, reward, ended, metrics = task.step(SCRIPTED["random"].act(task, keys, step))
        _require(task, step, "rewards", reward, seeds.size, "fiu")
        _require(task, step, "done", ended, seeds.size, "b")
        observations.append(np.array(seen))
        rewards.append(np.array(reward))
        earned.append(np.array(earned_reward(task, reward, metrics)))
        told = survival_bonus(unwrapped(task))
        bonus.append(np.zeros(len(reward)) if told is None else np.nan_to_num(told))
        done.append(np.array(ended))
        if ended.all():
            break
    return Trajectory(
        observations=np.array(observations),
        rewards=np.array(rewards),
        earned=np.array(earned),
        bonus=np.array(bonus),
        done=np.array(done),
    )


def _require(task: BatchedTask, step: int, name: str, value: Any, batch: int, kinds: str) -> None:
    """Refuse what is no array [B] of a kind.

    Raises:
        RunError: says what it is.
    """
    if isinstance(value, np.ndarray) and value.shape == (batch,) and value.dtype.kind in kinds:
        return
    met = type(value).__name__
    if isinstance(value, np.ndarray):
        met = f"an array {value.shape} of {value.dtype}"
    expected = f"an array ({batch},) of {'bool' if kinds == 'b' else 'numbers'}"
    raise RunError(
        f"task {task.spec.id!r} returned {met} for {name} in step {step + 1}; expected {expected}"
    )
