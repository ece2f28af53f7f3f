"""Observations of a causal graph: what each node's process learns from.

The inputs of a node are its parents' values, scaled by their range, and its actions' places in
[0, 1]. A row in which the node itself was set says nothing of its mechanism, and is left out.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from rolecast.core.errors import ConfigError, RequestError
from rolecast.core.types import Float
from rolecast.core.validation import LARGEST_RETURN
from rolecast.envs.causal.graph import CausalGraph, CausalNode
from rolecast.envs.causal.interventions import InterventionSpace
from rolecast.envs.causal.simulators import NODE_VALUE
from rolecast.platform.optimizers.observations import real_numbers

LEAST_NOISE: Final = 1e-6
"""Least noise variance, as a share of the variance of a node's values; of exact values too."""

LEAST_DEVIATION: Final = 1e-12
"""Deviation of a node's values, or range of a parent's, below which they count as one value."""


class NodeInputs:
    """Columns of each node's inputs: parents by place among the nodes, then actions."""

    def __init__(self, graph: CausalGraph) -> None:
        names = {name: place for place, name in enumerate(graph.names)}
        actions = {each.name: place for place, each in enumerate(graph.actions)}
        self.parents = [[names[p] for p in node.parents] for node in graph.nodes]
        self.actions = [[actions[a] for a in node.actions] for node in graph.nodes]
        self.sizes = [
            max(1, len(p) + len(a)) for p, a in zip(self.parents, self.actions, strict=True)
        ]
        """Inputs of each node; one that is always 0 for a node without any."""


@dataclass(frozen=True, eq=False)
class Observed:
    """N evaluations of m nodes."""

    candidates: Float
    """[N, D], in the unit cube."""

    values: Float
    """[N, m], means over the episodes."""

    variances: Float
    """[N, m], noise variances of these means; NaN where unknown, and then taken for exact."""

    @classmethod
    def none(cls, dimension: int, nodes: int) -> Self:
        """Return no evaluation."""
        return cls(np.zeros((0, dimension)), np.zeros((0, nodes)), np.zeros((0, nodes)))

    def __len__(self) -> int:
        return len(self.candidates)

    def joined(self, other: "Observed") -> "Observed":
        """Return the evaluations of both."""
        parts = ("candidates", "values", "variances")
        return Observed(
            *(np.concatenate([getattr(each, p) for each in (self, other)]) for p in parts)
        )

    def state_dict(self) -> dict[str, Any]:
        """Return copies of all arrays."""
        return {name: np.array(value) for name, value in vars(self).items()}


def node_values(
    graph: CausalGraph,
    returns: Float,
    stderrs: Float | None,
    nodes: Mapping[str, Float],
) -> tuple[Float, Float]:
    """Return values and noise variances [q, m] of what was observed.

    Args:
        graph: whose reward node is the return.
        returns: [q].
        stderrs: [q], of the returns; None where unknown.
        nodes: metric to its values [q, E] in each episode.
    Raises:
        RequestError: a node is missing, has a value that is not finite, or episodes of a node of
            known noise would have to be averaged.
    """
    values = np.empty((len(returns), len(graph.nodes)))
    variances = np.empty_like(values)
    known = [node.observed_as for node in graph.nodes[:-1] if node.observed_as in nodes]
    told = {name: real_numbers(f"nodes[{name!r}]", nodes[name]) for name in known}
    episodes = next((each.shape[1] for each in told.values() if each.ndim == 2), 1)
    for place, node in enumerate(graph.nodes[:-1]):
        if node.observed_as not in told:
            raise RequestError(
                f"node {node.name!r} is not observed: expected metric {node.observed_as!r} among "
                f"{sorted(nodes)}"
            )
        observed = told[node.observed_as]
        if observed.shape != (len(returns), episodes) or not episodes:
            field, shape = f"tell.nodes[{node.observed_as!r}]", (len(returns), max(1, episodes))
            raise ConfigError(field, observed.shape, f"shape {shape}")
        if not (fits := np.abs(observed) <= LARGEST_RETURN).all():
            raise ConfigError(f"node {node.name!r}", float(observed[~fits][0]), NODE_VALUE)
        if episodes > 1 and node.noise.deviation:
            raise ConfigError("episodes of a candidate", episodes, single_episode(node))
        values[:, place] = observed.mean(axis=1)
        variances[:, place] = node.noise.deviation**2 / episodes
        if node.noise.kind == "measured":
            measured = (
                observed.var(axis=1, ddof=1) if episodes > 1 else np.full(len(returns), np.nan)
            )
            variances[:, place] = measured / episodes
    values[:, -1] = returns
    variances[:, -1] = graph.reward.noise.deviation**2 / episodes
    if graph.reward.noise.kind == "measured":
        variances[:, -1] = np.nan if stderrs is None else np.square(stderrs)
    return values, variances


def single_episode(node: CausalNode) -> str:
    """Return what is expected where the model needs each episode of a node, and not their mean."""
    return f"1: node {node.name!r} has known noise, and its children's mechanisms see each value"


@dataclass(frozen=True, eq=False)
class NodeUnits:
    """Scales of inputs, padded to P columns, and of values of m nodes."""

    low: Float
    """[m, P], of each input."""

    width: Float
    """[m, P], range of each input."""

    mean: Float
    """[m], of the values, over the rows that count."""

    deviation: Float
    """[m], of the values, over the rows that count."""


@dataclass(frozen=True, eq=False)
class NodeTargets:
    """What the processes of m nodes are fitted to, inputs padded with zeros to P columns."""

    inputs: Float
    """[m, N, P], in [0, 1] where the units are those of these rows."""

    targets: Float
    """[m, N], standardised by the units; 0 in rows that do not count."""

    noise: Float
    """[m, N], noise variances of the targets; 1 in rows that do not count."""

    counts: NDArray[np.bool_]
    """[m, N], whether a row counts: the node was not set in it."""

    units: NodeUnits
    """Scales of all."""


def node_targets(
    space: InterventionSpace,
    inputs: NodeInputs,
    data: Observed,
    units: NodeUnits | None = None,
) -> NodeTargets:
    """Return inputs and standardised targets of all nodes.

    Args:
        space: of the interventions.
        inputs: columns of each node.
        data: one evaluation or more.
        units: scales; None: of the data.
    """
    chosen, places = space.decode(data.candidates)
    soft = len(space.graph.actions)
    settable = {each.name: soft + k for k, each in enumerate(space.graph.do)}
    counts = np.ones((len(inputs.sizes), len(data)), dtype=np.bool_)
    for i, node in enumerate(space.graph.nodes):
        if node.name in settable:
            counts[i] = ~space.members[chosen, settable[node.name]]
    if units is None:
        units = _node_units(inputs, data, counts)
    rows = np.zeros((*counts.shape, max(inputs.sizes)))
    for i, (parents, actions) in enumerate(zip(inputs.parents, inputs.actions, strict=True)):
        end = len(parents)
        rows[i, :, :end] = (data.values[:, parents] - units.low[i, :end]) / units.width[i, :end]
        rows[i, :, end : end + len(actions)] = places[:, actions]
    mean, deviation = units.mean[:, None], units.deviation[:, None]
    noise = np.nan_to_num(data.variances.T, nan=0.0) / deviation**2
    return NodeTargets(
        inputs=rows,
        targets=np.where(counts, (data.values.T - mean) / deviation, 0.0),
        noise=np.where(counts, np.maximum(noise, LEAST_NOISE), 1.0),
        counts=counts,
        units=units,
    )


def _node_units(inputs: NodeInputs, data: Observed, counts: NDArray[np.bool_]) -> NodeUnits:
    """Return the ranges of parents, and mean and deviation of values over the rows that count."""
    shape = (len(inputs.sizes), max(inputs.sizes))
    low, width = np.zeros(shape), np.ones(shape)
    for i, parents in enumerate(inputs.parents):
        if parents:
            known, end = data.values[:, parents], len(parents)
            low[i, :end] = known.min(axis=0)
            span, size = known.max(axis=0) - low[i, :end], np.abs(known).max(axis=0)
            width[i, :end] = np.where(span > LEAST_DEVIATION * size, span, 1.0)
    weights = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    mean = (weights * data.values.T).sum(axis=1)
    spread = (weights * np.square(data.values.T - mean[:, None])).sum(axis=1) ** 0.5
    size = np.abs(np.where(counts, data.values.T, 0.0)).max(axis=1)
    deviation = np.where(spread > LEAST_DEVIATION * size, spread, 1.0)
    return NodeUnits(low=low, width=width, mean=mean, deviation=deviation)
