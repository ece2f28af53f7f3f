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

STEPS_BEFORE_RESTART: Final = 2
"""Steps after which an episode is begun in the place of another."""


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


def restarts_afresh(task: BatchedTask, seeds: Seeds, first: Trajectory) -> bool:
    """Return whether `restart` gives an episode as `reset` does, and leaves the others alone.

    Args:
        task: with `restart`.
        seeds: of the episodes [B], at least two; in place 1 that of place 0 is begun.
        first: `random_trajectory` of the task and these seeds.
    Raises:
        RunError: the task failed.
    """
    rows: Any = task
    keys, random = episode_keys(seeds), SCRIPTED["random"]
    after = min(STEPS_BEFORE_RESTART, len(first.rewards))

    def same(met: Any, values: NDArray[Any], at: int) -> bool:
        expected = values[at].copy()
        expected[1] = values[at - after, 0]
        return np.array_equal(met, expected, equal_nan=expected.dtype.kind == "f")

    task.reset(seeds)
    for step in range(after):
        task.step(random.act(task, keys, step))
    if not same(rows.restart(np.array([1]), seeds[:1]), first.observations, after):
        return False
    for step in range(after, len(first.rewards)):
        actions = random.act(task, keys, step)
        actions[1] = random.act(task, keys, step - after)[0]
        seen, reward, ended, _ = task.step(actions)
        if not (
            same(seen, first.observations, step + 1)
            and same(reward, first.rewards, step)
            and same(ended, first.done, step)
        ):
            return False
    return True


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
