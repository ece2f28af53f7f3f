"""Compiled form of `hom`: the same function as `HomPolicy.act`, over lanes in float32.

The first layers of the edge and message nets have the inputs of two roles. They are computed for
each role and added for each pair. This is the same sum in another order, with n times less work.
"""

import numpy as np

from rolecast.core.compiled import compiled, inlined
from rolecast.core.kernel_address import call_all
from rolecast.core.lane_arrays import workspace
from rolecast.core.simd import block_stride, equal, first_block, load, pick, store
from rolecast.core.types import Float32, KernelCalls
from rolecast.policies.hom.assignment import SUBSET_LIMIT
from rolecast.policies.hom.assignment_fused import Way, assign_lanes, way_of
from rolecast.policies.hom.interaction_fused import (
    add_messages,
    edge_affinities,
    message_bases,
    role_affinities,
    update,
    update_states,
)
from rolecast.policies.hom.model import HomModel
from rolecast.policies.layers_fused import clip_rows, tanh_lanes, zero_rows
from rolecast.policies.network import check_lanes


class HomLanes:
    """`rolecast.policies.protocol.LanePolicy` of a HOM policy."""

    def __init__(self, model: HomModel) -> None:
        self.model = model
        sizes = {net.name: net.size for net in model.nets}
        ends = np.cumsum([sizes.get(name, 0) for name in ("role", "edge", "message")])
        self.starts = (0, int(ends[0]), int(ends[1]), int(ends[2]))

    def act(self, weights: Float32, observations: Float32, actions: Float32) -> None:
        """Write actions [K, n, da, W] for weights [K, D, W] and observations [K, n, do, W].

        Raises:
            ConfigError: observations or actions have the sizes of another task.
        """
        model = self.model
        sizes = (model.observation_size, model.action_size)
        check_lanes(observations, actions, sizes=sizes, agents=model.agents)
        call_all(self.calls(weights, observations, actions))

    def calls(self, weights: Float32, observations: Float32, actions: Float32) -> KernelCalls:
        """Return what `act` calls."""
        model = self.model
        switches = (
            model.role_assignment,
            model.role_interaction,
            model.self_edges,
            model.message_reads == "observation",
            model.soft_edges,
        )
        sizes = (
            model.bits,
            model.hidden[0],
            len(model.hidden),
            model.rounds,
            model.message_width,
        )
        bounds = np.float32(model.observation_clip), np.float32(model.settings.output_gain)
        form = self.starts, sizes, switches, way_of(model.agents)
        return ((hom_actions, (*form, *bounds, weights, observations, actions)),)

    def workspace_rows(self, agents: int) -> int:
        """Return the rows that a kernel has for what it computes in between."""
        model = self.model
        subsets = model.role_assignment and model.agents <= SUBSET_LIMIT
        return workspace_parts(
            agents,
            model.observation_size,
            model.hidden[0],
            model.message_width,
            2**model.agents if subsets else 0,
        )[-1]


@inlined
def workspace_parts(n: int, size: int, width: int, mw: int, subsets: int) -> tuple[int, ...]:
    """Return the first row of each part of the one workspace, and its number of rows.

    Args:
        n: agents.
        size: observations of an agent.
        width: hidden units.
        mw: width of a message.
        subsets: of agents, each of which has two rows.
    """
    ordered = n * size
    left = ordered + n * size
    right = left + n * width
    own = right + n * width
    base_left = own + n * width
    base_right = base_left + n * width
    pairs = base_right + n * width
    hidden = pairs + n * n
    total = hidden + n * mw
    agent_of_role = total + n * mw
    scratch = agent_of_role + n
    zeros = scratch + 2 * width + mw
    best = zeros + width
    choice = best + subsets
    return (
        ordered, left, right, own, base_left, base_right, pairs, hidden, total, agent_of_role,
        scratch, zeros, best, choice, choice + subsets,
    )  # fmt: skip


@compiled
def hom_actions(
    starts: tuple[int, int, int, int],
    sizes: tuple[int, int, int, int, int],
    switches: tuple[bool, bool, bool, bool, bool],
    paths: Way,
    clip: np.float32,
    gain: np.float32,
    weights: Float32,
    observations: Float32,
    actions: Float32,
) -> None:
    """Write actions [K, n, da, W].

    Args:
        starts: first parameter of the role, edge, message and update nets.
        sizes: bits of a role code, hidden width, hidden layers (1 or 2), rounds, message width.
        switches: role assignment, role interaction, self edges, messages read observations,
            soft edges.
        paths: of the assignment, see `assign_lanes`.
        clip: bound of the observations.
        gain: factor before the last tanh.
        weights: [K, D, W].
        observations: [K, n, do, W].
        actions: [K, n, da, W], written.
    """
    bits, width, depth, rounds, mw = sizes
    blocks, n, size = observations.shape[:3]
    assign, self_edges, reads_states, soft = switches[0], switches[2], switches[3], switches[4]
    interact = switches[1] and (n > 1 or self_edges)
    parameters, da = weights.shape[1], actions.shape[2]
    subsets = 1 << n if assign and n <= SUBSET_LIMIT else 0
    (
        ordered, left, right, own, base_left, base_right, pairs, hidden, total, agent_of_role,
        scratch, zeros, best, choice, end,
    ) = workspace_parts(n, size, width, mw, subsets)  # fmt: skip
    rows = workspace(end)
    w = weights
    zero_rows(rows, zeros, width)
    for k in range(first_block(), blocks, block_stride()):
        q = k * parameters
        clip_rows(observations, k * n * size, clip, rows, 0, n * size)
        x = 0
        if assign:
            role_affinities(
                w, q, bits, depth, n, size, width, rows, 0, left, right, scratch, zeros, pairs
            )
            assign_lanes(rows, n, pairs, best, choice, agent_of_role, paths)
            gather(rows, n, size, 0, agent_of_role, ordered)
            x = ordered
        edge_q, message_q, update_q = q + starts[1], q + starts[2], q + starts[3]
        if interact:
            edge_affinities(
                w, edge_q, bits, depth, self_edges, n, size, width, rows, x, left, right,
                scratch, zeros, pairs,
            )  # fmt: skip
            message_bases(
                w, message_q, bits, n, size, mw, width, reads_states, rows, x, zeros,
                base_left, base_right,
            )  # fmt: skip
        update_states(w, update_q, bits, n, size, mw, width, rows, x, own)
        zero_rows(rows, hidden, n * mw)
        heard = total if interact else hidden
        for _ in range(rounds):
            if interact:
                add_messages(
                    w, message_q, bits, depth, self_edges, n, size, mw, width, reads_states, soft,
                    rows, pairs, hidden, base_left, base_right, left, right, scratch, total,
                )  # fmt: skip
            update(w, update_q, bits, depth, n, size, mw, width, rows, own, heard, scratch, hidden)
        for agent in range(n):
            for unit in range(da):
                value = load(rows, hidden + agent * mw + unit)
                if assign:
                    for role in range(n):
                        held = load(rows, agent_of_role + role)
                        action = load(rows, hidden + role * mw + unit)
                        value = pick(equal(held, np.float32(agent)), action, value)
                store(actions, (k * n + agent) * da + unit, tanh_lanes(value * gain))


@compiled
def gather(rows: Float32, n: int, size: int, states: int, agent_of_role: int, ordered: int) -> None:
    """Write the states of agents, `size` rows each, in the order of their roles."""
    for role in range(n):
        held = load(rows, agent_of_role + role)
        for i in range(size):
            value = load(rows, states + i)
            for agent in range(1, n):
                state = load(rows, states + agent * size + i)
                value = pick(equal(held, np.float32(agent)), state, value)
            store(rows, ordered + role * size + i, value)
