"""Whole episodes of a policy in a task: the one way anything here evaluates a policy.

A task with a compiled face and a policy meet in blocks of W lanes, float32; any other task runs by
the batched contract, with the same compiled policy. Each lane is computed alone, so a return
depends on its weights and its seed, never on what else is in the call.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rolecast.core.errors import ConfigError, RunError
from rolecast.core.lane_arrays import gather_lanes, lane_array
from rolecast.core.types import LANE_COUNT, Float, Float32, Seeds
from rolecast.envs.rewards.task import RAW_RETURNS, RAW_REWARD
from rolecast.envs.spec import BatchedTask
from rolecast.policies.protocol import Policy

COMPILED_CHUNK: Final = 1024
"""Episodes that the compiled path holds at once: enough to hide calls, small enough for caches."""

BATCHED_CHUNK: Final = 16
"""Episodes that the batched path holds at once; a user's environments are one object each."""


@dataclass(frozen=True, kw_only=True)
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
    """[P, E, 2, do], sum of an episode's observations, over steps and agents, and sum of their
    squares, when they were asked for."""

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
) -> Rollout:
    """Run E whole episodes for each of P candidates, in this process.

    Args:
        task: from `make_task`.
        policy: from `make_policy`, for a task of these sizes.
        weights: [P, D], the policy's own weights (not the unit cube), finite.
        seeds: [E], the same episodes for every candidate, or [P, E]; integers >= 0.
        record: keep this many of the observations met, evenly spaced over episodes and steps.
        summed: sum the observations acted upon, clipped to this bound; None: do not.
    Returns:
        Returns and lengths [P, E], metrics, and observations or their sums if asked for.
    Raises:
        ConfigError: a shape is wrong, a weight is not finite, a seed is negative, or none is given.
        RunError: the task paid a reward that is not finite; names candidate and episode.
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
    lane_seeds = np.ascontiguousarray(seeds, dtype=np.uint64).ravel()
    candidate = np.repeat(np.arange(len(weights)), shape[1])
    compiled = hasattr(task, "lanes")
    size = COMPILED_CHUNK if compiled else BATCHED_CHUNK
    run = _compiled_chunk if compiled else _batched_chunk
    chunks = []
    keep = _record_share(record, lane_seeds.size, size)
    for start in range(0, lane_seeds.size, size):
        part = slice(start, start + size)
        chunks.append(run(task, policy, weights, candidate[part], lane_seeds[part], keep, summed))
    returns = np.concatenate([chunk.returns for chunk in chunks]).reshape(shape)
    paid_as_earned = all(chunk.observed is chunk.returns for chunk in chunks)
    if not np.isfinite(returns).all():
        where = np.argwhere(~np.isfinite(returns))[0]
        raise RunError(
            f"task {task.spec.id!r} paid a return of {returns[tuple(where)]} to candidate "
            f"{where[0]} in the episode of seed {seeds[tuple(where)]}; expected a finite number"
        )
    names = chunks[0].metrics
    return Rollout(
        returns=returns,
        observed_returns=returns
        if paid_as_earned
        else np.concatenate([chunk.observed for chunk in chunks]).reshape(shape),
        lengths=np.concatenate([chunk.lengths for chunk in chunks]).reshape(shape),
        metrics={
            name: np.concatenate([chunk.metrics[name] for chunk in chunks]).reshape(shape)
            for name in names
        },
        observations=_recorded(chunks, record) if record else None,
        sums=None if summed is None else _joined_sums(chunks).reshape(*shape, 2, -1),
    )


@dataclass(frozen=True)
class _Chunk:
    """Episodes [L] that ran together; `observations` [steps, L, n, do] of the steps recorded."""

    returns: Float
    observed: Float
    lengths: NDArray[np.int64]
    metrics: Mapping[str, Float]
    observations: list[Float]
    sums: Float | None


class _ObservationSums:
    """Sums of observations and of their squares, of each number alone, in float64.

    Entry by entry, so that an episode's sums do not depend on the episodes beside it.
    """

    def __init__(self, shape: tuple[int, ...], bound: float) -> None:
        self._bound, self.totals = bound, np.zeros((2, *shape))

    def add(self, observations: Float | Float32, live: NDArray[np.bool_] | None = None) -> None:
        """Add observations; of the episodes that are live, where these are rows."""
        clipped = np.clip(observations, -self._bound, self._bound).astype(np.float64)
        if live is not None:
            clipped[~live] = 0.0
        self.totals[0] += clipped
        self.totals[1] += np.square(clipped)


def _over_agents(sums: Float) -> Float:
    """Return sums [L, 2, do] over the agents, in their order, of [2, L, n, do]."""
    total = np.zeros_like(sums[:, :, 0])
    for agent in range(sums.shape[2]):
        total += sums[:, :, agent]
    return np.asarray(total.swapaxes(0, 1))


def _joined_sums(chunks: "list[_Chunk]") -> Float:
    return np.concatenate([chunk.sums for chunk in chunks if chunk.sums is not None])


def _record_share(record: int, lanes: int, chunk: int) -> int:
    """Return how many steps of each chunk to keep, so that `record` observations come out."""
    return -(-record // max(min(lanes, chunk), 1)) if record else 0


def _recorded(chunks: list[_Chunk], record: int) -> Float:
    """Thin all recorded observations evenly to [record, n, do] (fewer when fewer were met)."""
    met = np.concatenate([np.concatenate(chunk.observations) for chunk in chunks])
    return np.asarray(met[np.linspace(0, len(met) - 1, min(record, len(met))).astype(int)])


def _to_lanes(rows: Float, blocks: int, held: NDArray[np.int64] | None = None) -> Float32:
    """Lay rows [P, ...] out as [K, ..., W].

    Lane l holds row held[l], or row l by default; lanes past the last one repeat it.
    """
    held = np.arange(len(rows)) if held is None else held
    held = held[np.minimum(np.arange(blocks * LANE_COUNT), len(held) - 1)]
    lanes = lane_array(blocks, *rows.shape[1:])
    flat = rows.astype(np.float32).reshape(len(rows), -1)
    gather_lanes(flat, held.reshape(blocks, LANE_COUNT), lanes.reshape(blocks, -1, LANE_COUNT))
    return lanes


def _from_lanes(lanes: Float32, length: int) -> Float:
    """Undo `_to_lanes`: [K, ..., W] to rows [L, ...]."""
    rows = np.moveaxis(lanes, -1, 1)
    return rows.reshape(-1, *rows.shape[2:])[:length].astype(np.float64)


def _steps_to_record(horizon: int, keep: int) -> frozenset[int]:
    """Spread `keep` steps over the episode."""
    return frozenset(np.linspace(0, horizon - 1, min(keep, horizon)).astype(int).tolist())


def _compiled_chunk(
    task: BatchedTask,
    policy: Policy,
    weights: Float,
    candidate: NDArray[np.int64],
    seeds: Seeds,
    keep: int,
    summed: float | None,
) -> _Chunk:
    """Run L episodes to their common horizon, policy and task compiled; lane l of candidate[l]."""
    spec, length = task.spec, seeds.size
    episodes = task.lanes().start(seeds)  # type: ignore[attr-defined]  # the caller has looked
    blocks = len(episodes.observations)
    actor, lane_weights = policy.lanes(), _to_lanes(weights, blocks, candidate)
    actions = lane_array(blocks, spec.agents, spec.action_size)
    sums = None if summed is None else _ObservationSums(episodes.observations.shape, summed)
    kept, steps = [], _steps_to_record(spec.horizon, keep)
    for step in range(spec.horizon):
        if step in steps:
            kept.append(_from_lanes(episodes.observations, length))
        if sums is not None:
            sums.add(episodes.observations)
        actor.act(lane_weights, episodes.observations, actions)
        episodes.advance(actions)
    observed = _from_lanes(episodes.returns, length)
    raw = getattr(episodes, RAW_RETURNS, None)
    returns = observed if raw is None else _from_lanes(raw, length)
    lengths = np.full(length, spec.horizon, dtype=np.int64)
    over_lanes = None
    if sums is not None:
        over_lanes = np.stack([_from_lanes(part, length) for part in sums.totals])
    summary = None if over_lanes is None else _over_agents(over_lanes)
    return _Chunk(returns, observed, lengths, {}, kept, summary)


def _batched_chunk(
    task: BatchedTask,
    policy: Policy,
    weights: Float,
    candidate: NDArray[np.int64],
    seeds: Seeds,
    keep: int,
    summed: float | None,
) -> _Chunk:
    """Run L episodes until all are done, by the batched contract; lane l of candidate[l]."""
    spec, length = task.spec, seeds.size
    blocks = -(-length // LANE_COUNT)
    actor, lane_weights = policy.lanes(), _to_lanes(weights, blocks, candidate)
    actions = np.empty((blocks, spec.agents, spec.action_size, LANE_COUNT), dtype=np.float32)
    observations = task.reset(seeds)
    observed, lengths = np.zeros(length), np.zeros(length, dtype=np.int64)
    totals: dict[str, Float] = {}
    done = np.zeros(length, dtype=bool)
    # Episodes may end long before the horizon, so every step is kept, and then every second one
    # each time that twice as many observations have come together as are wanted.
    kept, stride = [], 1
    sums = None if summed is None else _ObservationSums(observations.shape, summed)
    for step in range(spec.horizon):
        if keep and step % stride == 0:
            kept.append(observations[~done])
            if sum(map(len, kept)) >= 2 * keep * length:
                kept, stride = kept[::2], 2 * stride
        if sums is not None:
            sums.add(observations, ~done)
        actor.act(lane_weights, _to_lanes(observations, blocks), actions)
        lengths += ~done
        observations, reward, done, metrics = task.step(_from_lanes(actions, length))
        observed += reward
        for name, value in metrics.items():
            totals[name] = totals.get(name, 0.0) + value
        if done.all():
            break
    summary = None if sums is None else _over_agents(sums.totals)
    return _Chunk(totals.pop(RAW_REWARD, observed), observed, lengths, totals, kept, summary)
