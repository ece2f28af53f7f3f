"""A process that runs episodes: it keeps a task and a policy, and forwards to them.

What it computes is given by weights and seeds, so it may die at any moment: Ray starts it again
and repeats its call, and nobody can tell from the returns.
"""

import os
import socket
from collections.abc import Mapping
from typing import Any

import ray

from rolecast.core.patience import STEP_TIMEOUT_S, Patience
from rolecast.envs.registry import make_task
from rolecast.platform.actors.assignment import Reply, packed, unpacked
from rolecast.platform.actors.cluster import CALL_RETRIES
from rolecast.platform.rollout.chunks import first_chunk
from rolecast.platform.rollout.local_evaluator import LocalEvaluator
from rolecast.policies.protocol import Policy


@ray.remote(num_cpus=1, max_restarts=-1, max_task_retries=CALL_RETRIES)
class RolloutActor:
    """Keeps a task and a policy in one process; computes nothing itself."""

    def __init__(
        self,
        source: Any,
        options: Mapping[str, Any],
        policy: Policy,
        step_timeout: float = STEP_TIMEOUT_S,
        forgives: bool = False,
    ) -> None:
        os.environ["OMP_NUM_THREADS"] = "1"  # for what the task loads; workers share the cores
        task = make_task(source, **options)
        patience = Patience(step_timeout, forgives=forgives)
        self._evaluator = LocalEvaluator(task, policy, patience=patience)
        if hasattr(task, "lanes"):  # half a second that the first batch would wait for
            self._evaluator.play(first_chunk(policy.space.dimension))

    def place(self) -> tuple[Mapping[str, int], int]:
        """Return machine to rollout actors, one, and the process id, once everything is built."""
        return {socket.gethostname(): 1}, os.getpid()

    def evaluate(self, chunks: bytes) -> bytes:
        """Compute packed chunks, one after the other; return the packed reply."""
        return packed(Reply(results=self._evaluator.evaluate(unpacked(chunks))))
