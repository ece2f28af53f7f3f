"""Contract check of batched tasks, in seconds: `check_task`.

It is made for users' environments; all tasks of this project pass it.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from gymnasium.spaces import Dict

from rolecast.core.errors import RequestError, RunError, first_line
from rolecast.core.patience import Patience
from rolecast.core.validation import LARGEST_RETURN
from rolecast.envs.episode_length import (
    MEASURED_SEEDS,
    episode_lengths,
    lengths_and_returns,
    without_horizon,
)
from rolecast.envs.opposition import is_users_team, opposition_remark
from rolecast.envs.registry import make_task
from rolecast.envs.rewards.task import RewardTask, set_patience, unwrapped
from rolecast.envs.spec import OBSERVATION_CLIP, BatchedTask, CallsEnvironment
from rolecast.envs.symmetry_check import GREATEST_DEVIATION, symmetry_deviations
from rolecast.envs.trajectory import Trajectory, random_trajectory, restarts_afresh

CHECK_SEEDS: Final = np.array([11, 22, 33], dtype=np.uint64)
"""Seeds of the episodes in the checks."""

MOST_CLIPPED: Final = 0.05
"""Share of observed numbers beyond the policies' clip from which on a warning is given."""

MOST_SECONDS: Final = 1.0
"""Maximum seconds of the speed measurement."""


MASK_NAME: Final = "action_mask"
"""Key under which PettingZoo's environments show which choices are legal."""


@dataclass(frozen=True, kw_only=True)
class Check:
    """Result of one check of a task."""

    name: str
    """Name of the check, such as "spaces", "seeding", "payment", "restart" or "speed"."""

    ok: bool
    """Whether the check passed."""

    detail: str
    """Finding, in one sentence."""

    warning: bool = False
    """Whether a passed check has found something that may be unwanted."""


@dataclass(frozen=True, kw_only=True)
class CheckReport:
    """Results of all checks of a task."""

    id: str
    """Id of the task, with its options."""

    checks: tuple[Check, ...]
    """Checks in their order; those after a crash of the task are missing."""

    @property
    def ok(self) -> bool:
        """Whether all properties hold."""
        return all(check.ok for check in self.checks)


def check_task(
    task: str | Callable[..., object], *, patience: Patience | None = None, **options: Any
) -> CheckReport:
    """Check a task.

    Args:
        task: as in `make_task`.
        patience: with the steps of a user's environment; None: these may last for ever.
        options: as in `make_task`.
    Returns:
        Results of the checks. An error of the running task becomes a failed check.
    Raises:
        RequestError: the task cannot be made.
    """
    made = make_task(task, **options)
    set_patience(made, patience)
    found: list[Check] = []
    try:
        found.extend(_masks(made))  # what they forbid may be why the task fails
        first = random_trajectory(made, CHECK_SEEDS)
        payment = (_payment,) if isinstance(made, RewardTask) else ()
        symmetries = (_symmetries,) if made.spec.symmetries else ()
        ends = (_episodes,) if without_horizon(made) else ()
        teams = (_opposition,) if is_users_team(made) else ()
        restarts = (_restart,) if _restarts_itself(made) else ()
        checks = (
            *(_spaces, *ends, _seeding, _rewards, *teams, *payment),
            *(_batch, *restarts, *symmetries, _speed),
        )
        found.extend(check(made, first) for check in checks)  # those before a failure are kept
    except (RunError, RequestError) as error:
        found.append(Check(name="run", ok=False, detail=str(error)))
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a task of a user may raise any
        what = f"the task raised {type(error).__name__} ({first_line(error)}); expected none"
        found.append(Check(name="run", ok=False, detail=what))
    finally:
        made.close()
    return CheckReport(id=made.spec.id, checks=tuple(found))


def _masks(task: BatchedTask) -> list[Check]:
    """Warn of an action mask among the observations; nothing where there is none."""
    seen = [observed for observed, _ in getattr(task, "spaces", ())]
    if not any(isinstance(each, Dict) and MASK_NAME in each.spaces for each in seen):
        return []
    detail = (
        f"observations have {MASK_NAME!r}, which is read as numbers and not obeyed; expected an "
        "environment that accepts every choice"
    )
    return [Check(name="masks", ok=True, detail=detail, warning=True)]


def _spaces(task: BatchedTask, first: Trajectory) -> Check:
    """Check sizes against the spec, finite numbers, and the horizon."""
    spec = task.spec
    expected = (CHECK_SEEDS.size, spec.agents, spec.observation_size)
    shape = first.observations.shape[1:]
    steps = "no horizon" if without_horizon(task) else f"at most {spec.horizon} steps"
    sizes = (
        f"{spec.agents} agent{'s' if spec.agents > 1 else ''}, {spec.observation_size} numbers "
        f"observed and {spec.action_size} acted with by each, {steps}"
    )
    if shape != expected:
        return Check(name="spaces", ok=False, detail=f"observations are {shape}, not {expected}")
    if not np.isfinite(first.observations).all():
        return Check(name="spaces", ok=False, detail="an observation is NaN or infinite")
    if len(first.done) == spec.horizon and not first.done[-1].all():
        return Check(name="spaces", ok=False, detail="an episode is not done at the horizon")
    beyond = first.share_beyond(OBSERVATION_CLIP)
    if beyond > MOST_CLIPPED:
        sizes += (
            f"; {beyond:.0%} of the numbers observed are outside +-{OBSERVATION_CLIP:g}, where "
            "policies clip them: scale them, or set policy.observation_clip"
        )
    return Check(name="spaces", ok=True, detail=sizes, warning=beyond > MOST_CLIPPED)


def _episodes(task: BatchedTask, first: Trajectory) -> Check:
    """Measure the length of episodes that end by themselves; look at their returns, too."""
    lengths, returns = lengths_and_returns(task)
    for seed, total in zip(MEASURED_SEEDS, returns, strict=True):
        if not abs(total) <= LARGEST_RETURN:
            detail = (
                f"the rewards of the episode of seed {seed} sum to {total:g}; expected a return of "
                f"at most {LARGEST_RETURN:g} in size"
            )
            return Check(name="episodes", ok=False, detail=detail)
    detail = (
        f"{lengths.size} episodes under random actions ended by themselves after "
        f"{lengths.min():,} to {lengths.max():,} steps; horizon=STEPS would cut longer ones, and "
        f"one of more than {task.spec.horizon:,} is an error"
    )
    return Check(name="episodes", ok=True, detail=detail)


def _opposition(task: BatchedTask, first: Trajectory) -> Check:
    """Look for agents whose rewards are opposed."""
    remark = opposition_remark(task)
    return Check(
        name="team",
        ok=True,
        detail=remark or "no two agents have opposed rewards",
        warning=remark is not None,
    )


def _seeding(task: BatchedTask, first: Trajectory) -> Check:
    """Check that equal seeds give equal trajectories."""
    if not random_trajectory(task, CHECK_SEEDS).equals(first):
        detail = "the same seeds and actions gave different trajectories"
        return Check(name="seeding", ok=False, detail=detail)
    starts = first.observations[0]
    same = "differ" if (starts[0] != starts[1]).any() else "do not differ"
    detail = f"same seeds give the same trajectories; starts of different seeds {same}"
    return Check(name="seeding", ok=True, detail=detail)


def _rewards(task: BatchedTask, first: Trajectory) -> Check:
    """Check that all rewards are finite, and no return is too large for a search."""
    bad = np.argwhere(~np.isfinite(first.earned))
    if bad.size:
        step, episode = bad[0]
        detail = (
            f"the reward of step {step + 1} in the episode of seed {CHECK_SEEDS[episode]} "
            f"is {first.earned[step, episode]}"
        )
        return Check(name="rewards", ok=False, detail=detail)
    with np.errstate(over="ignore"):
        returns = first.earned.sum(axis=0)
    if not (np.abs(returns) <= LARGEST_RETURN).all():
        worst = returns[np.argmax(np.abs(returns))]
        detail = (
            f"an episode's rewards sum to {worst:g}; expected returns of at most "
            f"{LARGEST_RETURN:g} in size"
        )
        return Check(name="rewards", ok=False, detail=detail)
    earned = f"random actions earn {returns.mean():.6g}"
    detail = f"rewards of {len(CHECK_SEEDS)} episodes are finite; {earned}"
    return Check(name="rewards", ok=True, detail=detail)


def _payment(task: BatchedTask, first: Trajectory) -> Check:
    """Check that the reward settings pay some of the reward; the finding is the share paid."""
    assert isinstance(task, RewardTask)
    settings, horizon = task.reward_settings, task.spec.horizon
    if without_horizon(task):
        horizon = int(episode_lengths(task).max())
    said = ", ".join(f"{name}={value}" for name, value in settings.options.items())
    if not settings.pays_within(horizon):
        detail = (
            f"with {said} nothing is ever paid in {horizon} steps; expected smaller settings, "
            "or flush_on_end"
        )
        return Check(name="payment", ok=False, detail=detail)
    paid, due = 0.0, first.earned - (1.0 - settings.survival) * first.bonus
    for index in range(CHECK_SEEDS.size):
        amounts, done = np.abs(due[:, index]), first.done[:, index]
        if done.any():
            paid += float(amounts[: settings.steps_paid(int((~done).sum()) + 1)].sum())
        else:  # cut off here: as if the rest of the episode earned alike
            paid += float(amounts.sum()) * settings.steps_paid(horizon) / horizon
    whole = float(np.abs(first.earned).sum())
    detail = f"with {said}; random actions earn nothing, so the share that is paid is unknown"
    if whole:
        share = paid * (1.0 - settings.drop) / whole
        detail = f"with {said} a learner is paid {share:.0%} of what random actions earn"
    return Check(name="payment", ok=True, detail=detail)


def _batch(task: BatchedTask, first: Trajectory) -> Check:
    """Check that an episode alone equals the same episode in a batch."""
    for index in range(CHECK_SEEDS.size):
        alone = random_trajectory(task, CHECK_SEEDS[index : index + 1])
        steps = len(alone.rewards)
        part = Trajectory(
            observations=first.observations[: steps + 1, index : index + 1],
            rewards=first.rewards[:steps, index : index + 1],
            earned=first.earned[:steps, index : index + 1],
            bonus=first.bonus[:steps, index : index + 1],
            done=first.done[:steps, index : index + 1],
        )
        if not alone.equals(part) or first.rewards[steps:, index].any():
            detail = f"the episode of seed {CHECK_SEEDS[index]} differs alone and beside others"
            return Check(name="batch", ok=False, detail=detail)
    detail = "each episode is the same alone and beside others"
    return Check(name="batch", ok=True, detail=detail)


def _restarts_itself(task: BatchedTask) -> bool:
    """Return whether a task begins some of its episodes anew by code of its own."""
    return hasattr(task, "restart") and not isinstance(unwrapped(task), CallsEnvironment)


def _restart(task: BatchedTask, first: Trajectory) -> Check:
    """Check that an episode begun in the place of another equals one of a reset."""
    ok = restarts_afresh(task, CHECK_SEEDS, first)
    detail = (
        "an episode begun in the place of another is as fresh, and the others go on"
        if ok
        else "after `restart` of one episode, it or its neighbours are not as `reset` begins them; "
        "expected observations of all episodes, and nothing kept of the one before"
    )
    return Check(name="restart", ok=ok, detail=detail)


def _symmetries(task: BatchedTask, first: Trajectory) -> Check:
    """Check each declared symmetry on episodes of random policies and of their images."""
    symmetries = task.spec.symmetries
    for symmetry, found in zip(symmetries, symmetry_deviations(task, symmetries), strict=True):
        if found.standard_errors > GREATEST_DEVIATION:
            detail = (
                f"{symmetry.name!r} is no symmetry: the {found.where} of random policies and of "
                f"their images differ by {found.standard_errors:.0f} standard errors"
            )
            return Check(name="symmetries", ok=False, detail=detail)
    names = ", ".join(symmetry.name for symmetry in symmetries)
    return Check(name="symmetries", ok=True, detail=f"hold for random policies: {names}")


def _speed(task: BatchedTask, first: Trajectory) -> Check:
    """Measure environment steps per second, with random actions."""
    seeds = np.arange(64 if hasattr(task, "lanes") else 4, dtype=np.uint64)
    steps, begin = 0, time.perf_counter()
    while (spent := time.perf_counter() - begin) < MOST_SECONDS:
        steps += int((~random_trajectory(task, seeds).done).sum()) + seeds.size
    rate = steps / spent
    detail = f"{rate:,.0f} steps a second in batches, in this process"
    return Check(name="speed", ok=True, detail=detail)
