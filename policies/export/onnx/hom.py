"""Policy `hom` as an ONNX graph of the team step: roles, edges, messages."""

import numpy as np

from rolecast.core.types import Float, Float32
from rolecast.policies.export.onnx.graph import FLOAT_ELEMENTS, Graph
from rolecast.policies.export.onnx.layers import (
    clipped,
    codes_added,
    columns,
    finished,
    squashed,
)
from rolecast.policies.export.onnx.roles import assigned_agents
from rolecast.policies.export.reference import Layer, add_columns
from rolecast.policies.export.tables import interacts
from rolecast.policies.hom.interaction import SOFT_EDGE_SLOPE
from rolecast.policies.hom.model import HomModel
from rolecast.policies.hom.policy import HomPolicy
from rolecast.policies.network import unpack

f32 = np.float32


def hom_model(policy: HomPolicy, weights: Float) -> bytes:
    """Return a model from `observations` [N, n, do] to `actions` [N, n, da].

    Args:
        policy: with any options.
        weights: [D], finite as float32.
    """
    rounded = weights.astype(f32)
    nets: dict[str, list[Layer]] = unpack(rounded, policy.model.nets)
    return HomGraph(policy.model, nets).built(policy.name)


class HomGraph:
    """The graph of a model; each method adds operations, and returns the name of their value."""

    def __init__(self, model: HomModel, nets: dict[str, list[Layer]]) -> None:
        self._model, self._nets, self._graph = model, nets, Graph()
        self._codes = model.codes.astype(f32)

    def built(self, name: str) -> bytes:
        """Return the file of the model."""
        graph, model = self._graph, self._model
        states = clipped(graph, "observations", model.observation_clip)
        agents = ""
        if model.role_assignment:
            agents = assigned_agents(graph, model.agents, self._affinities(states))
            states = self._taken(states, agents)
        scaled = graph.add("Mul", self._outputs(states), graph.constant(model.settings.output_gain))
        actions = squashed(graph, scaled, output="" if agents else "actions")
        if agents:
            # The role of an agent is the place of the agent among those of the roles.
            held = graph.add("Unsqueeze", agents, self._axis(2))
            equal = graph.add("Equal", held, graph.constant(np.arange(model.agents)))
            one_hot = graph.add("Cast", equal, to=FLOAT_ELEMENTS)
            roles = graph.add("ArgMax", one_hot, axis=1, keepdims=0)
            self._taken(actions, roles, output="actions")
        given = "observations", (model.agents, model.observation_size)
        return graph.model(name, given, ("actions", (model.agents, model.action_size)))

    def _affinities(self, states: str) -> str:
        """Affinity [N, role, agent] (Algorithm 1, line 1)."""
        graph, (weight, bias) = self._graph, self._nets["role"][0]
        size = self._model.observation_size
        of_role = add_columns(bias, weight[:, size:], self._model.role_codes.astype(f32))
        of_agent = columns(graph, self._zeros(len(bias)), weight[:, :size], states, axis=2)
        left, right = (
            graph.constant(of_role[:, None]),
            graph.add("Unsqueeze", of_agent, self._axis(1)),
        )
        sums = graph.add("Add", left, right)
        outputs = finished(graph, self._nets["role"], sums, axis=3)
        return graph.add("Squeeze", outputs, self._axis(3))

    def _outputs(self, states: str) -> str:
        """Outputs [N, n, da] of the roles before gain and tanh (Algorithms 2 and 3)."""
        graph, model = self._graph, self._model
        size, bits = model.observation_size, model.bits
        edge = self._edges(states) if interacts(model) else ""
        update, bias = self._nets["update"][0]
        own = columns(graph, graph.constant(bias), update[:, :size], states, axis=2)
        own = codes_added(graph, own, update[:, size : size + bits], self._codes)
        hidden = graph.constant(np.zeros((1, model.agents, model.message_width), dtype=f32))
        for _ in range(model.rounds):
            heard = self._heard(edge, self._messages(states, hidden), hidden) if edge else hidden
            sums = columns(graph, own, update[:, size + bits :], heard, axis=2)
            hidden = finished(graph, self._nets["update"], sums, axis=2)
        acted = graph.constant(np.arange(model.action_size))
        return graph.add("Gather", hidden, acted, axis=2)

    def _edges(self, states: str) -> str:
        """Affinity [N, receiver, sender] of an edge."""
        weight, bias = self._nets["edge"][0]
        size, bits = self._model.observation_size, self._model.bits
        own, other, codes = weight[:, :size], weight[:, size : 2 * size], weight[:, 2 * size :]
        receiver = self._part(self._graph.constant(bias), states, own, codes[:, :bits])
        sender = self._part(self._zeros(len(bias)), states, other, codes[:, bits:])
        return self._graph.add("Squeeze", self._pairs("edge", receiver, sender), self._axis(3))

    def _messages(self, states: str, hidden: str) -> str:
        """Messages [N, receiver, sender, k] of a round."""
        weight, bias = self._nets["message"][0]
        model, start = self._model, self._graph.constant(bias)
        size, bits, width = model.observation_size, model.bits, model.message_width
        if model.message_reads == "hidden":
            codes = weight[:, 2 * width :]
            receiver = self._part(start, hidden, weight[:, :width], codes[:, :bits])
            read, other = hidden, weight[:, width : 2 * width]
        else:
            codes = weight[:, size:]
            start = self._graph.constant(np.broadcast_to(bias, (1, model.agents, len(bias))))
            receiver = codes_added(self._graph, start, codes[:, :bits], self._codes)
            read, other = states, weight[:, :size]
        sender = self._part(self._zeros(len(bias)), read, other, codes[:, bits:])
        return self._pairs("message", receiver, sender)

    def _heard(self, edge: str, messages: str, hidden: str) -> str:
        """Hidden [N, n, k] plus the messages that each role hears, sender by sender."""
        graph, model = self._graph, self._model
        others = ~np.eye(model.agents, dtype=bool) | model.self_edges
        for sender in range(model.agents):
            place = graph.constant(np.array(sender))
            pair = graph.add("Gather", messages, place, axis=2)
            affinity = graph.add("Gather", edge, graph.constant(np.array([sender])), axis=2)
            on = graph.constant(others[:, sender, None].astype(f32))
            if model.soft_edges:
                slope = graph.constant(0.5 * SOFT_EDGE_SLOPE)
                half = squashed(graph, graph.add("Mul", affinity, slope))
                half = graph.add("Mul", half, graph.constant(0.5))
                pair = graph.add("Mul", graph.add("Add", half, graph.constant(0.5)), pair)
            else:
                # Of its own edge a role hears nothing: its affinity counts as 0.
                affinity = graph.add("Mul", affinity, on)
                on = affinity
            is_on = graph.add("Greater", on, graph.constant(0.0))
            hidden = graph.add("Where", is_on, graph.add("Add", hidden, pair), hidden)
        return hidden

    def _part(self, start: str, inputs: str, weight: Float32, code_weight: Float32) -> str:
        """First sums [N, n, hidden] of a pair's net, of one of its two roles."""
        sums = columns(self._graph, start, weight, inputs, axis=2)
        return codes_added(self._graph, sums, code_weight, self._codes)

    def _pairs(self, net: str, receiver: str, sender: str) -> str:
        """Outputs [N, receiver, sender, out] of a net that reads two roles."""
        left = self._graph.add("Unsqueeze", receiver, self._axis(2))
        right = self._graph.add("Unsqueeze", sender, self._axis(1))
        sums = self._graph.add("Add", left, right)
        return finished(self._graph, self._nets[net], sums, axis=3)

    def _taken(self, values: str, places: str, output: str = "") -> str:
        """Values [N, n, c] in the order of places [N, n]."""
        found = self._graph.add("Unsqueeze", places, self._axis(2))
        return self._graph.add("GatherND", values, found, output=output, batch_dims=1)

    def _zeros(self, count: int) -> str:
        return self._graph.constant(np.zeros(count, dtype=f32))

    def _axis(self, axis: int) -> str:
        return self._graph.constant(np.array([axis]))
