"""`rolecast.evaluate`: what a policy earns on episodes that no search has seen."""

from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rolecast.core.errors import RequestError
from rolecast.core.rounding import mean_and_error
from rolecast.core.types import Float, Seeds
from rolecast.envs.scripted import SCRIPTED, rollout_scripted
from rolecast.envs.spec import FAILED_EPISODES, BatchedTask
from rolecast.envs.trust import make_wanted_task
from rolecast.platform.rollout.artefact_folder import artefact_folder, require_fit
from rolecast.platform.rollout.held_out import DEVELOPMENT_SET, HeldOut, held_out_seeds
from rolecast.platform.rollout.rollout import rollout
from rolecast.platform.search.records.run_terms import RunTerms
from rolecast.policies.artefact import LoadedPolicy, load_policy


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    """What a policy earned."""

    episode_return_mean: float
    """Mean team return of an episode as earned, whatever the task's reward settings."""

    episode_return_stderr: float | None
    """Its standard error; None for a single episode."""

    observed_return_mean: float | None
    """Mean of what a learner would be paid; None for a scripted policy."""

    episodes: int
    """E."""

    env_steps: int
    """Steps of all episodes."""

    task: str
    """Whole id of the task."""

    policy: str
    """Name of a scripted policy, or the path of a trained one."""

    seed: int
    """Which set of held-out episodes."""

    failed_episodes: int = 0
    """Episodes that failed, and count as the lowest return of the run and of these episodes."""


@dataclass(frozen=True)
class _Played:
    """Episodes of a player."""

    returns: Float
    """[E], as earned."""

    lengths: NDArray[np.int64]
    """[E], in env steps."""

    observed: Float | None = None
    """[E], as paid, where there is a learner."""

    failed: int = 0
    """How many failed, and were forgiven."""


@dataclass(frozen=True)
class _Player:
    """Who plays: a name, the task it was made for, and how it runs episodes of a task."""

    name: str
    task: str | None
    play: Callable[[BatchedTask, Seeds], _Played]

    terms: RunTerms = field(default_factory=RunTerms)
    """Of the run whose policy plays."""


def evaluate(
    run_or_policy: str | Path | LoadedPolicy,
    task: str | Callable[..., Any] | None = None,
    *,
    task_options: Mapping[str, Any] | None = None,
    episodes: int = HeldOut.episodes,
    seed: int = HeldOut.seed,
    trust: bool = False,
) -> Evaluation:
    """Evaluate a trained or a scripted policy on held-out episodes, in this process.

    The folder of a run is played as its search played: calls of the environment end after its
    `step_timeout`, and where it forgives failed episodes, each counts as the lowest return.

    Args:
        run_or_policy: folder of a finished run, folder of an artefact, what `load_policy` gave,
            or the name of a scripted policy: "chase", "random".
        task: task id or callable, as in `make_task`; None is the task that the policy was
            searched for.
        task_options: further options of the task.
        episodes: E.
        seed: which set of held-out episodes; the same set gives the same result.
        trust: make the policy's own task, though its id may run any code (`envs.trust`).
    Raises:
        RequestError: no such run or policy, a run that goes on, a scripted policy without a task,
            a task that is not trusted, or a policy that does not fit the task.
        RunError: the task failed.
    Example:
        >>> result = evaluate("chase", task="pred_prey_3", episodes=200)
        >>> result.episodes, result.env_steps
        (200, 5000)
        >>> result.episode_return_mean > 100
        True
    """
    held_out = HeldOut(episodes=episodes, seed=seed)
    seeds = held_out_seeds(DEVELOPMENT_SET, held_out.seed, held_out.episodes)
    player = _player(run_or_policy)
    if task is None and player.task is None:
        raise RequestError(f"scripted policy {player.name!r} needs a task; expected --task ID")
    made = make_wanted_task(task, player.task or "", trust=trust, **(task_options or {}))
    with closing(made), player.terms.apply(made):
        played = player.play(made, seeds)
    mean, stderr = mean_and_error(played.returns)
    return Evaluation(
        episode_return_mean=mean,
        episode_return_stderr=stderr,
        observed_return_mean=None if played.observed is None else float(played.observed.mean()),
        episodes=held_out.episodes,
        env_steps=int(played.lengths.sum()),
        task=made.spec.id,
        policy=player.name,
        seed=held_out.seed,
        failed_episodes=played.failed,
    )


def _player(run_or_policy: str | Path | LoadedPolicy) -> _Player:
    """Return the scripted policy of this name, or the trained one of this folder."""
    if isinstance(run_or_policy, str) and run_or_policy in SCRIPTED:
        script = run_or_policy

        def follow(task: BatchedTask, seeds: Seeds) -> _Played:
            return _Played(*rollout_scripted(task, script, seeds))

        return _Player(script, None, follow)
    terms = RunTerms()
    if isinstance(run_or_policy, LoadedPolicy):
        trained, name = run_or_policy, run_or_policy.policy.name
    else:
        folder = artefact_folder(Path(run_or_policy), or_scripted=True)
        trained, name = load_policy(folder), str(run_or_policy)
        terms = RunTerms.read(run_or_policy)

    def play(task: BatchedTask, seeds: Seeds) -> _Played:
        require_fit(trained, task)
        result = terms.settled(rollout(task, trained.policy, trained.weights[None], seeds))
        failed = int(np.sum(result.metrics.get(FAILED_EPISODES, 0.0) > 0.0))
        return _Played(
            result.returns[0], result.lengths[0], observed=result.observed_returns[0], failed=failed
        )

    return _Player(name, trained.task.id, play, terms)
