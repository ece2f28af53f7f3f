"""The backend of a search: where episodes run and where the optimiser is held."""

from importlib import import_module
from typing import Final, Protocol

from rolecast.envs.spec import BatchedTask
from rolecast.platform.optimizers.protocol import OptimizerConfig
from rolecast.platform.rollout.chunks import Evaluator, LocalEvaluator
from rolecast.platform.search.plan import Plan
from rolecast.platform.search.session import LocalSession, OptimizerSession
from rolecast.policies.protocol import Policy

RAY_BACKEND: Final = "rolecast.platform.actors.ray_backend"
"""Module of `RayBackend`; beside this room, so it is found by name, and loads Ray."""


class Backend(Protocol):
    """Evaluator and optimiser of one search, in this process or on Ray."""

    @property
    def evaluator(self) -> Evaluator:
        """Runs episodes."""

    @property
    def losses(self) -> tuple[type[Exception], ...]:
        """Errors that mean that the optimiser's process is gone and can be replaced."""

    def optimizer(self, config: OptimizerConfig, *, dimension: int, seed: int) -> OptimizerSession:
        """Return a new optimiser; one before is forgotten."""

    def close(self) -> None:
        """End all that it started."""


class LocalBackend:
    """Everything in this process, without Ray."""

    losses: tuple[type[Exception], ...] = ()

    def __init__(self, task: BatchedTask, policy: Policy) -> None:
        self.evaluator = LocalEvaluator(task, policy)

    def optimizer(self, config: OptimizerConfig, *, dimension: int, seed: int) -> OptimizerSession:
        """Return a new optimiser."""
        return LocalSession(config, dimension=dimension, seed=seed)

    def close(self) -> None:
        """End nothing: nothing was started."""


def backend_for(plan: Plan) -> Backend:
    """Return the backend of a search: this process, or actors on Ray.

    Raises:
        RequestError: the cluster cannot be reached.
    """
    config = plan.config
    if config.workers == 0:
        return LocalBackend(plan.task, plan.policy)
    backend: Backend = import_module(RAY_BACKEND).RayBackend(
        plan.source,
        config.task_options,
        plan.policy,
        workers=config.workers,
        address=config.address,
    )
    return backend
