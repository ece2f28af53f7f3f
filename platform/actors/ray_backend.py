"""The backend of a search on Ray: rollout actors that share each batch, and one optimiser actor."""

from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

import ray

from rolecast.core.errors import RunError
from rolecast.core.threads import available_cores
from rolecast.platform.actors.cluster import Cluster
from rolecast.platform.actors.optimizer_actor import RemoteSession, answer
from rolecast.platform.actors.rollout_actor import CALL_RETRIES, RolloutActor
from rolecast.platform.optimizers.protocol import OptimizerConfig
from rolecast.platform.rollout.chunks import Chunk, ChunkResult
from rolecast.policies.protocol import Policy

COMPILED_CALL_SHARE: Final = 2
"""Calls into which each worker's part of what is left of a compiled batch is cut."""


class RayBackend:
    """Actors on a cluster."""

    losses: tuple[type[Exception], ...] = (ray.exceptions.RayActorError,)

    def __init__(
        self,
        source: Any,
        options: Mapping[str, Any],
        policy: Policy,
        *,
        workers: int | None,
        address: str | None,
    ) -> None:
        """Start the rollout actors.

        Args:
            source: what `make_task` makes the task from, in every actor.
            options: of the task.
            policy: sent to every actor.
            workers: rollout actors; None is one for each CPU of the cluster.
            address: of the cluster, as in `Cluster`.
        Raises:
            RequestError: the cluster cannot be reached.
        """
        self._cluster = Cluster(address, workers or available_cores())
        count = workers or max(1, int(_resources().get("CPU", 1)))
        self.evaluator = RayEvaluator(source, options, policy, count)

    def optimizer(self, config: OptimizerConfig, *, dimension: int, seed: int) -> RemoteSession:
        """Return a new optimiser, in a process of its own."""
        return RemoteSession(config, dimension=dimension, seed=seed)

    def close(self) -> None:
        """End the actors, and the cluster if it was started here."""
        if not self._cluster.own:  # a cluster that ends takes its actors along, without a word
            self.evaluator.close()
        self._cluster.close()


class RayEvaluator:
    """Shares chunks among rollout actors: whoever is idle takes the next."""

    def __init__(
        self, source: Any, options: Mapping[str, Any], policy: Policy, workers: int
    ) -> None:
        start = cast("Any", RolloutActor).remote
        self._actors = [start(source, options, policy) for _ in range(workers)]
        self._busy_s = 0.0

    @property
    def workers(self) -> int:
        """Number of actors."""
        return len(self._actors)

    @property
    def busy_s(self) -> float:
        """Seconds so far in which the most loaded actor of each batch was computing."""
        return self._busy_s

    def evaluate(self, chunks: Sequence[Chunk]) -> list[ChunkResult]:
        """Compute all chunks.

        Raises:
            RunError: the task failed, or its process died again and again on the same call.
        """
        results: dict[int, ChunkResult] = {}
        busy = dict.fromkeys(range(len(self._actors)), 0.0)
        waiting, idle = deque(range(len(chunks))), deque(busy)
        running: dict[Any, tuple[int, list[int]]] = {}
        while waiting or running:
            while waiting and idle:
                size = _call_size(chunks, len(waiting), len(self._actors))
                part = [waiting.popleft() for _ in range(size)]
                actor = idle.popleft()
                call = self._actors[actor].evaluate.remote([chunks[index] for index in part])
                running[call] = actor, part
            done, _ = ray.wait(list(running), num_returns=1)
            actor, part = running.pop(done[0])
            idle.append(actor)
            for index, result in zip(part, self._answer(done[0], chunks, part), strict=True):
                results[index] = result
                busy[actor] += result.seconds
        self._busy_s += max(busy.values())
        return [results[index] for index in range(len(chunks))]

    def pids(self) -> list[int]:
        """Return the process ids of the actors, once everything in them is built."""
        pids: list[int] = answer([actor.pid.remote() for actor in self._actors])
        return pids

    def close(self) -> None:
        """End the actors."""
        for actor in self._actors:
            ray.kill(actor)

    def _answer(self, call: Any, chunks: Sequence[Chunk], part: list[int]) -> list[ChunkResult]:
        try:
            results: list[ChunkResult] = answer(call)
        except ray.exceptions.RayActorError as error:
            label = chunks[part[0]].labels[0]
            raise RunError(
                f"{label}: the process that runs the task died {CALL_RETRIES + 1} times; "
                "expected a task that does not end its process"
            ) from error
        return results


def _call_size(chunks: Sequence[Chunk], waiting: int, workers: int) -> int:
    """Return how many chunks the next call carries.

    Chunks of a compiled task take a millisecond each, as a call does: a call carries a part of
    what is left that shrinks towards the end. Other chunks take far longer and go one by one.
    """
    if chunks[0].compiled:
        return -(-waiting // (COMPILED_CALL_SHARE * workers))
    return 1


def _resources() -> Mapping[str, float]:
    resources: Mapping[str, float] = ray.cluster_resources()  # type: ignore[no-untyped-call]
    return resources
