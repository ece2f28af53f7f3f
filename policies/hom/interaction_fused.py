"""Compiled parts of `fused.hom_actions`: affinities, messages, updates, over lanes in float32.

Arguments have one meaning throughout:
- `w` [.., W]: parameters; `q`: first parameter of the net.
- n agents, `size` numbers observed, `mw` numbers of h and of a message, `bits` of a role code.
- `depth` (1 or 2) hidden layers of `width`.
- `rows` [.., W]: workspace. Every other integer is the first row of a part of it.
- A part has n roles or agents, one after the other.
- `scratch` has 2 width + mw rows, `zeros` has `width` rows of 0.
"""

import numpy as np

from rolecast.core.compiled import inlined
from rolecast.core.simd import load, pick, store
from rolecast.core.types import Float32
from rolecast.policies.hom.interaction import SOFT_EDGE_SLOPE
from rolecast.policies.layers_fused import (
    add_code,
    add_product,
    dense,
    squash,
    squash_sum,
    tanh_lanes,
)

f32 = np.float32


@inlined
def finish(
    w: Float32, q: int, depth: int, width: int, rows: Float32, z: int, out: int, outputs: int
) -> None:
    """Compute a net from its first hidden layer `z`; writes `outputs` rows from `out` on.

    `q` is the first parameter after the first layer; the `width` rows after z are overwritten.
    """
    if depth == 2:
        q = dense(w, q, rows, z, width, z + width, width)
        z += width
        squash(rows, z, width)
    dense(w, q, rows, z, width, out, outputs)


@inlined
def role_affinities(
    w: Float32,
    q: int,
    bits: int,
    depth: int,
    n: int,
    size: int,
    width: int,
    rows: Float32,
    states: int,
    of_agent: int,
    of_role: int,
    scratch: int,
    zeros: int,
    affinity: int,
) -> None:
    """Write the affinity of each role (outer) for each agent (inner); Algorithm 1, line 1."""
    stride = size + 2 * bits
    bias = q + width * stride
    all_bits = (1 << bits) - 1
    for i in range(n):
        agent, role = of_agent + i * width, of_role + i * width
        add_product(w, q, stride, rows, zeros, rows, states + i * size, size, agent, width)
        add_code(w, q + size, stride, i, bits, w, bias, rows, role, width)
        complement = all_bits ^ i
        add_code(w, q + size + bits, stride, complement, bits, rows, role, rows, role, width)
    for role in range(n):
        for agent in range(n):
            squash_sum(rows, of_role + role * width, of_agent + agent * width, scratch, width)
            finish(w, bias + width, depth, width, rows, scratch, affinity + role * n + agent, 1)


@inlined
def edge_affinities(
    w: Float32,
    q: int,
    bits: int,
    depth: int,
    self_edges: bool,
    n: int,
    size: int,
    width: int,
    rows: Float32,
    states: int,
    receiver: int,
    sender: int,
    scratch: int,
    zeros: int,
    affinity: int,
) -> None:
    """Write the affinity of role i (outer) for messages of role l (inner); Algorithm 2."""
    stride = 2 * size + 2 * bits
    bias = q + width * stride
    for role in range(n):
        x, left, right = states + role * size, receiver + role * width, sender + role * width
        codes = q + 2 * size
        add_product(w, q, stride, w, bias, rows, x, size, left, width)
        add_code(w, codes, stride, role, bits, rows, left, rows, left, width)
        add_product(w, q + size, stride, rows, zeros, rows, x, size, right, width)
        add_code(w, codes + bits, stride, role, bits, rows, right, rows, right, width)
    for i in range(n):
        for other in range(n):
            if i != other or self_edges:
                squash_sum(rows, receiver + i * width, sender + other * width, scratch, width)
                pair = affinity + i * n + other
                finish(w, bias + width, depth, width, rows, scratch, pair, 1)


@inlined
def message_bases(
    w: Float32,
    q: int,
    bits: int,
    n: int,
    size: int,
    mw: int,
    width: int,
    reads_states: bool,
    rows: Float32,
    states: int,
    zeros: int,
    receiver: int,
    sender: int,
) -> None:
    """Write the part of the message net's first layer that is equal in all rounds.

    It is that of codes and bias, and of the sender's state if the net reads it.
    """
    read = size if reads_states else 2 * mw
    stride = read + 2 * bits
    codes, bias = q + read, q + width * stride
    for role in range(n):
        left, right = receiver + role * width, sender + role * width
        add_code(w, codes, stride, role, bits, w, bias, rows, left, width)
        add_code(w, codes + bits, stride, role, bits, rows, zeros, rows, right, width)
        if reads_states:
            x = states + role * size
            add_product(w, q, stride, rows, right, rows, x, size, right, width)


@inlined
def add_messages(
    w: Float32,
    q: int,
    bits: int,
    depth: int,
    self_edges: bool,
    n: int,
    size: int,
    mw: int,
    width: int,
    reads_states: bool,
    soft: bool,
    rows: Float32,
    affinity: int,
    hidden: int,
    base_receiver: int,
    base_sender: int,
    receiver: int,
    sender: int,
    scratch: int,
    total: int,
) -> None:
    """Write h plus the messages received by each role to `total`; equation 3, first line."""
    stride = (size if reads_states else 2 * mw) + 2 * bits
    after = q + width * stride + width
    message = scratch + 2 * width
    if reads_states:
        receiver, sender = base_receiver, base_sender
    else:
        for role in range(n):
            h, shift = hidden + role * mw, role * width
            left, right = receiver + shift, sender + shift
            add_product(w, q, stride, rows, base_receiver + shift, rows, h, mw, left, width)
            add_product(w, q + mw, stride, rows, base_sender + shift, rows, h, mw, right, width)
    for i in range(n):
        so_far = hidden + i * mw
        for other in range(n):
            if i != other or self_edges:
                squash_sum(rows, receiver + i * width, sender + other * width, scratch, width)
                finish(w, after, depth, width, rows, scratch, message, mw)
                edge = load(rows, affinity + i * n + other)
                weight = pick(edge > 0.0, 1.0, 0.0)
                if soft:
                    half = tanh_lanes(edge * f32(0.5 * SOFT_EDGE_SLOPE)) * f32(0.5)
                    weight = half + f32(0.5)
                for unit in range(mw):
                    heard = weight * load(rows, message + unit)
                    store(rows, total + i * mw + unit, load(rows, so_far + unit) + heard)
                so_far = total + i * mw


@inlined
def update_states(
    w: Float32,
    q: int,
    bits: int,
    n: int,
    size: int,
    mw: int,
    width: int,
    rows: Float32,
    states: int,
    own: int,
) -> None:
    """Write the part of the update net's first layer of state, code and bias."""
    stride = size + bits + mw
    for role in range(n):
        y = own + role * width
        bias = q + width * stride
        add_product(w, q, stride, w, bias, rows, states + role * size, size, y, width)
        add_code(w, q + size, stride, role, bits, rows, y, rows, y, width)


@inlined
def update(
    w: Float32,
    q: int,
    bits: int,
    depth: int,
    n: int,
    size: int,
    mw: int,
    width: int,
    rows: Float32,
    own: int,
    total: int,
    scratch: int,
    hidden: int,
) -> None:
    """Write the next hidden vector of every role; equation 3, second line."""
    stride = size + bits + mw
    for role in range(n):
        x, base = total + role * mw, own + role * width
        add_product(w, q + size + bits, stride, rows, base, rows, x, mw, scratch, width)
        squash(rows, scratch, width)
        after = q + width * stride + width
        finish(w, after, depth, width, rows, scratch, hidden + role * mw, mw)
