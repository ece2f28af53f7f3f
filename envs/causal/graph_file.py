"""Causal graphs from JSON values, files and NetworkX graphs."""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rolecast.core.errors import ConfigError, RequestError
from rolecast.core.files import read_json
from rolecast.envs.causal.graph import (
    GRAPH_SCHEMA,
    ActionRange,
    CausalGraph,
    CausalNode,
    NodeNoise,
    named,
)

if TYPE_CHECKING:
    from networkx import DiGraph


def graph_from_json(values: object) -> CausalGraph:
    """Return the graph of JSON values, as `CausalGraph.to_json` gave them.

    Raises:
        RequestError: another schema, an unknown field, or no graph; names field and value.
    """
    known = ("schema", *(each.name for each in fields(CausalGraph)))
    given = named("the graph", values, known)
    if given.get("schema") != GRAPH_SCHEMA:
        raise ConfigError("schema of the graph", given.get("schema"), repr(GRAPH_SCHEMA))
    return CausalGraph(
        nodes=tuple(_node(each) for each in _list("nodes of the graph", given.get("nodes"))),
        actions=_ranges("actions", given.get("actions", ())),
        do=_ranges("do", given.get("do", ())),
        sets=given.get("sets"),
        limit=given.get("limit"),
    )


def read_graph(path: str | Path) -> CausalGraph:
    """Return the graph of a JSON file.

    Raises:
        RequestError: it is missing, is no JSON, or holds no graph; names the file.
    """
    if not Path(path).is_file():
        raise RequestError(f"{path} is no file; expected a JSON file of a causal graph")
    values = read_json(Path(path))
    try:
        return graph_from_json(values)
    except RequestError as error:
        raise RequestError(f"{path}: {error}") from error


def graph_from_networkx(
    graph: "DiGraph[str]",
    *,
    actions: Sequence[ActionRange] = (),
    do: Sequence[ActionRange] = (),
    sets: Sequence[Sequence[str]] | None = None,
    limit: int | None = None,
) -> CausalGraph:
    """Return the graph of a NetworkX DiGraph, its nodes sorted topologically.

    Args:
        graph: nodes by name, an edge from each cause to its effect. A node's attributes may be
            `actions`, `noise`, `metric` and `mechanism`, as in `CausalNode`. The reward is the one
            node without an effect.
        actions: soft interventions.
        do: hard interventions.
        sets: sets of interventions that are allowed.
        limit: greatest number of interventions at once.
    Raises:
        RequestError: there is a cycle, or not one reward; else as `CausalGraph`.
    """
    import networkx as nx

    if not isinstance(graph, nx.DiGraph):
        raise ConfigError("graph", type(graph).__name__, "a networkx.DiGraph")
    try:
        cycle = nx.find_cycle(graph)
    except nx.NetworkXNoCycle:
        cycle = []
    if cycle:
        raise ConfigError("graph", [edge[0] for edge in cycle], "no cycle")
    ends = [node for node in graph if graph.out_degree(node) == 0]
    if len(ends) != 1:
        raise ConfigError("rewards of the graph", ends, "one node without an effect")
    order = list(nx.lexicographical_topological_sort(graph))
    order = [node for node in order if node != ends[0]] + ends
    nodes = [
        _node({**graph.nodes[node], "name": node, "parents": sorted(graph.pred[node])})
        for node in order
    ]
    return CausalGraph(
        nodes=tuple(nodes),
        actions=tuple(actions),
        do=tuple(do),
        sets=None if sets is None else tuple(tuple(one) for one in sets),
        limit=limit,
    )


def _node(values: object) -> CausalNode:
    given = named("a node of the graph", values, [each.name for each in fields(CausalNode)])
    name = given.get("name")
    noise = given.get("noise", {})
    if not isinstance(noise, NodeNoise):
        noise = NodeNoise(**named(f"noise of node {name!r}", noise, ("kind", "scale")))
    if not isinstance(name, str):
        raise ConfigError("name of a node", name, "a text")
    return CausalNode(
        name=name,
        parents=given.get("parents", ()),
        actions=given.get("actions", ()),
        noise=noise,
        metric=given.get("metric"),
        mechanism=given.get("mechanism", ""),
    )


def _ranges(field: str, values: object) -> tuple[ActionRange, ...]:
    found = []
    for each in _list(f"{field} of the graph", values):
        given: Mapping[str, Any] = named(f"an entry of {field}", each, ("name", "low", "high"))
        if not isinstance(given.get("name"), str):
            raise ConfigError(f"name in {field} of the graph", given.get("name"), "a text")
        found.append(ActionRange(**given))
    return tuple(found)


def _list(field: str, values: object) -> Sequence[Any]:
    if not isinstance(values, list | tuple):
        raise ConfigError(field, values, "a list")
    return values
