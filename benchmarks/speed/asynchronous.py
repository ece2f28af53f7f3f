"""Return of asynchronous and synchronous searches at equal wall time, on a simulated cluster.

Episodes are real and run here; time is simulated. An episode of predator-prey is given a duration
from 1 to 20 s by its seed, as if its simulator were so uneven; a robot's step lasts a second. W
workers take chunks in order. Results say how long they took on that clock, so batches are cut as
they would be there: into single episodes, after the first. The optimiser and messages take no time,
which favours neither.
"""

import heapq
import tempfile
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import numpy as np

from rolecast.benchmarks.result_table import markdown_table
from rolecast.benchmarks.timing import digits, returns_by_seed
from rolecast.platform.rollout.chunks import Chunk, ChunkResult
from rolecast.platform.rollout.local_evaluator import LocalEvaluator
from rolecast.platform.search.asynchronous import AsynchronousSearch
from rolecast.platform.search.backend import LocalBackend
from rolecast.platform.search.loop import Search
from rolecast.platform.search.planning.config import SearchConfig
from rolecast.platform.search.planning.plan import Plan, make_plan, run_record
from rolecast.platform.search.progress import Silent
from rolecast.platform.search.records.run_folder import RunFolder

LONGEST_EPISODE: Final = 20.0
"""Simulated seconds of the longest episode of predator-prey, where the shortest lasts 1."""

TEST_EPISODES: Final = 1000
"""Held-out episodes of an incumbent; a tenth of them on a robot."""


@dataclass(frozen=True, kw_only=True)
class UnequalRow:
    """A search that is made in both modes."""

    task: str
    policy: str
    workers: tuple[int, ...]
    """Of the simulated cluster."""

    env_steps: int
    seeds: int


UNEQUAL_ROWS: Final = (
    UnequalRow(task="pred_prey_3", policy="hom", workers=(16, 256), env_steps=800_000, seeds=10),
    UnequalRow(
        task="hopper?survival=0", policy="linear", workers=(256,), env_steps=100_000, seeds=10
    ),
)


QUICK_ROW: Final = UnequalRow(
    task="pred_prey_3", policy="hom", workers=(16,), env_steps=16_000, seeds=1
)


class SimulatedCluster(LocalEvaluator):
    """Computes here; `now` is what the clock of a cluster with W workers would show."""

    def __init__(
        self, plan: Plan, workers: int, duration: Callable[[Chunk, ChunkResult], float]
    ) -> None:
        super().__init__(plan.task, plan.policy)
        self._fast = hasattr(plan.task, "lanes")
        self.workers, self._duration = workers, duration
        self.now = 0.0
        self._free = [0.0] * workers

    def evaluate(self, chunks: Sequence[Chunk]) -> list[ChunkResult]:
        """Compute all chunks; the clock goes on to the end of the last one."""
        results = self.computed(chunks)
        for result in results:
            self.ended(result)
        self.now = max(self.now, *self._free)
        return results

    def computed(self, chunks: Sequence[Chunk]) -> list[ChunkResult]:
        """Compute the chunks of a batch in one piece; each took what it takes on the cluster."""
        rows: dict[int, list[Chunk]] = {}
        for chunk in chunks:
            rows.setdefault(chunk.first, []).append(chunk)
        whole = replace(
            chunks[0],
            candidates=np.concatenate([parts[0].candidates for parts in rows.values()]),
            labels=tuple(label for parts in rows.values() for label in parts[0].labels),
            seeds=np.concatenate(
                [np.concatenate([each.seeds for each in parts], axis=1) for parts in rows.values()]
            ),
            compiled=self._fast,
        )
        result, first = self.play(whole), chunks[0].first
        found = [
            result.part(
                slice(chunk.first - first, chunk.first - first + len(chunk.seeds)),
                slice(chunk.episode, chunk.episode + chunk.seeds.shape[1]),
            )
            for chunk in chunks
        ]
        return [
            replace(each, seconds=self._duration(chunk, each))
            for chunk, each in zip(chunks, found, strict=True)
        ]

    def ended(self, result: ChunkResult) -> float:
        """Return when a chunk ends that the first idle worker takes now."""
        end = max(self.now, heapq.heappop(self._free)) + result.seconds
        heapq.heappush(self._free, end)
        return end

    def next_free(self) -> float:
        """Return when a worker is idle."""
        return self._free[0]

    def stream(self) -> "_SimulatedStream":  # type: ignore[override]
        """Return a stream of chunks."""
        return _SimulatedStream(self)


class _SimulatedStream:
    """Chunks under way on a simulated cluster."""

    def __init__(self, cluster: SimulatedCluster) -> None:
        self._cluster = cluster
        self._waiting: deque[tuple[int, ChunkResult]] = deque()
        self._ends: list[tuple[float, int]] = []
        self._results: dict[int, ChunkResult] = {}
        self._count = 0

    @property
    def running_s(self) -> float:
        """All of the time: the optimiser takes none."""
        return self._cluster.now

    def put(self, chunks: Sequence[Chunk]) -> list[int]:
        """Add chunks; return their numbers."""
        numbers = list(range(self._count, self._count + len(chunks)))
        self._count += len(chunks)
        self._waiting.extend(zip(numbers, self._cluster.computed(chunks), strict=True))
        return numbers

    def take(self) -> list[tuple[int, ChunkResult]]:
        """Return the chunk that ends next; the clock goes on to its end."""
        cluster = self._cluster
        while self._waiting and not (self._ends and self._ends[0][0] <= cluster.next_free()):
            number, self._results[number] = self._waiting.popleft()
            heapq.heappush(self._ends, (cluster.ended(self._results[number]), number))
        end, number = heapq.heappop(self._ends)
        cluster.now = max(cluster.now, end)
        return [(number, self._results.pop(number))]


def compare_modes(*, quick: bool, note: Callable[[str], None]) -> list[dict[str, Any]]:
    """Return what both modes earn, a row for each task and number of workers.

    Three searches a seed: both modes with one budget, and a synchronous one whose budget is cut so
    that it takes about as long as the asynchronous one did; `budgets` are the env steps by seed.

    Args:
        quick: one small search of each mode.
        note: told of each row.
    """
    found = []
    for row in (QUICK_ROW,) if quick else UNEQUAL_ROWS:
        for workers in row.workers:
            returns = dict[str, list[float]]()
            times = dict[str, list[float]]()
            used = dict[str, list[int]]()
            for seed in range(row.seeds):
                cut = 1.0
                for name, kind in (
                    ("synchronous", Search),
                    ("asynchronous", AsynchronousSearch),
                    ("synchronous, as long", Search),
                ):
                    steps = int(row.env_steps * cut)
                    earned, took = _simulated(row, kind, workers, seed, steps)
                    returns.setdefault(name, []).append(earned)
                    times.setdefault(name, []).append(took)
                    used.setdefault(name, []).append(steps)
                    if kind is AsynchronousSearch:
                        cut = took / times["synchronous"][-1]
            found += [
                {
                    "task": row.task,
                    "workers": workers,
                    "mode": name,
                    "seeds": row.seeds,
                    "env_steps": row.env_steps,
                    "budgets": used[name],
                    "time": digits(float(np.mean(times[name]) / np.mean(times["synchronous"]))),
                    **returns_by_seed(returns[name]),
                }
                for name in returns
            ]
            shown = ", ".join(f"{name} {np.mean(returns[name]):.1f}" for name in returns)
            note(f"{row.task}, {workers} workers: {shown}")
    return found


def _simulated(
    row: UnequalRow, kind: type[Search], workers: int, seed: int, env_steps: int
) -> tuple[float, float]:
    """Return what one search earns on held-out episodes, and its simulated seconds."""
    robot = row.policy == "linear"
    with tempfile.TemporaryDirectory() as folder:
        config = SearchConfig(
            task=row.task,
            policy=row.policy,
            optimizer="local_gp",
            env_steps=env_steps,
            seed=seed,
            workers=0,
            asynchronous=kind is AsynchronousSearch,
            fewer_episodes=False,
            test_episodes=TEST_EPISODES // 10 if robot else TEST_EPISODES,
            out=str(Path(folder) / "run"),
        )
        plan = _SlowPlan(**vars(make_plan(config)))
        cluster = SimulatedCluster(plan, workers, _steps if robot else _uneven)
        run = RunFolder.create(Path(folder) / "run", run_record(plan))
        search = kind(plan, run, LocalBackend(cluster), Silent())
        while not search.finished:
            search.step()
        took = cluster.now
        earned, _ = search.test()
        search.close()
        run.release()
        plan.task.close()
    return earned, took


class _SlowPlan(Plan):
    """A plan whose batches are cut as those of a slow simulator, which has no compiled face."""

    @property
    def compiled(self) -> bool:
        """Not compiled."""
        return False


def _steps(chunk: Chunk, result: ChunkResult) -> float:
    """Return the duration of a chunk whose steps take a second each."""
    return float(result.lengths.sum())


def _uneven(chunk: Chunk, result: ChunkResult) -> float:
    """Return the duration of a chunk whose episodes last 1 to 20 s, log-uniform by seed."""
    return float((LONGEST_EPISODE ** (chunk.seeds.astype(np.float64) / 2.0**64)).sum())


def markdown(found: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the part of the page that shows `compare_modes`."""
    head = ("task", "workers", "mode", "seeds", "time", "held-out return", "standard error")
    keys = ("task", "workers", "mode", "seeds", "time", "return_mean")
    return [
        "Episodes of unequal length, on a simulated cluster: those of predator-prey last from 1",
        "to 20, by chance; those of hopper as many steps as they have. Optimiser and messages",
        "take no time. `time` is that of the synchronous search's; `as long` is a synchronous",
        "search whose budget is cut so that it takes about as long as the asynchronous one.",
        "",
        markdown_table(
            head, ([*(row[key] for key in keys), row["return_stderr"] or "-"] for row in found)
        ),
        "",
    ]
