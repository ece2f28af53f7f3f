"""The compiled face of `hom`: the same function as `HomPolicy.act`, over lanes in float32.

The first layers of the edge and message nets read two roles side by side, so they are computed per
role and added per pair; that is the same sum in another order, and n times less work.
"""

import numpy as np

from rolecast.envs.compiled import compiled
from rolecast.envs.lane_vectors import load, pick_equal, pick_greater, store
from rolecast.envs.spec import LANES, Float32
from rolecast.policies.hom.assignment import SUBSET_LIMIT
from rolecast.policies.hom.assignment_fused import assign_lanes
from rolecast.policies.hom.config import HomModel
from rolecast.policies.layers_fused import (
    add_code,
    add_product,
    clip_rows,
    copy_rows,
    dense,
    squash,
    tanh_lanes,
)


class HomLanes:
    """`rolecast.policies.protocol.LanePolicy` of a HOM policy."""

    def __init__(self, model: HomModel) -> None:
        self.model = model
        sizes = {net.name: net.size for net in model.nets}
        ends = np.cumsum([sizes.get(name, 0) for name in ("role", "edge", "message", "update")])
        self.starts = (0, int(ends[0]), int(ends[1]), int(ends[2]))

    def act(self, weights: Float32, observations: Float32, actions: Float32) -> None:
        """Write actions [K, n, da, W] for weights [K, D, W] and observations [K, n, do, W]."""
        model = self.model
        hom_actions(
            self.starts,
            (model.bits, model.hidden[0], len(model.hidden), model.rounds),
            (model.role_assignment, model.role_interaction, model.self_edges),
            np.float32(model.observation_clip),
            np.float32(model.settings.output_gain),
            weights,
            observations,
            actions,
        )


@compiled
def hom_actions(
    starts: tuple[int, int, int, int],
    sizes: tuple[int, int, int, int],
    switches: tuple[bool, bool, bool],
    clip: np.float32,
    gain: np.float32,
    weights: Float32,
    observations: Float32,
    actions: Float32,
) -> None:
    """Write actions [K, n, da, W].

    Args:
        starts: first parameter of the role, edge, message and update nets.
        sizes: bits of a role code, hidden width, hidden layers (1 or 2), rounds.
        switches: role assignment, role interaction, self edges.
        clip: bound of the observations.
        gain: factor before the last tanh.
        weights: [K, D, W].
        observations: [K, n, do, W].
        actions: [K, n, da, W], written.
    """
    bits, width, depth, rounds = sizes
    assign, interact, self_edges = switches
    blocks, n, size = observations.shape[:3]
    da = actions.shape[2]
    states = np.empty((n, size, LANES), dtype=np.float32)
    ordered = np.empty((n, size, LANES), dtype=np.float32)
    left = np.empty((n, width, LANES), dtype=np.float32)
    right = np.empty((n, width, LANES), dtype=np.float32)
    base_left = np.empty((n, width, LANES), dtype=np.float32)
    base_right = np.empty((n, width, LANES), dtype=np.float32)
    own = np.empty((n, width, LANES), dtype=np.float32)
    z = np.empty((width, LANES), dtype=np.float32)
    z2 = np.empty((width, LANES), dtype=np.float32)
    out = np.empty((max(da, 1), LANES), dtype=np.float32)
    pairs = np.empty((n, n, LANES), dtype=np.float32)
    hidden = np.empty((n, da, LANES), dtype=np.float32)
    total = np.empty((n, da, LANES), dtype=np.float32)
    agent_of_role = np.empty((n, LANES), dtype=np.float32)
    subsets = 1 << n if assign and n <= SUBSET_LIMIT else 1
    best = np.empty((subsets, LANES), dtype=np.float32)
    choice = np.empty((subsets, LANES), dtype=np.float32)
    for k in range(blocks):
        w = weights[k]
        for agent in range(n):
            clip_rows(observations[k, agent], clip, states[agent])
        x = states
        if assign:
            affinities(w, starts[0], bits, depth, states, left, right, z, z2, pairs)
            assign_lanes(pairs, best, choice, agent_of_role)
            gather(states, agent_of_role, ordered)
            x = ordered
        if interact:
            edges(w, starts[1], bits, depth, self_edges, x, left, right, z, z2, pairs)
            message_codes(w, starts[2], bits, base_left, base_right, hidden)
        update_states(w, starts[3], bits, x, own, hidden)
        for turn in range(rounds):
            for role in range(n):
                copy_rows(hidden[role], 0, total[role])
            if interact:
                add_messages(
                    w, starts[2], bits, depth, self_edges, pairs, hidden, base_left, base_right,
                    left, right, z, z2, out, total,
                )  # fmt: skip
            update(w, starts[3], bits, depth, size, own, total, z, z2, hidden)
        for agent in range(n):
            for unit in range(da):
                value = load(hidden[agent], unit)
                if assign:
                    for role in range(n):
                        held = load(agent_of_role, role)
                        value = pick_equal(held, np.float32(agent), load(hidden[role], unit), value)
                store(actions[k, agent], unit, tanh_lanes(value * gain))


@compiled
def finish(w: Float32, start: int, depth: int, z: Float32, z2: Float32, out: Float32) -> None:
    """Run a net on from the sums of its first layer.

    Args:
        w: [D, W].
        start: first parameter after the first layer.
        depth: hidden layers, 1 or 2.
        z: [width, W], sums of the first layer; overwritten.
        z2: [width, W], scratch.
        out: [outputs, W], written.
    """
    squash(z)
    if depth == 2:
        start = dense(w, start, z, z2)
        squash(z2)
        dense(w, start, z2, out)
    else:
        dense(w, start, z, out)


@compiled
def add_rows(a: Float32, b: Float32, target: Float32) -> None:
    """Write a + b, all [k, W]."""
    for i in range(target.shape[0]):
        store(target, i, load(a, i) + load(b, i))


@compiled
def zero_rows(target: Float32) -> None:
    """Set target [k, W] to 0."""
    for i in range(target.shape[0]):
        store(target, i, 0.0)


@compiled
def affinities(
    w: Float32,
    start: int,
    bits: int,
    depth: int,
    states: Float32,
    of_agent: Float32,
    of_role: Float32,
    z: Float32,
    z2: Float32,
    affinity: Float32,
) -> None:
    """Write the affinity [n, n, W] of each role (first axis) for each agent; Algorithm 1, line 1."""
    n, size = states.shape[:2]
    width = z.shape[0]
    stride = size + 2 * bits
    after = start + width * stride
    everything = (1 << bits) - 1
    for agent in range(n):
        zero_rows(of_agent[agent])
        add_product(w, start, stride, states[agent], of_agent[agent])
        copy_rows(w, after, of_role[agent])
        add_code(w, start + size, stride, agent, bits, of_role[agent])
        add_code(w, start + size + bits, stride, everything ^ agent, bits, of_role[agent])
    for role in range(n):
        for agent in range(n):
            add_rows(of_role[role], of_agent[agent], z)
            finish(w, after + width, depth, z, z2, affinity[role, agent : agent + 1])


@compiled
def gather(states: Float32, agent_of_role: Float32, ordered: Float32) -> None:
    """Write states [n, do, W] of agents in the order of roles."""
    n = states.shape[0]
    for role in range(n):
        held = load(agent_of_role, role)
        for i in range(states.shape[1]):
            value = load(states[0], i)
            for agent in range(1, n):
                value = pick_equal(held, np.float32(agent), load(states[agent], i), value)
            store(ordered[role], i, value)


@compiled
def edges(
    w: Float32,
    start: int,
    bits: int,
    depth: int,
    self_edges: bool,
    states: Float32,
    receiver: Float32,
    sender: Float32,
    z: Float32,
    z2: Float32,
    affinity: Float32,
) -> None:
    """Write the edge affinity [n, n, W] of role i (first axis) for the messages of role l.

    Algorithm 2; there is an edge where it is above 0.
    """
    n, size = states.shape[:2]
    width = z.shape[0]
    stride = 2 * size + 2 * bits
    after = start + width * stride
    for role in range(n):
        copy_rows(w, after, receiver[role])
        add_product(w, start, stride, states[role], receiver[role])
        add_code(w, start + 2 * size, stride, role, bits, receiver[role])
        zero_rows(sender[role])
        add_product(w, start + size, stride, states[role], sender[role])
        add_code(w, start + 2 * size + bits, stride, role, bits, sender[role])
    for i in range(n):
        for other in range(n):
            if i != other or self_edges:
                add_rows(receiver[i], sender[other], z)
                finish(w, after + width, depth, z, z2, affinity[i, other : other + 1])


@compiled
def message_codes(
    w: Float32, start: int, bits: int, receiver: Float32, sender: Float32, hidden: Float32
) -> None:
    """Write what the message net's first layer sums over codes and bias; no round changes it."""
    n, da = hidden.shape[:2]
    width = receiver.shape[1]
    stride = 2 * da + 2 * bits
    for role in range(n):
        copy_rows(w, start + width * stride, receiver[role])
        add_code(w, start + 2 * da, stride, role, bits, receiver[role])
        zero_rows(sender[role])
        add_code(w, start + 2 * da + bits, stride, role, bits, sender[role])


@compiled
def add_messages(
    w: Float32,
    start: int,
    bits: int,
    depth: int,
    self_edges: bool,
    affinity: Float32,
    hidden: Float32,
    base_receiver: Float32,
    base_sender: Float32,
    receiver: Float32,
    sender: Float32,
    z: Float32,
    z2: Float32,
    out: Float32,
    total: Float32,
) -> None:
    """Add to total [n, da, W] the messages that each role hears; equation 3, first line."""
    n, da = hidden.shape[:2]
    width = z.shape[0]
    stride = 2 * da + 2 * bits
    after = start + width * stride + width
    for role in range(n):
        copy_rows(base_receiver[role], 0, receiver[role])
        add_product(w, start, stride, hidden[role], receiver[role])
        copy_rows(base_sender[role], 0, sender[role])
        add_product(w, start + da, stride, hidden[role], sender[role])
    for i in range(n):
        for other in range(n):
            if i != other or self_edges:
                add_rows(receiver[i], sender[other], z)
                finish(w, after, depth, z, z2, out)
                edge = load(affinity[i], other)
                for unit in range(da):
                    heard = pick_greater(edge, 0.0, load(out, unit), 0.0)
                    store(total[i], unit, load(total[i], unit) + heard)


@compiled
def update_states(
    w: Float32, start: int, bits: int, states: Float32, own: Float32, hidden: Float32
) -> None:
    """Write what the update net's first layer sums over state, code and bias, and h_0 = 0."""
    n, size = states.shape[:2]
    width = own.shape[1]
    stride = size + bits + hidden.shape[1]
    for role in range(n):
        copy_rows(w, start + width * stride, own[role])
        add_product(w, start, stride, states[role], own[role])
        add_code(w, start + size, stride, role, bits, own[role])
        zero_rows(hidden[role])


@compiled
def update(
    w: Float32,
    start: int,
    bits: int,
    depth: int,
    size: int,
    own: Float32,
    total: Float32,
    z: Float32,
    z2: Float32,
    hidden: Float32,
) -> None:
    """Write the next hidden [n, da, W] of every role; equation 3, second line."""
    width = z.shape[0]
    stride = size + bits + hidden.shape[1]
    for role in range(hidden.shape[0]):
        copy_rows(own[role], 0, z)
        add_product(w, start + size + bits, stride, total[role], z)
        finish(w, start + width * stride + width, depth, z, z2, hidden[role])
