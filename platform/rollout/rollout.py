"""Whole episodes of a policy in a task: the one way anything here evaluates a policy.

A task with a compiled face and a policy meet in blocks of W lanes, float32; a compiled simulator
plays whole episodes; any other task runs by the batched contract, with the same policy. Each lane
is computed alone, so a return depends on its weights and its seed, never on what else is in the
call.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rolecast.core.errors import ConfigError, RunError
from rolecast.core.types import Float
from rolecast.core.validation import LARGEST_RETURN
from rolecast.envs.spec import BatchedTask
from rolecast.platform.rollout.batched_episodes import play_batched
from rolecast.platform.rollout.compiled_episodes import play_compiled
from rolecast.platform.rollout.played import Episodes
from rolecast.platform.rollout.whole_episodes import play_whole
from rolecast.policies.protocol import Policy


@dataclass(frozen=True, kw_only=True, eq=False)
class Rollout:
    """What P candidates earned over E episodes each."""

    returns: Float
    """[P, E], team return of each episode as earned, by which policies are scored."""

    observed_returns: Float
    """[P, E], what a learner is paid; the same array unless the task has reward settings."""

    lengths: NDArray[np.int64]
    """[P, E], steps of each episode."""

    metrics: Mapping[str, Float] = field(default_factory=dict)
    """Name to [P, E]: the task's own measures, summed over the episode."""

    observations: Float | None = None
    """[S, n, do], observations met, when they were asked for."""

    sums: Float | None = None
    """[P, E, 3, do], count, sum and sum of squares of an episode's observations, when asked for.
    They go over steps and the agents present."""

    @property
    def env_steps(self) -> int:
        """Steps of all episodes together; a joint step of n agents is one."""
        return int(self.lengths.sum())


def rollout(
    task: BatchedTask,
    policy: Policy,
    weights: ArrayLike,
    seeds: ArrayLike,
    *,
    record: int = 0,
    summed: float | None = None,
    compiled: bool = True,
) -> Rollout:
    """Run E whole episodes for each of P candidates, in this process.

    Args:
        task: from `make_task`.
        policy: from `make_policy`, for a task of these sizes.
        weights: [P, D], the policy's own weights (not the unit cube), finite.
        seeds: [E], the same episodes for every candidate, or [P, E]; integers >= 0.
        record: keep this many of the observations met, evenly spaced over episodes and steps.
        summed: sum the observations acted upon, clipped to this bound; None: do not.
        compiled: use the task's compiled form where it has one; it tells no metrics.
    Returns:
        Returns and lengths [P, E], metrics, and observations or their sums if asked for.
    Raises:
        ConfigError: a shape is wrong, a weight is not finite, a seed is negative, or none is given.
        RunError: a return is not finite, or too large; names candidate and episode.
    """
    weights = np.asarray(weights, dtype=np.float64)
    if weights.ndim != 2 or weights.shape[1] != policy.space.size:
        raise ConfigError("rollout.weights", weights.shape, f"shape [P, {policy.space.size}]")
    if not np.isfinite(weights).all():
        raise ConfigError("rollout.weights", "an array with NaN or infinity", "finite numbers")
    seeds = np.asarray(seeds)
    if seeds.ndim == 1:
        seeds = np.broadcast_to(seeds, (len(weights), len(seeds)))
    if seeds.ndim != 2 or len(seeds) != len(weights) or seeds.dtype.kind not in "iu":
        raise ConfigError(
            "rollout.seeds", f"{seeds.dtype} {seeds.shape}", f"integers [E] or [{len(weights)}, E]"
        )
    if not seeds.size or seeds.min() < 0:
        worst = int(seeds.min()) if seeds.size else "empty"
        raise ConfigError("rollout.seeds", worst, "at least one episode, integers >= 0")
    shape = seeds.shape
    episodes = Episodes(
        task=task,
        policy=policy,
        weights=weights,
        candidate=np.repeat(np.arange(len(weights)), shape[1]),
        seeds=np.ascontiguousarray(seeds, dtype=np.uint64).ravel(),
        summed=summed,
    )
    if compiled and hasattr(task, "lanes"):
        played = play_compiled(episodes, record)
    else:
        whole = None if record else play_whole(episodes)
        played = play_batched(episodes, record) if whole is None else whole
    returns = played.returns.reshape(shape)
    observed = returns if played.observed is played.returns else played.observed.reshape(shape)
    for paid in (returns, observed):
        fits = np.abs(paid) <= LARGEST_RETURN
        if not fits.all():
            where = np.argwhere(~fits)[0]
            raise RunError(
                f"task {task.spec.id!r} paid a return of {paid[tuple(where)]:g} to candidate "
                f"{where[0]} in the episode of seed {seeds[tuple(where)]}; expected a finite "
                f"number of at most {LARGEST_RETURN:g} in size"
            )
    return Rollout(
        returns=returns,
        observed_returns=observed,
        lengths=played.lengths.reshape(shape),
        metrics={name: total.reshape(shape) for name, total in played.metrics.items()},
        observations=_thinned(played.observations, record) if record else None,
        sums=None if played.sums is None else played.sums.reshape(*shape, 3, -1),
    )


def _thinned(met: list[Float], record: int) -> Float:
    """Thin all recorded observations evenly to [record, n, do] (fewer when fewer were met)."""
    rows = np.concatenate(met)
    return np.asarray(rows[np.linspace(0, len(rows) - 1, min(record, len(rows))).astype(int)])
