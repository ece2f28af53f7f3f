"""A process that holds the optimiser of a search; the driver gives it work and takes its state.

It is never restarted by Ray, which would forget what it was told: whoever holds a `RemoteSession`
sees the loss and rebuilds it (`rolecast.platform.search.resilient_optimizer`).
"""

import os
from importlib import import_module
from typing import Any, cast

import ray

from rolecast.platform.actors.cluster import require_gpu
from rolecast.platform.actors.messages import answer
from rolecast.platform.optimizers.protocol import OptimizerConfig, device_of
from rolecast.platform.search.session import (
    BatchRequest,
    EvaluatedBatch,
    LocalSession,
    OptimizerReply,
)


@ray.remote(num_cpus=0, max_restarts=0)
class OptimizerActor:
    """Holds an optimiser; computes nothing itself."""

    def __init__(self, module: str) -> None:
        """Load the optimiser's module, which takes seconds.

        The optimiser is built later, when the structure of the policy is known.
        """
        os.environ["OMP_NUM_THREADS"] = "1"
        import_module(module)

    def build(self, config: OptimizerConfig, dimension: int, seed: int) -> None:
        """Build the optimiser."""
        self._session = LocalSession(config, dimension=dimension, seed=seed)

    def pid(self) -> int:
        """Return the process id."""
        return os.getpid()

    def restore(self, state: dict[str, Any]) -> None:
        """Continue from a state."""
        self._session.restore(state)

    def forget_pending(self) -> None:
        """Count on no candidate that was asked for and not told."""
        self._session.forget_pending()

    def tell_and_ask(
        self, told: EvaluatedBatch | None, wanted: BatchRequest | None, *, keep: bool
    ) -> OptimizerReply:
        """Tell, keep the state if `keep`, and ask."""
        return self._session.tell_and_ask(told, wanted, keep=keep)


class RemoteSession:
    """The driver's side of an optimiser actor, which has a GPU where its settings name one."""

    def __init__(self, config: OptimizerConfig) -> None:
        """Start the actor, without waiting for it.

        Raises:
            ConfigError: the settings name a GPU, and the cluster has none.
        """
        device = device_of(config)
        require_gpu(device)
        actor = cast("Any", OptimizerActor).options(num_gpus=int(device != "cpu"))
        self._actor = actor.remote(type(config).__module__)

    def build(self, config: OptimizerConfig, *, dimension: int, seed: int) -> None:
        """Build the optimiser in the actor."""
        answer(self._actor.build.remote(config, dimension, seed))

    def pid(self) -> int:
        """Return the process id of the actor."""
        pid: int = answer(self._actor.pid.remote())
        return pid

    def restore(self, state: dict[str, Any]) -> None:
        """Continue from a state."""
        answer(self._actor.restore.remote(state))

    def forget_pending(self) -> None:
        """Count on no candidate that was asked for and not told."""
        answer(self._actor.forget_pending.remote())

    def tell_and_ask(
        self, told: EvaluatedBatch | None, wanted: BatchRequest | None, *, keep: bool = False
    ) -> OptimizerReply:
        """Tell, keep the state if `keep`, and ask."""
        reply: OptimizerReply = answer(self._actor.tell_and_ask.remote(told, wanted, keep=keep))
        return reply

    def close(self) -> None:
        """End the actor."""
        ray.kill(self._actor)
