"""Causal problems: a graph with a simulator, and its task of one step.

The action is the intervention, and all nodes are metrics.
"""

from collections.abc import Mapping
from typing import Final, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from rolecast.core.errors import ConfigError, RequestError, require_known, stepped_outside
from rolecast.core.patience import Patience
from rolecast.core.types import Float, Seeds
from rolecast.envs.causal.graph import CausalGraph
from rolecast.envs.causal.interventions import InterventionSpace
from rolecast.envs.causal.simulators import (
    Mechanism,
    NodeSimulator,
    OneByOne,
    Simulate,
    StructuralModel,
)
from rolecast.envs.spec import TaskSpec

EXPECTATION_DRAWS: Final = 100_000
"""Draws of the noise by which E[Y | a] is estimated, as in the experiments of the MCBO paper."""

PAPER_SOURCE: Final = "Sussex et al. 2023, figure 3"


@runtime_checkable
class HasCausalGraph(Protocol):
    """Task whose metrics are the nodes of a causal graph that is known."""

    @property
    def graph(self) -> CausalGraph:
        """The graph; its last node is the reward."""


@runtime_checkable
class HasCausalProblem(HasCausalGraph, Protocol):
    """Task whose simulator is known, too."""

    @property
    def problem(self) -> "CausalProblem":
        """Graph and simulator."""


class CausalProblem:
    """A graph and a simulator. Called, it makes its task, so it can stand where a factory can."""

    def __init__(
        self, graph: CausalGraph, simulate: Simulate | Mapping[str, Mechanism], *, summary: str = ""
    ) -> None:
        """Put them together.

        Args:
            graph: checked already.
            simulate: a function from interventions and a generator to all nodes by name; or a
                mechanism of each node, vectorised, to which the graph's noise is added.
            summary: one line.
        Raises:
            RequestError: no graph, a node without a mechanism, or one of no node.
        """
        if not isinstance(graph, CausalGraph):
            expected = "a CausalGraph, such as graph_from_networkx makes of a DiGraph"
            raise ConfigError("CausalProblem.graph", graph, expected)
        self.graph, self.summary = graph, summary
        self.space = InterventionSpace(graph)
        self.simulator: NodeSimulator
        if callable(simulate):
            self.simulator = OneByOne(graph, simulate)
        else:
            if not isinstance(simulate, Mapping):
                expected = "a function, or a mechanism of each node by name"
                raise ConfigError("CausalProblem.simulate", simulate, expected)
            require_known("node of CausalProblem.simulate:", simulate, graph.names)
            for name in graph.names:
                if not callable(simulate.get(name)):
                    raise RequestError(f"node {name!r} has no mechanism; expected a function")
            self.simulator = StructuralModel(graph, simulate)

    def __call__(self, task_id: str = "python:causal:problem") -> "CausalTask":
        """Return the task of this problem."""
        return CausalTask(self, task_id)

    def expected_rewards(
        self, candidates: Float, *, draws: int = EXPECTATION_DRAWS, seed: int = 0
    ) -> Float | None:
        """Return E[Y | a] [q] of candidates [q, D] over common draws; None for a user's simulator.

        Exact where the graph has no noise. None, too, where a mechanism gives no number for one of
        the draws, which an episode may not have met.
        """
        if not isinstance(self.simulator, StructuralModel):
            return None
        found = self.simulator.expected_rewards(self.space.values(candidates), draws, seed)
        return found if np.isfinite(found).all() else None

    def reward_deviation(self, *, points: int = 64, draws: int = 512) -> float | None:
        """Return the root mean variance of the reward at fixed, random interventions.

        None for a user's simulator, which may be slow.
        """
        if not isinstance(self.simulator, StructuralModel):
            return None
        if not self.graph.noisy:
            return 0.0
        rng = np.random.default_rng(0)
        values = self.space.values(rng.random((points, self.space.dimension)))
        seeds = rng.integers(1 << 63, size=points * draws, dtype=np.uint64)
        nodes = self.simulator.draw(np.repeat(values, draws, axis=0), seeds)
        rewards = nodes[self.graph.reward.name].reshape(points, draws)
        return float(np.sqrt(rewards.var(axis=1, ddof=1).mean()))


class CausalTask:
    """Task of a causal problem; see `rolecast.envs.spec.BatchedTask`."""

    patience: Patience | None = None
    """Ends a call of a user's simulator that lasts too long; None: it lasts as it lasts."""

    def __init__(self, problem: CausalProblem, task_id: str, source: str = "") -> None:
        self.problem = problem
        self._spec = TaskSpec(
            id=task_id,
            agents=1,
            observation_size=1,
            action_size=problem.space.dimension,
            horizon=1,
            summary=problem.summary or "a causal graph; the action is an intervention",
            source=source,
        )
        self._seeds: Seeds | None = None
        self._done = False

    @property
    def spec(self) -> TaskSpec:
        """Sizes of the task."""
        return self._spec

    @property
    def graph(self) -> CausalGraph:
        """Graph of the metrics."""
        return self.problem.graph

    def named(self, task_id: str) -> "CausalTask":
        """Return the same task by another id."""
        return CausalTask(self.problem, task_id, self._spec.source)

    def reset(self, seeds: Seeds) -> Float:
        """Begin B episodes; return observations [B, 1, 1], which are 0."""
        self._seeds, self._done = np.array(seeds, dtype=np.uint64), False
        return np.zeros((len(self._seeds), 1, 1))

    def step(self, actions: Float) -> tuple[Float, Float, NDArray[np.bool_], Mapping[str, Float]]:
        """Intervene once; see `BatchedTask.step`.

        Args:
            actions: [B, 1, D]; (a + 1) / 2 is the point of the intervention space.
        Returns:
            The reward node as reward, and each node as a metric.
        Raises:
            RequestError: no episode has begun, or the simulator leaves out a node or gives it what
                is no finite number.
            StepTimeoutError: the simulator has not answered within the task's patience.
        """
        if self._seeds is None:
            raise stepped_outside(self.spec.id)
        count = len(self._seeds)
        observations, done = np.zeros((count, 1, 1)), np.ones(count, dtype=np.bool_)
        if self._done:
            still = {node.name: np.zeros(count) for node in self.graph.nodes}
            return observations, np.zeros(count), done, still
        self._done = True
        points = np.clip(0.5 * (np.asarray(actions)[:, 0] + 1.0), 0.0, 1.0)
        simulator, values = self.problem.simulator, self.problem.space.values(points)
        if isinstance(simulator, OneByOne):
            nodes = simulator.draw(values, self._seeds, self.patience)
        else:
            nodes = simulator.draw(values, self._seeds)
        return observations, nodes[self.graph.reward.name], done, nodes

    def close(self) -> None:
        """Nothing to release."""
        self._seeds = None
