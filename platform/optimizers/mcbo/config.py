"""Settings of MCBO, and its acquisition function: the most that plausible mechanisms allow.

Equation 12 of the MCBO paper (Sussex, Makarova and Krause 2023): a_t maximises, over interventions
and eta, the expected reward of the rollout of equation 11, whose nodes are mu + beta s eta + w.
Without a graph all coordinates enter the reward, and MCBO is GP-UCB.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from torch import Tensor

from rolecast.core.types import Float
from rolecast.core.validation import (
    BOOLEAN_VALUE,
    NOT_NEGATIVE,
    POSITIVE_INTEGER,
    Rules,
    check,
    or_none,
)
from rolecast.envs.causal.graph import ActionRange, CausalGraph, CausalNode, NodeNoise
from rolecast.envs.causal.graph_file import graph_from_json
from rolecast.platform.optimizers.mcbo.graph_model import GraphModel, node_noise
from rolecast.platform.optimizers.mcbo.maximisation import (
    Points,
    Value,
    best_starts,
    climb,
    drawn_points,
    score,
)
from rolecast.platform.optimizers.mcbo.optimism import ConstantOptimism, NetOptimism, Optimism
from rolecast.platform.optimizers.mcbo.search import CausalSearch, Proposer
from rolecast.platform.optimizers.protocol import Proposal
from rolecast.platform.surrogate.dense import check_device, find_device

CAUSAL_BATCHES: Final = 20
"""Batches into which a budget is divided, at least."""

CAUSAL_RULES: Final[Rules] = {
    "starts": POSITIVE_INTEGER,
    "raw_samples": POSITIVE_INTEGER,
    "steps": POSITIVE_INTEGER,
    "samples": POSITIVE_INTEGER,
    "constant_mean": BOOLEAN_VALUE,
}
"""Allowed values of the settings of a model and its maximisation."""


@dataclass(frozen=True, kw_only=True)
class CausalConfig:
    """Settings that all searches over interventions share."""

    graph: Mapping[str, Any] | None = None
    """Causal graph as JSON values, whose nodes are metrics of the task. None: that of a task that
    is one, such as `causal:toy`; else all coordinates enter the reward."""

    def __post_init__(self) -> None:
        check(type(self).__name__, vars(self), CAUSAL_RULES)
        if self.graph is not None:
            graph_from_json(self.graph)

    def with_graph(self, graph: CausalGraph) -> "CausalConfig":
        """Return these settings with the graph of a task, unless they have one."""
        return self if self.graph is not None else replace(self, graph=graph.to_json())

    @property
    def observed_metrics(self) -> tuple[str, ...]:
        """Metrics that have to be told: those of all nodes but the reward."""
        if self.graph is None:
            return ()
        return tuple(node.observed_as for node in graph_from_json(self.graph).nodes[:-1])

    def resolved_graph(self, dimension: int) -> CausalGraph:
        """Return the graph; without one, that in which all coordinates enter the reward."""
        return reward_graph(dimension) if self.graph is None else graph_from_json(self.graph)

    def proposal(self, budget_episodes: int) -> Proposal:
        """Return one episode an evaluation, in single candidates or in batches of 20 at least."""
        return Proposal(episodes=1, batch_size=max(1, budget_episodes // 100 // CAUSAL_BATCHES))


@dataclass(frozen=True, kw_only=True)
class ProcessConfig(CausalConfig):
    """Settings of searches that model what they have seen by Gaussian processes."""

    raw_samples: int = 256
    """Random points of an acquisition, of which the best are climbed."""

    samples: int = 32
    """Common samples of the noise by which expectations are taken."""

    constant_mean: bool = False
    """Prior mean of each process: a constant that is not known, as in the authors' code. False: the
    mean of its targets, the zero mean of the paper for standardised ones."""


@dataclass(frozen=True, kw_only=True)
class RewardNoiseConfig(ProcessConfig):
    """Settings of searches whose processes are of the reward at fixed interventions."""

    reward_noise: float | None = None
    """Standard deviation of the reward at fixed interventions, at least 0; None: of its own node's
    noise alone."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check(type(self).__name__, vars(self), {"reward_noise": or_none(NOT_NEGATIVE)})


@dataclass(frozen=True, kw_only=True)
class ClimbConfig(ProcessConfig):
    """Settings of searches that climb an acquisition by its gradient."""

    starts: int = 12
    """Points from which an acquisition is climbed, at least one for each set of interventions."""

    steps: int = 50
    """Most steps of a climb, which all starts take together; the best then takes as many alone."""

    device: str = "cpu"
    """Device of the model: cpu, cuda, or cuda:1 and so on."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_device(f"{type(self).__name__}.device", self.device)

    def search_of(
        self, graph: CausalGraph, proposer: Proposer, *, dimension: int, seed: int
    ) -> CausalSearch:
        """Return a fresh search of a graph, on the device of these settings.

        Raises:
            RequestError: torch does not find the device, or the graph has another dimension.
        """
        find_device(f"{type(self).__name__}.device", self.device)
        return CausalSearch(
            graph,
            proposer,
            dimension=dimension,
            seed=seed,
            constant_mean=self.constant_mean,
            device=self.device,
        )


def reward_graph(dimension: int, noise: NodeNoise | None = None) -> CausalGraph:
    """Return the graph of figure 1a: every coordinate enters the reward, and nothing else does."""
    names = tuple(f"x{k}" for k in range(dimension))
    node = CausalNode(name="reward", actions=names, noise=noise or NodeNoise(kind="measured"))
    return CausalGraph(nodes=(node,), actions=tuple(ActionRange(name=name) for name in names))


@dataclass(frozen=True, kw_only=True)
class McboConfig(ClimbConfig):
    """Model-based causal Bayesian optimisation: a process a node, optimistic rollouts."""

    beta: float = 0.5
    """Width of the plausible band of every node, in posterior standard deviations; at least 0."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check(type(self).__name__, vars(self), {"beta": NOT_NEGATIVE})

    def build(self, *, dimension: int, seed: int) -> CausalSearch:
        """Return a fresh search."""
        graph = self.resolved_graph(dimension)
        return self.search_of(graph, OptimisticProposer(self), dimension=dimension, seed=seed)


class OptimisticProposer:
    """Maximiser of equation 12."""

    def __init__(self, config: McboConfig) -> None:
        self._config = config

    def propose(
        self, model: GraphModel, good: Float, rng: np.random.Generator
    ) -> tuple[Float, float]:
        """Return the candidate [D] of highest optimistic reward, and that reward."""
        config = self._config
        noise = node_noise(model.space, config.samples, rng, config.device)
        optimism = optimism_for(model)
        value = optimistic_value(model, optimism, noise, config.beta)
        points = drawn_points(model.space, optimism.draw, config.raw_samples, good, rng)
        return climbed(config, model, value, points, optimism.bounds)


def optimism_for(model: GraphModel) -> Optimism:
    """Return eta as a net a node where there is noise, else as a constant."""
    return (NetOptimism if model.space.graph.noisy else ConstantOptimism)(model.inputs.sizes)


def optimistic_value(model: GraphModel, optimism: Optimism, noise: Tensor, beta: float) -> Value:
    """Return the expected reward of equation 12 as a function of interventions and eta."""

    def value(places: Tensor, chosen: Tensor, parameters: Tensor) -> Tensor:
        deviates = optimism.deviates(parameters)
        nodes = model.rollout(places, chosen, noise=noise, deviates=deviates, beta=beta)
        return nodes[..., -1].mean(dim=1)

    return value


def climbed(
    config: ClimbConfig,
    model: GraphModel,
    value: Value,
    points: Points,
    bounds: list[tuple[float, float]],
) -> tuple[Float, float]:
    """Return the candidate [D] that a climb from the best of many points reaches, and its value."""
    first = score(value, points, config.device)
    starts = best_starts(points, first, config.starts, len(model.space.sets))
    ends = climb(value, starts, bounds, steps=config.steps, device=config.device)
    row = int(score(value, ends, config.device).argmax())
    # All starts share one line search, which stops short of each maximum: the best goes on alone.
    best = climb(value, ends[slice(row, row + 1)], bounds, steps=config.steps, device=config.device)
    found = model.space.encode(best.chosen, best.places)
    return np.asarray(found[0]), float(score(value, best, config.device)[0])
