"""The backend of a search on Ray: rollout actors that share each batch, and one optimiser actor."""

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from typing import Any, cast
from uuid import uuid4

import ray

from rolecast.core.patience import STEP_TIMEOUT_S
from rolecast.core.threads import available_cores
from rolecast.platform.actors.cluster import Cluster, require_picklable, resources
from rolecast.platform.actors.dispatcher import dispatchers
from rolecast.platform.actors.exporter import SearchMetrics
from rolecast.platform.actors.messages import ACTOR_DEATHS
from rolecast.platform.actors.optimizer_actor import RemoteSession
from rolecast.platform.actors.ray_evaluator import RayEvaluator
from rolecast.platform.actors.rollout_actor import RolloutActor
from rolecast.platform.optimizers.protocol import OptimizerConfig
from rolecast.platform.rollout.local_evaluator import LocalEvaluator
from rolecast.platform.rollout.sizes import DIRECT_WORKERS
from rolecast.platform.search.progress import ProgressSnapshot
from rolecast.policies.protocol import Policy


class RayBackend:
    """Actors on a cluster."""

    losses: tuple[type[Exception], ...] = ACTOR_DEATHS

    def __init__(
        self,
        source: Any,
        options: Mapping[str, Any],
        policy: Policy,
        *,
        workers: int | None,
        address: str | None,
        step_timeout: float = STEP_TIMEOUT_S,
        forgives: bool = False,
        optimizer: OptimizerConfig | None = None,
        here: LocalEvaluator | None = None,
        alike: bool = False,
        note: Callable[[str], None] = lambda _: None,
    ) -> None:
        """Start the actors, without waiting for them.

        Args:
            source: what `make_task` makes the task from, in every actor.
            options: of the task.
            policy: sent to every actor.
            workers: rollout actors; None is one for each CPU of the cluster.
            address: of the cluster, as in `Cluster`.
            step_timeout: seconds after which a step of a user's environment is ended.
            forgives: whether an episode that fails ends alone, as in `Patience`.
            optimizer: settings by which the optimiser's process loads what it needs; None: later.
            here: as in `RayEvaluator`.
            alike: whether episodes last equally long, so that dispatchers can share them.
            note: tells the user of the cluster, and of workers that are absent or late.
        Raises:
            RequestError: the task cannot be pickled, or the cluster cannot be reached.
            RunError: a cluster cannot be started here.
        """
        require_picklable("task", source)
        self._cluster = Cluster(
            address, workers or available_cores(), workers=workers or 0, note=note
        )
        with ExitStack() as failed:
            failed.callback(self._cluster.close)
            cpus = int(resources().get("CPU", 1))
            self.workers = workers or max(1, cpus)
            # First, as Ray has processes ready for the first actors: a search waits for this alone.
            self._prepared = None if optimizer is None else RemoteSession(optimizer)
            dispatched, search = alike and self.workers > DIRECT_WORKERS, uuid4().hex
            names = [f"{search}-{index}" if dispatched else None for index in range(self.workers)]
            start = cast("Any", RolloutActor).options
            self._actors = [
                start(name=name).remote(source, options, policy, step_timeout, forgives)
                for name in names
            ]
            dealt = dispatchers(list(filter(None, names))) if dispatched else self._actors
            self.evaluator = RayEvaluator(dealt, here=here, room=cpus, note=note)
            failed.pop_all()
        self._metrics: SearchMetrics | None = None

    def optimizer(self, config: OptimizerConfig, *, dimension: int, seed: int) -> RemoteSession:
        """Return a new optimiser, in a process of its own."""
        session = self._prepared or RemoteSession(config)
        self._prepared = None
        session.build(config, dimension=dimension, seed=seed)
        return session

    def export(self, run: str, figures: ProgressSnapshot) -> None:
        """Show where a search stands in Ray's exporter."""
        self._metrics = self._metrics or SearchMetrics(run)
        evaluator = self.evaluator
        self._metrics.show(figures, queued=evaluator.queued, repeated=evaluator.repeated)

    def close(self) -> None:
        """End the actors, and the cluster if it was started here."""
        if not self._cluster.own:  # a cluster that ends takes its actors along, without a word
            self.evaluator.close()
            for actor in self._actors:
                ray.kill(actor)
            if self._prepared is not None:
                self._prepared.close()
        self._cluster.close()
