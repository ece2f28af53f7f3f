"""Who computes for a search: someone who runs episodes, and someone who holds the optimiser."""

from typing import Protocol

from rolecast.envs.spec import BatchedTask
from rolecast.platform.optimizers.protocol import OptimizerConfig
from rolecast.platform.rollout.chunks import Evaluator, LocalEvaluator
from rolecast.platform.search.optimizer_host import Host, OptimizerHost
from rolecast.policies.protocol import Policy


class Crew(Protocol):
    """Evaluator and optimiser of one search, in this process or on Ray."""

    @property
    def evaluator(self) -> Evaluator:
        """Runs episodes."""

    @property
    def losses(self) -> tuple[type[Exception], ...]:
        """Errors that mean that the optimiser's process is gone and can be replaced."""

    def optimizer(self, config: OptimizerConfig, *, dimension: int, seed: int) -> Host:
        """Return a new optimiser; one before is forgotten."""

    def close(self) -> None:
        """End all that it started."""


class LocalCrew:
    """Everything in this process, without Ray."""

    losses: tuple[type[Exception], ...] = ()

    def __init__(self, task: BatchedTask, policy: Policy) -> None:
        self.evaluator = LocalEvaluator(task, policy)

    def optimizer(self, config: OptimizerConfig, *, dimension: int, seed: int) -> Host:
        """Return a new optimiser."""
        return OptimizerHost(config, dimension=dimension, seed=seed)

    def close(self) -> None:
        """End nothing: nothing was started."""
