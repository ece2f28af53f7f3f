"""Differentiable relaxation of HOM: Sinkhorn for the assignment, a sigmoid for the edges.

Appendix A of the paper; used for Hessians only, never to act. The paper leaves temperatures and
sweeps open; they are chosen here. Results are smooth in the weights, have their dtype (use
float64), and work under `torch.func`.
"""

import torch
from torch import Tensor

from rolecast.policies.hom.interaction import SOFT_EDGE_SLOPE
from rolecast.policies.hom.model import HomModel
from rolecast.policies.network import unpack
from rolecast.policies.relaxation import finish_tensor, forward_tensor

VARIANCE_OFFSET = 1e-12
"""Offset of the variance of affinities, so that its root is differentiable at 0."""


def soft_assignment(affinity: Tensor, temperature: float, sweeps: int) -> Tensor:
    """Return a differentiable relaxation of the assignment of one agent per role.

    Args:
        affinity: [S, n, n], of role (row) for agent (column); no unit, larger is preferred.
            Scaled to unit spread first, as the hard assignment does not depend on its scale.
        temperature: above 0, in units of that spread; near 0 the result nears a permutation.
        sweeps: normalisations of rows, then columns; at least 1.
    Returns:
        [S, n, n], entries in [0, 1]; columns sum to 1, rows come close as sweeps grow.
    Raises:
        ValueError: temperature or sweeps is out of its range.

    Source: Sinkhorn and Knopp (1967). Differs: in logarithms, so small temperatures stay finite.
    """
    if not temperature > 0.0 or sweeps < 1:
        raise ValueError(
            f"temperature is {temperature} and sweeps {sweeps}; expected > 0 and at least 1"
        )
    centred = affinity - affinity.mean(dim=(-2, -1), keepdim=True)
    spread = torch.sqrt(centred.square().mean(dim=(-2, -1), keepdim=True) + VARIANCE_OFFSET)
    logits = centred / (spread * temperature)
    for _ in range(sweeps):
        logits = logits - torch.logsumexp(logits, dim=-1, keepdim=True)
        logits = logits - torch.logsumexp(logits, dim=-2, keepdim=True)
    return logits.exp()


def relaxed_actions(
    model: HomModel,
    weights: Tensor,
    observations: Tensor,
    *,
    role_temperature: float = 0.1,
    edge_temperature: float = 1.0,
    sweeps: int = 20,
) -> Tensor:
    """Return actions [S, n, da], twice differentiable in the weights.

    The input of role i is the mixed state sum_l P_il s_l, with P the soft assignment. Actions of
    the roles are mixed back by P. A message has the sigmoid of its edge's affinity as weight; soft
    edges keep their own, whatever the temperature. The
    limit of temperature 0 and many sweeps is `HomPolicy.act`. It requires a unique optimal
    assignment and edge affinities other than 0.

    Args:
        model: sizes and switches of the policy.
        weights: [D], the policy's own weights (not the unit cube).
        observations: [S, n, do].
        role_temperature: of the assignment, above 0.
        edge_temperature: of the edges, above 0, in the unit of the edge affinity.
        sweeps: Sinkhorn sweeps, at least 1.
    Raises:
        ValueError: a temperature or sweeps is out of its range.
    """
    if not edge_temperature > 0.0:
        raise ValueError(f"edge_temperature is {edge_temperature}; expected a number > 0")
    nets = unpack(weights, model.nets)
    states = observations.clamp(-model.observation_clip, model.observation_clip).to(weights.dtype)
    codes = torch.as_tensor(model.codes, dtype=weights.dtype, device=weights.device)
    mixture = None
    if model.role_assignment:
        role_codes = torch.as_tensor(model.role_codes, dtype=weights.dtype, device=weights.device)
        affinity = _affinity(nets["role"], states, role_codes)
        mixture = soft_assignment(affinity, role_temperature, sweeps)
        states = mixture @ states
    samples, n = states.shape[:2]
    edges = None
    if model.role_interaction:
        sums = _pair_sums(nets["edge"][0], states, codes)
        strength = finish_tensor(nets["edge"], sums)[..., 0]
        slope = SOFT_EDGE_SLOPE if model.soft_edges else 1.0 / edge_temperature
        edges = torch.sigmoid(strength * slope)
        if not model.self_edges:
            edges = edges * (1.0 - torch.eye(n, dtype=weights.dtype, device=weights.device))
    shared_codes = codes.expand(samples, n, model.bits)
    hidden = states.new_zeros((samples, n, model.message_width))
    for _ in range(model.rounds):
        total = hidden
        if edges is not None:
            if model.message_reads == "hidden":
                sums = _pair_sums(nets["message"][0], hidden, codes)
            else:
                sums = _pair_sums(_without_receiver(nets["message"][0], states), states, codes)
            messages = finish_tensor(nets["message"], sums)
            total = hidden + (edges[..., None] * messages).sum(dim=2)
        hidden = forward_tensor(nets["update"], torch.cat([states, shared_codes, total], dim=-1))
    actions = torch.tanh(model.settings.output_gain * hidden[..., : model.action_size])
    return actions if mixture is None else mixture.transpose(-1, -2) @ actions


def _affinity(net: list[tuple[Tensor, Tensor]], states: Tensor, role_codes: Tensor) -> Tensor:
    """Return affinities [S, n, n] of each role (row) for each agent (column)."""
    weight, bias = net[0]
    size = states.shape[-1]
    of_agent = states @ weight[:, :size].T
    of_role = role_codes @ weight[:, size:].T + bias
    return finish_tensor(net, of_role[:, None, :] + of_agent[:, None, :, :])[..., 0]


def _without_receiver(layer: tuple[Tensor, Tensor], states: Tensor) -> tuple[Tensor, Tensor]:
    """Return a first layer that reads a sender alone as one of pairs, 0 for the receiver's rows."""
    weight, bias = layer
    return torch.cat([weight.new_zeros(len(weight), states.shape[-1]), weight], dim=1), bias


def _pair_sums(layer: tuple[Tensor, Tensor], rows: Tensor, codes: Tensor) -> Tensor:
    """Return the sums [S, n, n, width] of a first layer with two roles as inputs, for each pair."""
    weight, bias = layer
    size, bits = rows.shape[-1], codes.shape[-1]
    own, other, own_code, other_code = torch.split(weight, [size, size, bits, bits], dim=1)
    receiver = rows @ own.T + codes @ own_code.T + bias
    sender = rows @ other.T + codes @ other_code.T
    return receiver[:, :, None, :] + sender[:, None, :, :]
