"""A process between a driver and some rollout actors, so that a driver of many talks to few.

It knows its rollout actors by name: when it is lost, Ray starts it again and it goes on with the
same ones; what it owed meanwhile is given to other dispatchers.
"""

import os
from collections.abc import Mapping, Sequence
from typing import Any, cast

import ray

from rolecast.platform.actors.assignment import Reply, packed, unpacked
from rolecast.platform.actors.cluster import CALL_RETRIES
from rolecast.platform.actors.ray_evaluator import RayEvaluator
from rolecast.platform.rollout.sizes import DISPATCHED_WORKERS


@ray.remote(num_cpus=0, max_restarts=-1, max_task_retries=CALL_RETRIES)
class Dispatcher:
    """Shares what it is given among its rollout actors."""

    def __init__(self, names: Sequence[str]) -> None:
        """Take up the rollout actors of these names.

        Handles as arguments would make Ray warn that it may lose them before a restart.
        """
        self._notes: list[str] = []
        actors = [ray.get_actor(name) for name in names]
        self._evaluator = RayEvaluator(actors, note=self._notes.append)

    def place(self) -> tuple[Mapping[str, int], int]:
        """Return machine to its rollout actors there, and the process id, once one has started."""
        self._evaluator.await_first()
        return self._evaluator.nodes, os.getpid()

    def evaluate(self, chunks: bytes) -> bytes:
        """Share packed chunks; return the packed reply."""
        before = self._evaluator.repeated
        results = self._evaluator.evaluate(unpacked(chunks))
        reply = Reply(
            results=results,
            nodes=self._evaluator.nodes,
            notes=tuple(self._notes),
            repeated=self._evaluator.repeated - before,
        )
        self._notes.clear()
        return packed(reply)


def dispatchers(names: Sequence[str]) -> list[Any]:
    """Return new dispatchers of the rollout actors of these names."""
    count = -(-len(names) // DISPATCHED_WORKERS)
    start = cast("Any", Dispatcher).remote
    return [start(list(names[index::count])) for index in range(count)]
