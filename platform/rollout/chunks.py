"""Cuts a batch into chunks, and computes one chunk.

A return depends on its weights and its seed alone, so cutting decides about speed only: chunks are
small enough that all workers are busy to the end, and large enough to fill a compiled kernel.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from rolecast.core.errors import RunError
from rolecast.core.types import LANE_COUNT, Float, Seeds
from rolecast.envs.spec import BatchedTask
from rolecast.platform.rollout.rollout import Rollout, rollout
from rolecast.platform.rollout.sizes import (
    CALL_SECONDS,
    COMPILED_LANES,
    LEAST_EPISODES,
    MOST_EPISODES,
    RECORDED_BATCHED,
    RECORDED_COMPILED,
)
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
    """Whether the task has a compiled face, so that the chunk takes about a millisecond."""

    record: int = 0
    """Observations to keep."""

    statistics: ObservationStatistics | None = None
    """By which observations are normalised, where the policy normalises them."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ChunkResult:
    """What the episodes of a chunk gave."""

    returns: Float
    """[c, e], as earned."""

    observed_returns: Float
    """[c, e], as paid to a learner."""

    lengths: NDArray[np.int64]
    """[c, e], steps."""

    metrics: Mapping[str, Float] = field(default_factory=dict)
    """Name to [c, e]."""

    observations: Float | None = None
    """[S, n, do], where they were asked for."""

    sums: Float | None = None
    """[c, e, 2, do], as of `Rollout`, where the policy normalises observations."""

    seconds: float = 0.0
    """Time that it took where it was computed."""

    def row(self, place: int) -> "ChunkResult":
        """Return the part of one candidate, the `place`-th of the chunk."""
        rows = slice(place, place + 1)
        return replace(
            self,
            returns=self.returns[rows],
            observed_returns=self.observed_returns[rows],
            lengths=self.lengths[rows],
            metrics={name: values[rows] for name, values in self.metrics.items()},
            sums=None if self.sums is None else self.sums[rows],
            seconds=self.seconds / len(self.returns),
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

    observations: Float | None
    """[S, n, do], where they were asked for."""

    sums: Float | None = None
    """[2, do], sum of all observations and of their squares, where the policy normalises them."""


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
        corners = _grid(q, episodes, max(1, lanes // episodes) if compiled else 1, lanes)
    elif compiled:
        corners = _equal(q, episodes, workers, episode_s)
    else:
        corners = _shrinking(q, episodes, workers)
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


Corner = tuple[int, int, int, int]
"""First row and column of a chunk, its rows and columns; the last two may reach too far."""


def _grid(q: int, episodes: int, rows: int, columns: int) -> list[Corner]:
    """Cut a batch into equal chunks."""
    return [
        (row, episode, rows, columns)
        for row in range(0, q, rows)
        for episode in range(0, episodes, columns)
    ]


def _equal(q: int, episodes: int, workers: int, episode_s: float | None) -> list[Corner]:
    """Cut a batch of a compiled task, whose episodes last equally long: as much for each worker."""
    wanted = COMPILED_LANES
    if episode_s:
        wanted = max(wanted, int(CALL_SECONDS / episode_s))
    count = workers * max(1, round(q * episodes / (wanted * workers)))
    if count <= q:
        ends = np.round(np.linspace(0, q, count + 1)).astype(int).tolist()
        return [(start, 0, end - start, episodes) for start, end in pairwise(ends)]
    parts = min(-(-count // q), -(-episodes // LANE_COUNT))
    columns = -(-episodes // (parts * LANE_COUNT)) * LANE_COUNT
    return _grid(q, episodes, 1, columns)


def _shrinking(q: int, episodes: int, workers: int) -> list[Corner]:
    """Cut a batch whose episodes may end at any step.

    Chunks are whole rows, or parts of one row. They shrink towards the end, so that all workers end
    together.
    """
    corners = []
    row = column = 0
    while row < q:
        left = (q - row) * episodes - column
        size = -(-left // (workers if workers == 1 else 2 * workers))
        size = min(max(size, LEAST_EPISODES), MOST_EPISODES)
        if column == 0 and size >= episodes:
            rows = min(size // episodes, q - row)
            corners.append((row, 0, rows, episodes))
            row += rows
            continue
        columns = min(size, episodes - column)
        corners.append((row, column, 1, columns))
        column += columns
        if column == episodes:
            row, column = row + 1, 0
    return corners


def join(
    chunks: Sequence[Chunk], results: Sequence[ChunkResult], shape: tuple[int, int]
) -> BatchResult:
    """Put results of chunks together to a batch of shape (q, E)."""
    returns, observed = np.empty(shape), np.empty(shape)
    lengths = np.empty(shape, dtype=np.int64)
    totals: dict[str, float] = {}
    sums = np.empty(0)
    for chunk, result in zip(chunks, results, strict=True):
        rows = slice(chunk.first, chunk.first + len(chunk.seeds))
        columns = slice(chunk.episode, chunk.episode + chunk.seeds.shape[1])
        returns[rows, columns], lengths[rows, columns] = result.returns, result.lengths
        observed[rows, columns] = result.observed_returns
        if result.sums is not None:
            sums = sums if sums.size else np.empty((*shape, *result.sums.shape[2:]))
            sums[rows, columns] = result.sums
        for name, values in result.metrics.items():
            totals[name] = totals.get(name, 0.0) + float(values.sum())
    met = [result.observations for result in results if result.observations is not None]
    return BatchResult(
        returns=returns,
        observed_returns=observed,
        lengths=lengths,
        metrics={name: total / returns.size for name, total in totals.items()},
        observations=np.concatenate(met) if met else None,
        sums=sums.sum(axis=(0, 1)) if sums.size else None,
    )


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
    return ChunkResult(
        returns=result.returns,
        observed_returns=result.observed_returns,
        lengths=result.lengths,
        metrics=result.metrics,
        observations=result.observations,
        sums=result.sums,
        seconds=time.perf_counter() - start,
    )


def _rollout(task: BatchedTask, policy: Policy, chunk: Chunk) -> Rollout:
    weights = policy.space.weights(chunk.candidates, chunk.statistics)
    summed = None if chunk.statistics is None else observation_bound(policy.options)
    return rollout(task, policy, weights, chunk.seeds, record=chunk.record, summed=summed)


def _blame(task: BatchedTask, policy: Policy, chunk: Chunk, error: Exception) -> RunError:
    """Return the error that names the episode at fault, found by running each one alone."""
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
                return RunError(f"{label}, episode of seed {seed}: {_told(again)}")
    return RunError(f"{', '.join(chunk.labels)}: {_told(error)}; no single episode repeats it")


def _told(error: Exception) -> str:
    """Return what an error says, and of a stranger's error its kind too."""
    return str(error) if isinstance(error, RunError) else f"{type(error).__name__}: {error}"
