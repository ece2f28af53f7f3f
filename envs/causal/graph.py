"""Causal graphs as data: nodes in topological order, interventions and noise, checked when built.

Source: section 2 of the MCBO paper (Sussex, Makarova and Krause 2023). A soft intervention is an
action that is a further parent of nodes (equation 2); a hard one is do(X_i = a_i) (equation 6).
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final, Literal

import numpy as np

from rolecast.core.errors import ConfigError, RequestError, require_known
from rolecast.core.types import Float
from rolecast.core.validation import FINITE_NUMBER

GRAPH_SCHEMA: Final = "rolecast.causal_graph/1"
"""Schema of a graph as JSON values."""

NOISE_KINDS: Final = ("none", "normal", "uniform", "measured")


@dataclass(frozen=True, kw_only=True)
class NodeNoise:
    """Additive noise of a node, of mean zero and independent of all other nodes."""

    kind: Literal["none", "normal", "uniform", "measured"] = "none"
    """Distribution. "measured": its variance is that of the mean over the episodes of an
    evaluation, by their standard error."""

    scale: float = 0.0
    """Standard deviation of "normal", half width of "uniform"; 0 for the other kinds."""

    def __post_init__(self) -> None:
        require_known("NodeNoise.kind", [self.kind], NOISE_KINDS)
        spread = self.kind in {"normal", "uniform"}
        if not FINITE_NUMBER.allows(self.scale) or (
            self.scale <= 0.0 if spread else self.scale != 0.0
        ):
            expected = f"a number > 0 for kind {self.kind!r}" if spread else f"0 for {self.kind!r}"
            raise ConfigError("NodeNoise.scale", self.scale, expected)
        object.__setattr__(self, "scale", float(self.scale))

    @property
    def deviation(self) -> float:
        """Standard deviation of one observation; 0 where it is not known before."""
        return self.scale / 3.0**0.5 if self.kind == "uniform" else self.scale

    def quantiles(self, uniforms: Float) -> Float:
        """Return the noise at probabilities in (0, 1), of any shape."""
        if self.kind == "normal":
            from scipy.special import ndtri

            return np.asarray(self.scale * ndtri(uniforms))
        return np.asarray(self.scale * (2.0 * uniforms - 1.0))


@dataclass(frozen=True, kw_only=True)
class ActionRange:
    """An intervention and its range: soft by the name of an action, hard by that of a node."""

    name: str
    """Name of the action, or of the node that is set."""

    low: float = 0.0
    """Least value."""

    high: float = 1.0
    """Greatest value, above the least."""

    def __post_init__(self) -> None:
        bounds = (self.low, self.high)
        if not all(map(FINITE_NUMBER.allows, bounds)) or not (
            0.0 < float(self.high) - float(self.low) < float("inf")
        ):
            expected = "finite numbers, low < high, whose difference is finite"
            raise ConfigError(f"range of {self.name!r}", bounds, expected)
        object.__setattr__(self, "low", float(self.low))
        object.__setattr__(self, "high", float(self.high))


@dataclass(frozen=True, kw_only=True)
class CausalNode:
    """An observed quantity and its causes."""

    name: str
    """Name, under which a task's metrics have it."""

    parents: tuple[str, ...] = ()
    """Nodes that it depends on directly; all stand before it."""

    actions: tuple[str, ...] = ()
    """Soft interventions that it depends on directly."""

    noise: NodeNoise = field(default_factory=NodeNoise)
    """Known noise."""

    metric: str | None = None
    """Metric of the task that observes it; None: that of its name. The reward node has none."""

    mechanism: str = ""
    """Its equation in words, for reports."""

    def __post_init__(self) -> None:
        for field_name, value in (("metric", self.metric or ""), ("mechanism", self.mechanism)):
            if not isinstance(value, str):
                raise ConfigError(f"{field_name} of node {self.name!r}", value, "a text")
        for field_name in ("parents", "actions"):
            owner = f"{field_name} of node {self.name!r}"
            names = _all_of(owner, getattr(self, field_name), str, "names")
            object.__setattr__(self, field_name, names)
        if not isinstance(self.noise, NodeNoise):
            raise ConfigError(f"noise of node {self.name!r}", self.noise, "a NodeNoise")

    @property
    def observed_as(self) -> str:
        """Name of the metric that observes it."""
        return self.metric or self.name


@dataclass(frozen=True, kw_only=True)
class CausalGraph:
    """Nodes in topological order, the reward last, and the interventions that are allowed."""

    nodes: tuple[CausalNode, ...]
    """All nodes; the last one is the reward, and all others lead to it."""

    actions: tuple[ActionRange, ...] = ()
    """Soft interventions."""

    do: tuple[ActionRange, ...] = ()
    """Nodes that may be set, and to which values."""

    sets: tuple[tuple[str, ...], ...] | None = None
    """Sets of names of interventions that are allowed together. None: all soft interventions at
    once; with hard ones or a limit, every minimal intervention set."""

    limit: int | None = None
    """Greatest number of interventions at once; None: no limit (equation 1)."""

    def __post_init__(self) -> None:
        kinds = {"nodes": CausalNode, "actions": ActionRange, "do": ActionRange}
        for name, kind in kinds.items():
            entries = _all_of(f"CausalGraph.{name}", getattr(self, name), kind)
            object.__setattr__(self, name, entries)
        if self.sets is not None:
            sets = _all_of("CausalGraph.sets", self.sets, Sequence, "sets of names")
            sets = tuple(_all_of("a set of CausalGraph.sets", one, str, "names") for one in sets)
            object.__setattr__(self, "sets", sets)
        if not self.nodes:
            raise ConfigError("CausalGraph.nodes", self.nodes, "one node or more")
        _require_once("CausalGraph.nodes", self.names)
        _require_once("CausalGraph.actions", [each.name for each in self.actions])
        _require_once("CausalGraph.do", [each.name for each in self.do])
        self._check_parents()
        self._check_metrics()
        self._check_interventions()

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the nodes."""
        return tuple(node.name for node in self.nodes)

    @property
    def reward(self) -> CausalNode:
        """The node that is maximised."""
        return self.nodes[-1]

    @property
    def interventions(self) -> tuple[ActionRange, ...]:
        """Soft interventions, then hard ones: the A coordinates of an intervention."""
        return (*self.actions, *self.do)

    @property
    def noisy(self) -> bool:
        """Whether a node has noise of a known distribution."""
        return any(node.noise.kind in {"normal", "uniform"} for node in self.nodes)

    def causes_of_reward(self, cut: Collection[str]) -> set[str]:
        """Return the names of the reward and of all its direct and indirect causes.

        Args:
            cut: nodes whose own causes do not count.
        """
        parents = {node.name: node.parents for node in self.nodes}
        reached, waiting = set[str](), [self.reward.name]
        while waiting:
            name = waiting.pop()
            if name not in reached:
                reached.add(name)
                waiting += () if name in cut else parents[name]
        return reached

    def _check_parents(self) -> None:
        """Refuse unknown parents, causes that stand after their effects, and other rewards."""
        for place, node in enumerate(self.nodes):
            for parent in node.parents:
                require_known(f"parent of node {node.name!r}:", [parent], self.names)
                if self.names.index(parent) >= place:
                    raise ConfigError(
                        f"parents of node {node.name!r}",
                        node.parents,
                        f"nodes before it: {parent!r} is not, or causes go round in a cycle",
                    )
            _require_once(f"parents of node {node.name!r}", node.parents)
        causes = {parent for node in self.nodes for parent in node.parents}
        ends = [name for name in self.names if name not in causes]
        if ends != [self.reward.name]:
            expected = f"{self.reward.name!r} alone, the reward; leave out what does not lead to it"
            raise ConfigError("nodes of the graph without an effect", ends, expected)

    def _check_metrics(self) -> None:
        """Refuse a metric of the reward, and one metric of two nodes."""
        if self.reward.metric is not None:
            owner = f"metric of node {self.reward.name!r}"
            raise ConfigError(owner, self.reward.metric, "none, as the reward is the return")
        observers: dict[str, str] = {}
        for node in self.nodes[:-1]:
            other = observers.setdefault(node.observed_as, node.name)
            if other != node.name:
                owner = f"metric of nodes {other!r} and {node.name!r}"
                raise ConfigError(owner, node.observed_as, "one metric for each node")

    def _check_interventions(self) -> None:
        """Refuse actions and settable nodes that are unknown or of no use, sets and limits."""
        actions = [each.name for each in self.actions]
        used = {name for node in self.nodes for name in node.actions}
        for node in self.nodes:
            require_known(f"action of node {node.name!r}:", node.actions, actions)
            _require_once(f"actions of node {node.name!r}", node.actions)
        for name in actions:
            if name not in used:
                raise ConfigError("CausalGraph.actions", name, "an action that enters a node")
            if name in self.names:
                raise ConfigError("CausalGraph.actions", name, "a name that is no node's")
        for each in self.do:
            require_known("settable node", [each.name], self.names)
            if each.name == self.reward.name:
                raise ConfigError("CausalGraph.do", each.name, "a node other than the reward")
        if not self.interventions:
            raise RequestError("CausalGraph has no interventions; expected actions or do")
        self._check_sets()

    def _check_sets(self) -> None:
        names = [each.name for each in self.interventions]
        if self.limit is not None and (type(self.limit) is not int or self.limit < 1):
            raise ConfigError("CausalGraph.limit", self.limit, "an integer >= 1, or none")
        if self.sets is None:
            return
        if not self.sets:
            raise ConfigError("CausalGraph.sets", self.sets, "one set or more, or none")
        for one in self.sets:
            _require_once("a set of CausalGraph.sets", one)
            require_known("intervention in CausalGraph.sets:", one, names)
            if self.limit is not None and len(one) > self.limit:
                raise ConfigError(
                    "CausalGraph.sets", one, f"at most {self.limit} interventions, its limit"
                )

    def to_json(self) -> dict[str, Any]:
        """Return the graph as JSON values."""
        return {"schema": GRAPH_SCHEMA, **asdict(self)}


def _all_of(owner: str, entries: Any, kind: type, what: str = "") -> tuple[Any, ...]:
    """Return a list or tuple of values of a kind as a tuple; refuse another, saying what it is."""
    if not isinstance(entries, list | tuple) or not all(isinstance(x, kind) for x in entries):
        raise ConfigError(owner, entries, f"a list or tuple of {what or kind.__name__}")
    return tuple(entries)


def _require_once(field_name: str, names: Iterable[str]) -> None:
    """Refuse names that are empty or stand twice."""
    seen: set[str] = set()
    for name in names:
        if not isinstance(name, str) or not name:
            raise ConfigError(field_name, name, "names that are not empty")
        if name in seen:
            raise ConfigError(field_name, name, "each name once")
        seen.add(name)


def named(owner: str, given: object, known: Collection[str]) -> Mapping[str, Any]:
    """Return a mapping whose keys are all known.

    Raises:
        RequestError: it is no mapping, or a key is unknown; offers the nearest.
    """
    if not isinstance(given, Mapping):
        raise ConfigError(owner, given, "a mapping")
    require_known(f"field of {owner}:", given, known)
    return given
