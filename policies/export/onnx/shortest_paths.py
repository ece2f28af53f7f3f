"""The assignment of roles to many agents as loops of ONNX: `export.shortest_paths`, N at a time.

Loops have as many turns as a team can need. A matrix that has ended keeps its state until all have.
"""

from collections.abc import Sequence

import numpy as np

from rolecast.policies.export.onnx.graph import (
    BOOL_ELEMENTS,
    FLOAT_ELEMENTS,
    INTEGER_ELEMENTS,
    Graph,
)


def shortest_path_agents(graph: Graph, agents: int, affinity: str) -> str:
    """Add the agent [N, n] of each role, of largest total affinity [N, role, agent]."""
    return _Assignment(graph, agents, affinity).added()


class _Assignment:
    """Methods add operations, and return the names of their values: [N, n] or [N, 1]."""

    def __init__(self, graph: Graph, agents: int, affinity: str) -> None:
        self._graph, self._agents, self._affinity = graph, agents, affinity
        self._columns = graph.constant(np.arange(agents)[None])
        self._axis = graph.constant(np.array([1]))
        self._none = graph.constant(np.array([[-1]]))

    def added(self) -> str:
        """The whole assignment, role by role."""
        add = self._graph.add
        v = add("Neg", add("ReduceMax", self._affinity, axes=[1], keepdims=0))
        sums = add("Add", self._affinity, add("Unsqueeze", v, self._axis))
        u = add("Neg", add("ReduceMax", sums, axes=[2], keepdims=0))
        nobody = add("Expand", self._none, add("Shape", v))
        kinds = FLOAT_ELEMENTS, FLOAT_ELEMENTS, INTEGER_ELEMENTS, INTEGER_ELEMENTS
        states = zip((u, v, nobody, nobody), kinds, strict=True)
        return self._graph.loop(self._agents, list(states), self._role)[2]

    def _role(self, role: str, states: Sequence[str]) -> list[str]:
        """One role: search a path to a free agent, adapt the prices, and move roles along it."""
        u, v, agents, holder = states
        add, false = self._graph.add, self._graph.constant(np.array(0))
        zeros = add("Sub", self._columns, self._columns)
        whole = add("Expand", zeros, add("Shape", v))  # [N, n] of 0
        one = add("Gather", whole, self._graph.constant(np.array([0])), axis=1)  # [N, 1] of 0
        cost, low = (add("Cast", each, to=FLOAT_ELEMENTS) for each in (whole, one))
        via, row = add("Add", whole, role), add("Add", one, role)
        reached, closed = (add("Not", add("Equal", whole, false)) for _ in range(2))
        done = add("Not", add("Equal", one, false))
        searched = [
            *((cost, FLOAT_ELEMENTS), (via, INTEGER_ELEMENTS)),
            *((reached, BOOL_ELEMENTS), (closed, BOOL_ELEMENTS)),
            *((row, INTEGER_ELEMENTS), (low, FLOAT_ELEMENTS)),
            *((one, INTEGER_ELEMENTS), (done, BOOL_ELEMENTS)),
        ]
        cost, via, _, closed, _, low, nearest, _ = self._graph.loop(
            self._agents, searched, lambda _, held: self._search(u, v, holder, held)
        )
        of_role = add("Equal", self._columns, role)
        u = add("Where", of_role, add("Add", u, low), u)
        apart = add("Sub", low, cost)
        moved = add("And", closed, add("Not", add("Equal", self._columns, nearest)))
        # The role that holds a column is the one whose agent it is.
        known = add("Not", add("Less", agents, false))
        place = add("Where", known, agents, zeros)
        more = add("Add", u, add("GatherElements", apart, place, axis=1))
        u = add("Where", add("And", known, self._at(moved, place)), more, u)
        v = add("Where", moved, add("Sub", v, apart), v)
        alive = add("Equal", one, false)
        moving = [(each, INTEGER_ELEMENTS) for each in (agents, holder, nearest)]
        agents, holder, _, _ = self._graph.loop(
            self._agents,
            [*moving, (alive, BOOL_ELEMENTS)],
            lambda _, held: self._move(role, via, held),
        )
        return [u, v, agents, holder]

    def _search(self, u: str, v: str, holder: str, states: Sequence[str]) -> list[str]:
        """One column more is closed: the nearest of those that are open."""
        add, false = self._graph.add, self._graph.constant(np.array(0))
        cost, via, reached, closed, row, low, nearest, done = states
        of_row = add("GatherND", self._affinity, row, batch_dims=1)
        reduced = add("Sub", low, of_row)
        reduced = add("Sub", add("Sub", reduced, self._at(u, row)), v)
        shorter = add("Or", add("Not", reached), add("Less", reduced, cost))
        open_now = add("Not", add("Or", closed, done))
        shorter = add("And", shorter, open_now)
        cost = add("Where", shorter, reduced, cost)
        via = add("Where", shorter, row, via)
        reached = add("Or", reached, shorter)
        # Of equal costs: the lowest free column, or the highest of those that are held.
        endless = self._graph.constant(float("inf"))
        open_cost = add("Where", closed, endless, cost)
        least = add("ReduceMin", open_cost, axes=[1], keepdims=1)
        tied = add("And", add("Equal", open_cost, least), add("Not", closed))
        free = add("And", tied, add("Less", holder, false))
        first = self._graph.constant(2 * self._agents - np.arange(self._agents)[None])
        rank = add("Where", free, first, add("Where", tied, self._columns, self._none))
        rank = add("Cast", rank, to=FLOAT_ELEMENTS)
        found = add("ArgMax", rank, axis=1, keepdims=1)
        nearest = add("Where", done, nearest, found)
        low = add("Where", done, low, self._at(cost, nearest))
        closed = add("Or", closed, add("Equal", self._columns, nearest))
        held_by = self._at(holder, nearest)
        done = add("Or", done, add("Less", held_by, false))
        row = add("Where", done, row, held_by)
        return [cost, via, reached, closed, row, low, nearest, done]

    def _move(self, role: str, via: str, states: Sequence[str]) -> list[str]:
        """One role on the path takes the agent of the column after it."""
        add = self._graph.add
        agents, holder, column, alive = states
        row = self._at(via, column)
        here = add("And", add("Equal", self._columns, column), alive)
        holder = add("Where", here, row, holder)
        before = self._at(agents, row)
        of_row = add("And", add("Equal", self._columns, row), alive)
        agents = add("Where", of_row, column, agents)
        alive = add("And", alive, add("Not", add("Equal", row, role)))
        return [agents, holder, add("Where", alive, before, column), alive]

    def _at(self, values: str, places: str) -> str:
        """Values [N, n] at places [N, k]."""
        return self._graph.add("GatherElements", values, places, axis=1)
