"""Causal graphs: built from Python, JSON and NetworkX alike; refused in one sentence."""

import json
from collections.abc import Mapping
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest

from rolecast.core.errors import RequestError
from rolecast.envs.causal import interventions
from rolecast.envs.causal.graph import ActionRange, CausalGraph, CausalNode, NodeNoise
from rolecast.envs.causal.graph_file import (
    graph_from_json,
    graph_from_networkx,
    read_graph,
)
from rolecast.envs.causal.interventions import InterventionSpace, is_minimal, minimal_sets

A0 = ActionRange(name="a0", low=-1.0, high=3.0)


def chain(**settings: Any) -> CausalGraph:
    given: dict[str, Any] = {
        "nodes": (
            CausalNode(name="x", actions=("a0",), noise=NodeNoise(kind="normal", scale=0.5)),
            CausalNode(name="y", parents=("x",)),
        ),
        "actions": (A0,),
    }
    return CausalGraph(**{**given, **settings})


def test_a_graph_is_the_same_from_python_json_and_networkx(tmp_path: Path) -> None:
    graph = chain()
    assert graph_from_json(json.loads(json.dumps(graph.to_json()))) == graph
    (tmp_path / "graph.json").write_text(json.dumps(graph.to_json()))
    assert read_graph(tmp_path / "graph.json") == graph
    drawn: nx.DiGraph[str] = nx.DiGraph([("x", "y")])
    drawn.nodes["x"].update(actions=["a0"], noise={"kind": "normal", "scale": 0.5})
    assert graph_from_networkx(drawn, actions=[A0]) == graph


def test_numbers_of_numpy_and_lists_make_the_same_graph(tmp_path: Path) -> None:
    noise = NodeNoise(kind="normal", scale=np.float32(0.5))  # type: ignore[arg-type]
    nodes: Any = [
        CausalNode(name="x", actions=["a0"], noise=noise),  # type: ignore[arg-type]
        CausalNode(name="y", parents=["x"]),  # type: ignore[arg-type]
    ]
    low: Any = np.int64(-1)
    same = chain(nodes=nodes, actions=[ActionRange(name="a0", low=low, high=3)])
    assert json.dumps(same.to_json()) == json.dumps(chain().to_json())
    with pytest.raises(RequestError, match=r"other\.json is no file; expected a JSON file of a"):
        read_graph(tmp_path / "other.json")


def test_networkx_graphs_with_a_cycle_or_two_rewards_are_refused() -> None:
    with pytest.raises(RequestError, match=r"graph is \['x', 'y'\]; expected no cycle"):
        graph_from_networkx(nx.DiGraph([("x", "y"), ("y", "x")]))
    with pytest.raises(RequestError, match=r"rewards of the graph is \['y', 'z'\]; expected one"):
        graph_from_networkx(nx.DiGraph([("x", "y"), ("x", "z")]), actions=[A0])
    with pytest.raises(RequestError, match="graph is 'Graph'; expected"):
        graph_from_networkx(nx.Graph([("x", "y")]))  # type: ignore[arg-type]


X, Y = CausalNode(name="x", actions=("a0",)), CausalNode(name="y", parents=("x",))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"nodes": ()}, "CausalGraph.nodes is .*; expected one node or more"),
        ({"nodes": (X, X, Y)}, "CausalGraph.nodes is 'x'; expected each name once"),
        ({"nodes": (X, CausalNode(name="y", parents=("w",)))}, "parent of node 'y': 'w' does not"),
        ({"nodes": (CausalNode(name="x", parents=("y",)), Y)}, "'y' is not, or causes go round"),
        ({"nodes": (CausalNode(name="x", actions=("b",)), Y)}, "action of node 'x': 'b' does not"),
        ({"actions": (A0, ActionRange(name="b"))}, "actions is 'b'; expected an action that ent"),
        ({"actions": (A0, A0)}, "CausalGraph.actions is 'a0'; expected each name once"),
        ({"do": (ActionRange(name="z"),)}, "settable node 'z' does not exist"),
        ({"do": (ActionRange(name="y"),)}, "do is 'y'; expected a node other than the reward"),
        ({"nodes": (CausalNode(name="y"),), "actions": ()}, "no interventions; expected"),
        (
            {"nodes": (X, CausalNode(name="y"))},
            r"without an effect is \['x', 'y'\]; expected 'y'",
        ),
        (
            {"nodes": (X, Y, CausalNode(name="z", parents=("x",)))},
            r"is \['y', 'z'\]; expected 'z' alone, the rew",
        ),
        (
            {"nodes": (X, CausalNode(name="y", parents=("x",), metric="return"))},
            "metric of node 'y' is 'return'; expected none, as the reward is the return",
        ),
        (
            {"nodes": (X, CausalNode(name="w", metric="x"), CausalNode(name="y", parents=("x",)))},
            r"without an effect is \['w', 'y'\]",
        ),
        (
            {
                "nodes": (
                    X,
                    CausalNode(name="w", metric="x"),
                    CausalNode(name="y", parents=("x", "w")),
                )
            },
            "metric of nodes 'x' and 'w' is 'x'; expected one metric for each node",
        ),
        (
            {"nodes": (CausalNode(name="x", actions=("a0", "a0")), Y)},
            "actions of node 'x' is 'a0'; expected each name once",
        ),
        ({"limit": 0}, "CausalGraph.limit is 0; expected an integer >= 1, or none"),
        ({"nodes": ("x", "y")}, "CausalGraph.nodes is .*; expected a list or tuple of CausalNode"),
        ({"actions": (("a0", 0, 1),)}, "CausalGraph.actions is .* of ActionRange"),
        ({"do": "x"}, "CausalGraph.do is 'x'; expected a list or tuple of ActionRange"),
        ({"sets": ("a0",)}, r"set of CausalGraph.sets is 'a0'; expected .* of names"),
        ({"sets": ()}, r"CausalGraph.sets is \(\); expected one set or more"),
        ({"sets": (("b",),)}, "intervention in CausalGraph.sets: 'b' does not exist"),
        ({"sets": (("a0", "x"),), "limit": 1, "do": (ActionRange(name="x"),)}, "at most 1 int"),
    ],
)
def test_what_is_no_graph_is_refused_by_name(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(RequestError, match=message):
        chain(**settings)


def test_ranges_and_noise_are_checked() -> None:
    with pytest.raises(RequestError, match=r"range of 'a' is \(1, 1\); expected finite"):
        ActionRange(name="a", low=1, high=1)
    with pytest.raises(RequestError, match=r"NodeNoise.scale is 0\.0; expected a number > 0"):
        NodeNoise(kind="normal")
    with pytest.raises(RequestError, match=r"NodeNoise.scale is 1\.0; expected 0"):
        NodeNoise(kind="measured", scale=1.0)
    for low, high in ((-1.7e308, 1.7e308), (2**53, 2**53 + 1)):
        with pytest.raises(RequestError, match=r"range of 'a' is .*, whose difference is finite"):
            ActionRange(name="a", low=low, high=high)
    for wrong in (10**400, float("inf"), True, "1"):
        with pytest.raises(RequestError, match=r"range of 'a' is .*; expected finite numbers"):
            ActionRange(name="a", low=-1.0, high=wrong)  # type: ignore[arg-type]
        with pytest.raises(RequestError, match=r"NodeNoise.scale is .*; expected a number > 0"):
            NodeNoise(kind="normal", scale=wrong)  # type: ignore[arg-type]
    with pytest.raises(RequestError, match=r"noise of node 'x' is 'normal'; expected a NodeNoise"):
        CausalNode(name="x", noise="normal")  # type: ignore[arg-type]
    with pytest.raises(RequestError, match=r"parents of node 'y' is 'ab'; expected .* of names"):
        CausalNode(name="y", parents="ab")  # type: ignore[arg-type]
    with pytest.raises(RequestError, match=r"NodeNoise.kind 'norm' .*'normal'"):
        NodeNoise(kind="norm")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"schema": "rolecast.causal_graph/9"}, "schema of the graph is .*/9'; expected"),
        ({"edges": []}, "field of the graph: 'edges' does not exist"),
        ({"nodes": 3}, "nodes of the graph is 3; expected a list"),
        ({"nodes": [{"nam": "x"}]}, "field of a node of the graph: 'nam' does not exist"),
        ({"nodes": [{"parents": []}]}, "name of a node is None; expected a text"),
        ({"nodes": [{"name": "x", "parents": "ab"}]}, "parents of node 'x' is 'ab'; expected"),
        ({"nodes": [{"name": "x", "metric": 3}]}, "metric of node 'x' is 3; expected a text"),
        ({"nodes": [{"name": "x", "mechanism": 3}]}, "mechanism of node 'x' is 3; expected a te"),
        (
            {"nodes": [{"name": "x", "actions": ["a0", "a0"]}, {"name": "y", "parents": ["x"]}]},
            "actions of node 'x' is 'a0'; expected each name once",
        ),
        (
            {"actions": [{"name": "a0", "low": -1.7e308, "high": 1.7e308}]},
            "range of 'a0' is .*, whose difference is finite",
        ),
        ({"actions": [{"low": 0}]}, "name in actions of the graph is None; expected a text"),
        ({"sets": [3]}, r"CausalGraph.sets is \[3\]; expected a list or tuple of sets of names"),
        ({"sets": [[3]]}, r"a set of CausalGraph.sets is \[3\]; expected a list or tuple of nam"),
    ],
)
def test_a_file_that_holds_another_thing_is_refused_by_name(
    changed: Mapping[str, Any], message: str, tmp_path: Path
) -> None:
    path = tmp_path / "graph.json"
    path.write_text(json.dumps({**chain().to_json(), **changed}))
    with pytest.raises(RequestError, match=rf"graph\.json: .*{message}"):
        read_graph(path)


def random_graph(rng: np.random.Generator, size: int) -> CausalGraph:
    names = [f"n{k}" for k in range(size)]
    parents = [[n for n in names[:k] if rng.random() < 0.5] for k in range(size)]
    ends = {*names[:-1]} - {name for one in parents for name in one}
    parents[-1] = sorted({*parents[-1]} | ends)
    nodes = tuple(
        CausalNode(name=name, parents=tuple(one)) for name, one in zip(names, parents, strict=True)
    )
    return CausalGraph(nodes=nodes, do=tuple(ActionRange(name=name) for name in names[:-1]))


def linear_reward(
    graph: CausalGraph, weights: Mapping[tuple[str, str], float], hard: Mapping[str, float]
) -> float:
    """Reward of a linear model without noise, whose constants are those of the edge to itself."""
    values: dict[str, float] = {}
    for node in graph.nodes:
        natural = weights[node.name, node.name]
        natural += sum(weights[parent, node.name] * values[parent] for parent in node.parents)
        values[node.name] = hard.get(node.name, natural)
    return values[graph.reward.name]


@pytest.mark.parametrize("seed", range(8))
def test_minimal_sets_are_those_of_brute_force_over_random_linear_models(seed: int) -> None:
    """A set is superfluous if a part of it gives the same reward in every model.

    Weights and values are continuous, so one model tells with probability one.
    """
    rng = np.random.default_rng(seed)
    graph = random_graph(rng, 5)
    pairs = {(p, node.name) for node in graph.nodes for p in (*node.parents, node.name)}
    weights = {pair: float(rng.normal()) for pair in sorted(pairs)}
    settable = [each.name for each in graph.do]
    hard = {name: float(rng.normal()) for name in settable}
    expected = []
    for count in range(len(settable) + 1):
        for one in combinations(settable, count):
            whole = linear_reward(graph, weights, {name: hard[name] for name in one})
            parts = (p for c in range(count) for p in combinations(one, c))
            rewards = (linear_reward(graph, weights, {n: hard[n] for n in p}) for p in parts)
            if not any(abs(reward - whole) < 1e-9 for reward in rewards):
                expected.append(one)
    assert minimal_sets(graph) == expected


@pytest.mark.parametrize("seed", range(20))
def test_minimal_sets_that_grow_are_all_that_are_minimal(seed: int) -> None:
    graph = random_graph(np.random.default_rng(seed), 3 + seed % 5)
    names = [each.name for each in graph.do]
    for limit in (None, 1, 2):
        most = len(names) if limit is None else min(limit, len(names))
        every = (one for count in range(most + 1) for one in combinations(names, count))
        expected = [one for one in every if is_minimal(graph, frozenset(one))]
        assert minimal_sets(graph, limit) == expected


def test_minimal_sets_of_a_long_chain_are_found_without_trying_all_subsets(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    names = [f"n{k}" for k in range(20)]
    nodes = [CausalNode(name=n, parents=(m,) if m else ()) for m, n in pairwise(("", *names, "y"))]
    graph = CausalGraph(nodes=tuple(nodes), do=tuple(ActionRange(name=name) for name in names))
    tried = []

    def counted(graph: CausalGraph, hard: frozenset[str]) -> bool:
        tried.append(hard)
        return is_minimal(graph, hard)

    monkeypatch.setattr(interventions, "is_minimal", counted)
    assert minimal_sets(graph) == [(), *((name,) for name in names)]
    assert len(tried) == 20 + 20 * 19 // 2


def test_points_and_interventions_are_each_others_inverse() -> None:
    graph = CausalGraph(
        nodes=(X, CausalNode(name="z", parents=("x",)), CausalNode(name="y", parents=("x", "z"))),
        actions=(A0,),
        do=(ActionRange(name="x", low=2.0, high=4.0), ActionRange(name="z")),
        limit=2,
    )
    space = InterventionSpace(graph)
    # Set x, and z is still of use; but a0 enters x alone, so it is a soft one of its own.
    assert space.sets[0] == ()
    assert all(len(one) <= 2 for one in space.sets)
    assert space.dimension == 1 + 3
    points = np.random.default_rng(0).random((50, 4))
    chosen, places = space.decode(points)
    again = space.encode(chosen, places)
    for one, other in zip(space.decode(again), (chosen, places), strict=True):
        np.testing.assert_array_equal(one, other)
    assert space.named_values(space.candidate(x=3.0, z=0.25)) == {"x": 3.0, "z": 0.25}
    assert space.named_values(space.candidate()) == {}
    values = space.values(space.candidate(x=3.0, z=0.25)[None])
    np.testing.assert_allclose(values, [[0.0, 3.0, 0.25]])
    np.testing.assert_array_equal(np.isnan(space.values(space.candidate()[None])), [[0, 1, 1]])
    for wrong, message in (({"x": 9.0}, "x is 9.0; expected a number in"), ({"w": 1}, "one of")):
        with pytest.raises(RequestError, match=message):
            space.candidate(**wrong)


def test_actions_that_the_one_set_leaves_out_rest() -> None:
    nodes = (CausalNode(name="x", actions=("a0", "b")), CausalNode(name="y", parents=("x",)))
    graph = chain(nodes=nodes, actions=(A0, ActionRange(name="b")), sets=(("a0",),))
    space = InterventionSpace(graph)
    points = np.array([[0.25, 0.75]])
    for found in (space.decode(points)[1], space.encode(np.zeros(1, dtype=np.int64), points)):
        np.testing.assert_array_equal(found, [[0.25, 0.0]])
    np.testing.assert_array_equal(space.values(points), [[0.0, 0.0]])


def test_implied_sets_leave_out_actions_whose_effects_are_cut() -> None:
    """Action a0 enters x alone, so it has no effect once x is set."""
    graph = chain(do=(ActionRange(name="x"),), limit=2)
    assert InterventionSpace(graph).sets == ((), ("a0",), ("x",))


def test_actions_that_may_be_left_out_have_a_value_of_rest() -> None:
    graph = chain(actions=(ActionRange(name="a0", low=1.0, high=2.0),), limit=1)
    with pytest.raises(RequestError, match=r"range of 'a0' is \(1\.0, 2\.0\); expected one with 0"):
        InterventionSpace(graph)


def test_sets_without_effect_are_refused_and_equal_ones_are_one() -> None:
    """Once x is set, w has no effect."""
    nodes = (CausalNode(name="w"), CausalNode(name="x", parents=("w",)), Y)
    settings = {"nodes": nodes, "actions": (), "do": (ActionRange(name="w"), ActionRange(name="x"))}
    with pytest.raises(RequestError, match=r"sets of interventions is .*; expected one that h"):
        InterventionSpace(chain(**settings, sets=((),)))
    twice = InterventionSpace(chain(**settings, sets=(("x",), ("w", "x"), ("x",))))
    assert twice.sets == (("x",),)
    alone = InterventionSpace(chain(**settings, sets=((), ("w",), ("x", "w"), ("w", "x"))))
    assert alone.sets == ((), ("w",), ("w", "x"))
    with pytest.raises(RequestError, match=r"x is 'high'; expected a number in \[0\.0, 1\.0\]"):
        InterventionSpace(chain(**settings)).candidate(x="high")  # type: ignore[arg-type]
