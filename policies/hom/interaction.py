"""Algorithm 2 and equation 3: edges between roles, and messages along them.

Differs: the text of the paper calls the graph undirected; its algorithm builds the directed graph
computed here. The paper leaves open, chosen here: h_0 = 0, messages of width da unless another is
set, m = 0 without a neighbour. With `message_reads="observation"` the message net reads
what the sender observes (`Differs:` the paper's reads h of both roles); messages are then the same
in every round.
"""

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from rolecast.core.types import Float
from rolecast.policies.hom.model import HomModel
from rolecast.policies.network import forward

SOFT_EDGE_SLOPE: Final = 4.0
"""Factor of the affinity in the sigmoid of a soft edge, whose slope at 0 is then 1."""

Layers = Mapping[str, Sequence[tuple[Float, Float]]]


def edges(model: HomModel, layers: Layers, states: Float) -> Float:
    """Return the edges [P, B, n, n]: weight of what role i (third axis) hears of role l (last).

    Weights are 0 or 1. Differs: soft ones are between, and have a slope in the weights of the net.

    Args:
        model: sizes and switches.
        layers: the policy's nets for P candidates, from `unpack`.
        states: [P, B, n, do], observations in the order of roles.
    """
    affinity = forward(layers["edge"], _pairs(states, model.codes))[..., 0]
    weights = (affinity > 0.0).astype(np.float64)
    if model.soft_edges:
        weights = 0.5 + 0.5 * np.tanh(0.5 * SOFT_EDGE_SLOPE * affinity)
    if not model.self_edges:
        weights = weights * ~np.eye(model.agents, dtype=bool)
    return weights


def role_actions(model: HomModel, layers: Layers, states: Float) -> Float:
    """Return the action [P, B, n, da] of each role before gain and tanh: the begin of h_tau.

    Args:
        model: sizes and switches.
        layers: the policy's nets for P candidates, from `unpack`.
        states: [P, B, n, do], observations in the order of roles.
    """
    lead = states.shape[:-1]
    hidden = np.zeros((*lead, model.message_width))
    codes = np.broadcast_to(model.codes, (*lead, model.bits))
    heard = edges(model, layers, states) if model.role_interaction else None
    for _ in range(model.rounds):
        total = hidden
        if heard is not None:
            if model.message_reads == "hidden":
                inputs = _pairs(hidden, model.codes)
            else:
                inputs = _pairs(states, model.codes)[..., states.shape[-1] :]  # the sender's alone
            messages = forward(layers["message"], inputs)
            total = hidden + (heard[..., None] * messages).sum(axis=3)
        hidden = forward(layers["update"], np.concatenate([states, codes, total], axis=-1))
    return hidden[..., : model.action_size]


def _pairs(rows: Float, codes: Float) -> Float:
    """Return pair inputs [P, B, n, n, 2k + 2b]: rows of roles i and l, then codes of both."""
    shape = (*rows.shape[:3], rows.shape[2])
    parts = [
        rows[:, :, :, None, :],
        rows[:, :, None, :, :],
        codes[None, None, :, None, :],
        codes[None, None, None, :, :],
    ]
    return np.concatenate(
        [np.broadcast_to(part, (*shape, part.shape[-1])) for part in parts], axis=-1
    )
