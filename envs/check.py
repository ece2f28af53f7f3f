"""Whether a task keeps the contract of batched tasks, in seconds: `check_task`.

Made for environments that users bring; the project's own tasks pass it too.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rolecast.core.counter_random import episode_keys
from rolecast.core.errors import RunError
from rolecast.core.types import Float, Seeds
from rolecast.envs.registry import make_task
from rolecast.envs.rewards.task import RAW_REWARD, RewardTask
from rolecast.envs.scripted import SCRIPTED
from rolecast.envs.spec import BatchedTask

CHECK_SEEDS: Final = np.array([11, 22, 33], dtype=np.uint64)
"""Episodes that the checks run."""

MOST_STEPS: Final = 200
"""Steps of each episode after which a check has seen enough."""

MOST_SECONDS: Final = 1.0
"""Time after which the count of steps per second ends."""


@dataclass(frozen=True, kw_only=True)
class Check:
    """One property of a task."""

    name: str
    """What was looked at: "spaces", "seeding", "rewards", "payment", "batch", "speed"."""

    ok: bool
    """Whether it holds."""

    detail: str
    """What was found, one sentence."""


@dataclass(frozen=True, kw_only=True)
class CheckReport:
    """All that was found out about a task."""

    id: str
    """Of the task, options included."""

    checks: tuple[Check, ...]
    """In the order in which they ran; those after a failed run are missing."""

    @property
    def ok(self) -> bool:
        """Whether all properties hold."""
        return all(check.ok for check in self.checks)


@dataclass(frozen=True, kw_only=True)
class _Trajectory:
    """B episodes under random actions, T steps at most."""

    observations: Float
    """[T + 1, B, n, do]."""

    rewards: Float
    """[T, B], as paid."""

    earned: Float
    """[T, B], without the task's reward settings."""

    done: NDArray[np.bool_]
    """[T, B]."""


def check_task(task: str | Callable[..., object], **options: Any) -> CheckReport:
    """Check a task.

    Args:
        task: as in `make_task`.
        options: as in `make_task`.
    Returns:
        What was found. A task that fails while it runs has a failed check that says so.
    Raises:
        RequestError: the task cannot be made.
    """
    made = make_task(task, **options)
    found: list[Check] = []
    try:
        first = _play(made, CHECK_SEEDS)
        payment = (_payment,) if isinstance(made, RewardTask) else ()
        checks = (_spaces, _seeding, _rewards, *payment, _batch, _speed)
        found.extend(check(made, first) for check in checks)  # those before a failure are kept
    except RunError as error:
        found.append(Check(name="run", ok=False, detail=str(error)))
    finally:
        made.close()
    return CheckReport(id=made.spec.id, checks=tuple(found))


def _play(task: BatchedTask, seeds: Seeds) -> _Trajectory:
    """Run episodes under random actions that depend on each seed alone."""
    keys = episode_keys(seeds)
    observations, rewards, earned, done = [task.reset(seeds)], [], [], []
    for step in range(min(task.spec.horizon, MOST_STEPS)):
        seen, reward, ended, metrics = task.step(SCRIPTED["random"].act(task, keys, step))
        observations.append(seen)
        rewards.append(reward)
        earned.append(metrics.get(RAW_REWARD, reward))
        done.append(ended)
        if ended.all():
            break
    return _Trajectory(
        observations=np.array(observations),
        rewards=np.array(rewards),
        earned=np.array(earned),
        done=np.array(done),
    )


def _equal(one: _Trajectory, other: _Trajectory) -> bool:
    """Return whether two trajectories are the same in every bit."""
    return (
        np.array_equal(one.observations, other.observations)
        and np.array_equal(one.rewards, other.rewards, equal_nan=True)
        and np.array_equal(one.earned, other.earned, equal_nan=True)
        and np.array_equal(one.done, other.done)
    )


def _spaces(task: BatchedTask, first: _Trajectory) -> Check:
    """Sizes as the spec says; all numbers finite; episodes end by the horizon."""
    spec = task.spec
    expected = (CHECK_SEEDS.size, spec.agents, spec.observation_size)
    shape = first.observations.shape[1:]
    sizes = (
        f"{spec.agents} agent{'s' if spec.agents > 1 else ''}, {spec.observation_size} numbers "
        f"observed and {spec.action_size} acted with by each, at most {spec.horizon} steps"
    )
    if shape != expected:
        return Check(name="spaces", ok=False, detail=f"observations are {shape}, not {expected}")
    if not np.isfinite(first.observations).all():
        return Check(name="spaces", ok=False, detail="an observation is NaN or infinite")
    if len(first.done) == spec.horizon and not first.done[-1].all():
        return Check(name="spaces", ok=False, detail="an episode is not done at the horizon")
    return Check(name="spaces", ok=True, detail=sizes)


def _seeding(task: BatchedTask, first: _Trajectory) -> Check:
    """Same seeds, same trajectories."""
    if not _equal(_play(task, CHECK_SEEDS), first):
        detail = "the same seeds and actions gave different trajectories"
        return Check(name="seeding", ok=False, detail=detail)
    starts = first.observations[0]
    same = "differ" if (starts[0] != starts[1]).any() else "do not differ"
    detail = f"same seeds give the same trajectories; starts of different seeds {same}"
    return Check(name="seeding", ok=True, detail=detail)


def _rewards(task: BatchedTask, first: _Trajectory) -> Check:
    """All rewards are finite."""
    bad = np.argwhere(~np.isfinite(first.earned))
    if bad.size:
        step, episode = bad[0]
        detail = (
            f"the reward of step {step + 1} in the episode of seed {CHECK_SEEDS[episode]} "
            f"is {first.earned[step, episode]}"
        )
        return Check(name="rewards", ok=False, detail=detail)
    returns = first.earned.sum(axis=0)
    earned = f"random actions earn {returns.mean():.6g} in {len(CHECK_SEEDS)} episodes"
    detail = f"rewards are finite; {earned}"
    return Check(name="rewards", ok=True, detail=detail)


def _payment(task: BatchedTask, first: _Trajectory) -> Check:
    """What share of the reward its settings let through, by size; some of it must get there."""
    assert isinstance(task, RewardTask)
    settings, horizon = task.reward_settings, task.spec.horizon
    said = ", ".join(f"{name}={value}" for name, value in settings.options.items())
    if not settings.pays_within(horizon):
        detail = (
            f"with {said} nothing is ever paid in {horizon} steps; expected smaller settings, "
            "or flush_on_end"
        )
        return Check(name="payment", ok=False, detail=detail)
    paid = 0.0
    for index in range(CHECK_SEEDS.size):
        length = int((~first.done[:, index]).sum()) + 1
        paid += float(np.abs(first.earned[: settings.steps_paid(length), index]).sum())
    whole = float(np.abs(first.earned).sum())
    share = f"{paid * (1.0 - settings.drop) / whole:.0%}" if whole else "an unknown share"
    detail = f"with {said} a learner is paid {share} of what random actions earn"
    return Check(name="payment", ok=True, detail=detail)


def _batch(task: BatchedTask, first: _Trajectory) -> Check:
    """An episode is the same alone and among others."""
    for index in range(CHECK_SEEDS.size):
        alone = _play(task, CHECK_SEEDS[index : index + 1])
        steps = len(alone.rewards)
        part = _Trajectory(
            observations=first.observations[: steps + 1, index : index + 1],
            rewards=first.rewards[:steps, index : index + 1],
            earned=first.earned[:steps, index : index + 1],
            done=first.done[:steps, index : index + 1],
        )
        if not _equal(alone, part) or first.rewards[steps:, index].any():
            detail = f"the episode of seed {CHECK_SEEDS[index]} differs alone and beside others"
            return Check(name="batch", ok=False, detail=detail)
    detail = "each episode is the same alone and beside others"
    return Check(name="batch", ok=True, detail=detail)


def _speed(task: BatchedTask, first: _Trajectory) -> Check:
    """Count environment steps per second, random actions included."""
    seeds = np.arange(64 if hasattr(task, "lanes") else 4, dtype=np.uint64)
    steps, begin = 0, time.perf_counter()
    while (spent := time.perf_counter() - begin) < MOST_SECONDS:
        steps += int((~_play(task, seeds).done).sum()) + seeds.size
    rate = steps / spent
    detail = f"{rate:,.0f} steps a second by the batched contract, in this process"
    return Check(name="speed", ok=True, detail=detail)
