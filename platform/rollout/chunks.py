"""Cuts a batch into chunks, and computes one chunk.

A return depends on its weights and its seed alone, so cutting decides about speed only: chunks are
small enough that all workers are busy to the end, and large enough to fill a compiled kernel.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from rolecast.core.errors import ConfigError, RequestError, RunError, unknown_name
from rolecast.core.patience import StepTimeoutError
from rolecast.core.types import Float, Seeds
from rolecast.envs.spec import FAILED_EPISODES, BatchedTask
from rolecast.platform.rollout.corners import equal_corners, grid_corners, shrinking_corners
from rolecast.platform.rollout.rollout import Rollout, rollout
from rolecast.platform.rollout.sizes import RECORDED_BATCHED, RECORDED_COMPILED
from rolecast.policies.normalisation import ObservationStatistics, observation_bound
from rolecast.policies.protocol import Policy


@dataclass(frozen=True, kw_only=True, eq=False)
class Chunk:
    """Episodes e of c candidates, computed in one piece."""

    first: int
    """Row of its first candidate in the batch."""

    episode: int
    """Column of its first episode."""

    labels: tuple[str, ...]
    """[c], what each row is called in an error."""

    candidates: Float
    """[c, D], in the unit cube."""

    seeds: Seeds
    """[c, e]."""

    compiled: bool
    """Whether the task's compiled face is used, so that the chunk takes about a millisecond."""

    record: int = 0
    """Observations to keep."""

    statistics: ObservationStatistics | None = None
    """By which observations are normalised, where the policy normalises them."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ChunkResult(Rollout):
    """What the c candidates of a chunk earned over e episodes each."""

    failures: tuple[str, ...] = ()
    """What episodes failed with, in words, where that is forgiven (`FAILED_EPISODES`)."""

    seconds: float = 0.0
    """Time that it took where it was computed."""

    def part(self, rows: slice, columns: slice = slice(None)) -> "ChunkResult":
        """Return the part of some candidates and episodes, with its share of the time."""
        returns = self.returns[rows, columns]
        return replace(
            self,
            returns=returns,
            observed_returns=self.observed_returns[rows, columns],
            lengths=self.lengths[rows, columns],
            metrics={name: values[rows, columns] for name, values in self.metrics.items()},
            sums=None if self.sums is None else self.sums[rows, columns],
            seconds=self.seconds * returns.size / self.returns.size,
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class BatchResult:
    """What a whole batch gave."""

    returns: Float
    """[q, E], as earned: how candidates are scored, which no learner is told."""

    observed_returns: Float
    """[q, E], as paid to a learner."""

    lengths: NDArray[np.int64]
    """[q, E], steps."""

    metrics: Mapping[str, float]
    """Name to its mean over all episodes."""

    nodes: Mapping[str, Float]
    """Name of a metric that is kept to its values [q, E]."""

    observations: Float | None
    """[S, n, do], where they were asked for."""

    sums: Float | None = None
    """[3, do], number and sum of all observations, and sum of their squares, where the policy
    normalises them."""

    failed: NDArray[np.bool_] | None = None
    """[q, E], episodes that failed, where any did and that is forgiven."""

    failures: tuple[str, ...] = ()
    """What they failed with, in words."""


def cut(
    candidates: Float,
    seeds: Seeds,
    labels: Sequence[str],
    *,
    compiled: bool,
    workers: int = 1,
    record: int = 0,
    statistics: ObservationStatistics | None = None,
    episode_s: float | None = None,
) -> list[Chunk]:
    """Cut a batch into chunks.

    Args:
        candidates: [q, D], in the unit cube.
        seeds: [q, E].
        labels: [q].
        compiled: whether the task has a compiled face.
        workers: processes or threads that share the chunks.
        record: observations to keep of the whole batch, or a few more; which ones depends on the
            chunks, so these are then the same for any number of workers.
        statistics: by which observations are normalised; None: they are not.
        episode_s: seconds that an episode took so far, one beside others; None: not known yet.
    """
    q, episodes = seeds.shape
    if record:
        lanes = RECORDED_COMPILED if compiled else RECORDED_BATCHED
        corners = grid_corners(q, episodes, max(1, lanes // episodes) if compiled else 1, lanes)
    elif compiled:
        corners = equal_corners(q, episodes, workers, episode_s)
    else:
        corners = shrinking_corners(q, episodes, workers, episode_s)
    each = -(-record // len(corners))
    return [
        Chunk(
            first=row,
            episode=episode,
            labels=tuple(labels[row : row + rows]),
            candidates=candidates[row : row + rows],
            seeds=seeds[row : row + rows, episode : episode + columns],
            compiled=compiled,
            record=each,
            statistics=statistics,
        )
        for row, episode, rows, columns in corners
    ]


def first_chunk(dimension: int) -> Chunk:
    """Return one episode of a compiled task, to load its kernels; D is `dimension`."""
    middle, seed = np.full((1, dimension), 0.5), np.zeros((1, 1), dtype=np.uint64)
    return cut(middle, seed, ["the middle of the cube"], compiled=True)[0]


def join(
    chunks: Sequence[Chunk],
    results: Sequence[ChunkResult],
    shape: tuple[int, int],
    kept: Sequence[str] = (),
) -> BatchResult:
    """Put results of chunks together to a batch of shape (q, E).

    Args:
        chunks: of the batch.
        results: of each.
        shape: q and E.
        kept: metrics of which each episode's value is kept.
    Raises:
        RequestError: the task has no such metric, or one is not finite.
    """
    returns, observed = np.empty(shape), np.empty(shape)
    lengths = np.empty(shape, dtype=np.int64)
    totals: dict[str, float] = {}
    sums = np.empty(0)
    nodes, failed = {name: np.empty(shape) for name in kept}, np.zeros(shape, dtype=np.bool_)
    for chunk, result in zip(chunks, results, strict=True):
        rows = slice(chunk.first, chunk.first + len(chunk.seeds))
        columns = slice(chunk.episode, chunk.episode + chunk.seeds.shape[1])
        returns[rows, columns], lengths[rows, columns] = result.returns, result.lengths
        observed[rows, columns] = result.observed_returns
        if result.sums is not None:
            sums = sums if sums.size else np.empty((*shape, *result.sums.shape[2:]))
            sums[rows, columns] = result.sums
        for name, values in nodes.items():
            values[rows, columns] = _observed(name, result.metrics, chunk.labels)
        failed[rows, columns] = result.metrics.get(FAILED_EPISODES, 0.0)
        for name, values in result.metrics.items():
            totals[name] = totals.get(name, 0.0) + float(values.sum())
    met = [result.observations for result in results if result.observations is not None]
    return BatchResult(
        returns=returns,
        observed_returns=observed,
        lengths=lengths,
        metrics={name: total / returns.size for name, total in totals.items()},
        nodes=nodes,
        observations=np.concatenate(met) if met else None,
        sums=sums.sum(axis=(0, 1)) if sums.size else None,
        failed=failed if failed.any() else None,
        failures=tuple(dict.fromkeys(said for result in results for said in result.failures)),
    )


def _observed(name: str, metrics: Mapping[str, Float], labels: Sequence[str]) -> Float:
    """Return the values of a metric; refuse one that is missing or not finite."""
    if name not in metrics:
        raise unknown_name("metric of the task:", name, metrics)
    values = metrics[name]
    if not np.isfinite(values).all():
        row, column = np.argwhere(~np.isfinite(values))[0]
        field = f"metric {name!r} of {labels[row]}"
        raise ConfigError(field, float(values[row, column]), "a finite number")
    return values


def evaluate_chunk(task: BatchedTask, policy: Policy, chunk: Chunk) -> ChunkResult:
    """Compute one chunk in this process.

    Raises:
        RunError: the task failed or paid what is no number; names evaluation and seed.
    """
    start = time.perf_counter()
    try:
        result = _rollout(task, policy, chunk)
    except Exception as error:
        raise _blame(task, policy, chunk, error) from error
    return ChunkResult(**vars(result), seconds=time.perf_counter() - start)


def label_of(chunk: Chunk, seed: int) -> str:
    """Return what the row with a seed is called; where several meet its episode, the first."""
    return chunk.labels[int((chunk.seeds == np.uint64(seed)).any(axis=1).argmax())]


def _rollout(task: BatchedTask, policy: Policy, chunk: Chunk) -> Rollout:
    weights = policy.space.weights(chunk.candidates, chunk.statistics)
    summed = None if chunk.statistics is None else observation_bound(policy.options)
    return rollout(
        task,
        policy,
        weights,
        chunk.seeds,
        record=chunk.record,
        summed=summed,
        compiled=chunk.compiled,
    )


def _blame(
    task: BatchedTask, policy: Policy, chunk: Chunk, error: Exception
) -> RunError | RequestError:
    """Return the error that names the episode at fault, found by running each one alone.

    A task that refuses what was asked of it, such as a simulator without a node, stays a request.
    """
    if isinstance(error, StepTimeoutError):  # alone it would hang again
        return RunError(f"{label_of(chunk, error.seed)}: {error}")
    kind = RequestError if isinstance(error, RequestError) else RunError
    for row, label in enumerate(chunk.labels):
        for seed in chunk.seeds[row]:
            alone = Chunk(
                first=0,
                episode=0,
                labels=(label,),
                candidates=chunk.candidates[row : row + 1],
                seeds=np.array([[seed]], dtype=np.uint64),
                compiled=chunk.compiled,
                statistics=chunk.statistics,
            )
            try:
                _rollout(task, policy, alone)
            except Exception as again:  # noqa: BLE001 - it is told, with the name of the episode
                return kind(f"{label}, episode of seed {seed}: {_told(again)}")
    return kind(f"{', '.join(chunk.labels)}: {_told(error)}; no single episode repeats it")


def _told(error: Exception) -> str:
    """Return what an error says, and of a stranger's error its kind too."""
    return (
        str(error)
        if isinstance(error, RunError | RequestError)
        else f"{type(error).__name__}: {error}"
    )
