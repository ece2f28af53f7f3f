"""The float32 reference of exported policies: each operation rounds once, in a stated order.

C on a device computes the same bits. The rules:
- All numbers are float32; +, -, * and / round to nearest, and no operation is fused with another.
- A layer begins with its bias and adds weight times input, input by input, in their order.
- HOM computes the first layer of two roles in two parts, each in the order of the net's columns.
  The part of the role net for a role, of an edge or message net for the receiver, has the bias. The
  other begins with 0. A pair of roles adds its two parts.
- Messages are added sender by sender. A hard edge that is off adds nothing.
- Sums of affinities: see `assigned_agents`.

Differs: the compiled kernels of a search (`policies/**/*_fused.py`) let the compiler reorder and
fuse sums. Their actions are near these, not equal (tests/policies/export/test_reference.py).
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rolecast.core.errors import ConfigError, RequestError
from rolecast.core.types import Float, Float32
from rolecast.policies.hom.assignment import SUBSET_LIMIT
from rolecast.policies.hom.interaction import SOFT_EDGE_SLOPE
from rolecast.policies.hom.model import HomModel
from rolecast.policies.hom.policy import HomPolicy
from rolecast.policies.mlp import MlpPolicy
from rolecast.policies.network import TANH_BOUND, unpack
from rolecast.policies.protocol import Policy

f32 = np.float32
Layer = tuple[Float32, Float32]
"""Weight [out, in] and bias [out]."""

CHUNK_NUMBERS: Final = 2**20
"""Most numbers of a hidden layer of all pairs of agents, or of all their sets, at a time."""

TANH_NUMERATOR: Final = (
    -2.76076847742355e-16,
    2.00018790482477e-13,
    -8.60467152213735e-11,
    5.12229709037114e-08,
    1.48572235717979e-05,
    6.37261928875436e-04,
    4.89352455891786e-03,
)
"""Coefficients of x^13, x^11, ..., x (Eigen library)."""

TANH_DENOMINATOR: Final = (
    1.19825839466702e-06,
    1.18534705686654e-04,
    2.26843463243900e-03,
    4.89352518554385e-03,
)
"""Coefficients of x^6, x^4, x^2, 1."""


def tanh(x: Float32) -> Float32:
    """Return tanh within 1e-6: a rational function, by Horner's rule; NaN stays NaN."""
    x = clip(x, TANH_BOUND)
    s = x * x
    p = np.full_like(s, f32(TANH_NUMERATOR[0]))
    for coefficient in TANH_NUMERATOR[1:]:
        p = p * s + f32(coefficient)
    q = np.full_like(s, f32(TANH_DENOMINATOR[0]))
    for coefficient in TANH_DENOMINATOR[1:]:
        q = q * s + f32(coefficient)
    return np.asarray(p * x / q, dtype=f32)


def clip(x: Float32, bound: np.float32) -> Float32:
    """Return x in [-bound, bound]; NaN stays NaN."""
    return np.where(x > bound, bound, np.where(x < -bound, -bound, x))


def add_columns(start: Float32, weight: Float32, inputs: Float32) -> Float32:
    """Return start [..., out] plus weight [out, in] times inputs [..., in], input by input."""
    start = np.broadcast_to(start, (*inputs.shape[:-1], len(weight)))
    for column in range(weight.shape[1]):
        start = start + weight[:, column] * inputs[..., column, None]
    return start


def dense(layer: Layer, inputs: Float32) -> Float32:
    """Return the outputs [..., out] of one layer for inputs [..., in]."""
    weight, bias = layer
    return add_columns(bias, weight, inputs)


def finish(layers: Sequence[Layer], first: Float32) -> Float32:
    """Return the outputs of a net from the sums [..., hidden] of its first layer."""
    for layer in layers[1:]:
        first = dense(layer, tanh(first))
    return first


def assigned_agents(affinity: Float32 | NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the agent of each role [R, n] of largest total affinity [R, role, agent].

    Up to SUBSET_LIMIT agents by subsets: the best total of the roles r, ..., n - 1 is the affinity
    of r's agent plus the best total of r + 1, ..., n - 1. Of equal totals, the lowest agent counts.
    Above, each matrix by `shortest_paths`, compiled to round alike.
    """
    rows, n, _ = affinity.shape
    if n > SUBSET_LIMIT:
        # Loaded here: small teams need no compiler.
        from rolecast.policies.export.shortest_paths import shortest_paths

        return shortest_paths(np.ascontiguousarray(affinity, dtype=f32))
    best = np.zeros((rows, 1 << n), dtype=affinity.dtype)
    choice = np.zeros((rows, 1 << n), dtype=np.int64)
    for taken in range((1 << n) - 2, -1, -1):
        role = taken.bit_count()
        free = [agent for agent in range(n) if not taken >> agent & 1]
        for agent in free:
            total = affinity[:, role, agent] + best[:, taken | 1 << agent]
            better = (total > best[:, taken]) | (agent == free[0])
            best[:, taken] = np.where(better, total, best[:, taken])
            choice[:, taken] = np.where(better, agent, choice[:, taken])
    found, taken_now = np.empty((rows, n), dtype=np.int64), np.zeros(rows, dtype=np.int64)
    for role in range(n):
        found[:, role] = choice[np.arange(rows), taken_now]
        taken_now |= 1 << found[:, role]
    return found


def mlp_actions(policy: MlpPolicy, layers: Sequence[Layer], observations: Float32) -> Float32:
    """Return actions [B, n, da] of policies `mlp` and `linear`."""
    clipped = clip(observations, f32(policy.observation_clip))
    outputs = finish(layers, dense(layers[0], clipped))
    return tanh(outputs * f32(policy.output_gain))


def hom_actions(model: HomModel, nets: dict[str, list[Layer]], observations: Float32) -> Float32:
    """Return actions [B, n, da] of policy `hom`."""
    states = clip(observations, f32(model.observation_clip))
    if not model.role_assignment:
        return tanh(role_outputs(model, nets, states) * f32(model.settings.output_gain))
    agent_of_role = assigned_agents(role_affinities(model, nets["role"], states))
    states = np.take_along_axis(states, agent_of_role[..., None], axis=1)
    of_roles = tanh(role_outputs(model, nets, states) * f32(model.settings.output_gain))
    return np.take_along_axis(of_roles, np.argsort(agent_of_role, axis=1)[..., None], axis=1)


def role_affinities(model: HomModel, layers: Sequence[Layer], states: Float32) -> Float32:
    """Return the affinity [B, role, agent] (Algorithm 1, line 1)."""
    weight, bias = layers[0]
    size = model.observation_size
    of_agent = add_columns(np.zeros_like(bias), weight[:, :size], states)
    of_role = add_columns(bias, weight[:, size:], model.role_codes.astype(f32))
    return finish(layers, of_role[:, None, :] + of_agent[:, None, :, :])[..., 0]


def role_outputs(model: HomModel, nets: dict[str, list[Layer]], states: Float32) -> Float32:
    """Return the outputs [B, n, da] of the roles before gain and tanh (Algorithms 2 and 3)."""
    n, size, width = model.agents, model.observation_size, model.message_width
    codes = np.broadcast_to(model.codes.astype(f32), (len(states), n, model.bits))
    interacts = model.role_interaction and (n > 1 or model.self_edges)
    edge = pair_outputs(nets["edge"], (states, codes), (states, codes)) if interacts else None
    hidden = np.zeros((len(states), n, width), dtype=f32)
    update, bias = nets["update"][0]
    for _ in range(model.rounds):
        if edge is not None:
            if model.message_reads == "hidden":
                messages = pair_outputs(nets["message"], (hidden, codes), (hidden, codes))
            else:
                messages = pair_outputs(nets["message"], (codes,), (states, codes))
            hidden = heard(model, edge[..., 0], messages, hidden)
        own = add_columns(bias, update[:, :size], states)
        own = add_columns(own, update[:, size : size + model.bits], codes)
        hidden = finish(nets["update"], add_columns(own, update[:, size + model.bits :], hidden))
    return hidden[..., : model.action_size]


def pair_outputs(
    layers: Sequence[Layer], receiver: Sequence[Float32], sender: Sequence[Float32]
) -> Float32:
    """Return the outputs [B, receiver, sender, out] of a net that reads two roles.

    Its columns are the first inputs of the receiver and of the sender, then the second of both.

    Args:
        layers: of the net.
        receiver: inputs [B, n, ..] of the receiver: its state, if it is read, and its code.
        sender: inputs of the sender: its state and its code.
    """
    weight, bias = layers[0]
    of_receiver, of_sender, start = bias, np.zeros_like(bias), 0
    for place in (-2, -1):
        if len(receiver) >= -place:
            stop = start + receiver[place].shape[-1]
            of_receiver = add_columns(of_receiver, weight[:, start:stop], receiver[place])
            start = stop
        stop = start + sender[place].shape[-1]
        of_sender = add_columns(of_sender, weight[:, start:stop], sender[place])
        start = stop
    return finish(layers, of_receiver[:, :, None, :] + of_sender[:, None, :, :])


def heard(model: HomModel, edge: Float32, messages: Float32, hidden: Float32) -> Float32:
    """Return hidden [B, n, k] plus the messages that each role hears, sender by sender.

    Args:
        model: sizes and switches.
        edge: affinity [B, receiver, sender].
        messages: [B, receiver, sender, k].
        hidden: [B, n, k].
    """
    half = tanh(edge * f32(0.5 * SOFT_EDGE_SLOPE)) * f32(0.5)
    total, receivers = hidden, np.arange(model.agents)[:, None]
    for sender in range(model.agents):
        pair, hears = messages[:, :, sender], (receivers != sender) | model.self_edges
        if model.soft_edges:
            so_far = total + (half[:, :, sender, None] + f32(0.5)) * pair
        else:
            so_far, hears = total + pair, hears & (edge[:, :, sender, None] > 0.0)
        total = np.where(hears, so_far, total)
    return total


def chunk_rows(policy: HomPolicy | MlpPolicy) -> int:
    """Return how many rows of observations are computed at a time, so that memory is bounded."""
    if isinstance(policy, MlpPolicy):
        numbers = policy.agents * max(policy.net.widths)
    else:
        model = policy.model
        subsets = 1 << model.agents if model.agents <= SUBSET_LIMIT else 0
        numbers = max(model.agents**2 * max(*model.hidden, model.message_width), subsets)
    return max(CHUNK_NUMBERS // numbers, 1)


def in_chunks(
    act: Callable[[NDArray[Any]], NDArray[Any]], policy: HomPolicy | MlpPolicy, copies: int = 1
) -> Callable[[NDArray[Any]], NDArray[Any]]:
    """Return a function of observations [B, n, do] that computes `chunk_rows` of them at a time.

    Args:
        act: the function.
        policy: whose observations they are.
        copies: the memory of a row, in that of one row in float32.
    """
    rows = max(chunk_rows(policy) // copies, 1)

    def chunked(observations: NDArray[Any]) -> NDArray[Any]:
        starts = range(0, max(len(observations), 1), rows)
        return np.concatenate([act(observations[start : start + rows]) for start in starts])

    return chunked


def reference(policy: Policy, weights: Float) -> Callable[[Float32], Float32]:
    """Return the function from observations [B, n, do] to actions [B, n, da] of a policy.

    Args:
        policy: `hom`, `mlp` or `linear`.
        weights: [D], finite as float32; they are rounded to it.
    Raises:
        RequestError: the policy is of another kind.
        ConfigError: a weight is NaN, or too large for float32, as is a bound or gain of the policy.
    """
    with np.errstate(over="ignore"):
        rounded = weights.astype(f32) + f32(0.0)  # the sign of a zero is lost
    if not np.isfinite(rounded).all():
        worst = weights[~np.isfinite(rounded)][0]
        raise ConfigError("export.weights", float(worst), "finite numbers of float32")

    if isinstance(policy, HomPolicy | MlpPolicy):
        _require_bounds(policy)

    def layers_of(nets: object) -> dict[str, list[Layer]]:
        return unpack(rounded, nets)  # type: ignore[arg-type]

    if isinstance(policy, HomPolicy):
        hom_nets = layers_of(policy.model.nets)
        return in_chunks(partial(hom_actions, policy.model, hom_nets), policy)
    if isinstance(policy, MlpPolicy):
        layers = layers_of([policy.net])[policy.net.name]
        return in_chunks(partial(mlp_actions, policy, layers), policy)
    raise RequestError(f"policy {policy.name!r} has no exporter; expected one of hom, linear, mlp")


def _require_bounds(policy: HomPolicy | MlpPolicy) -> None:
    """Refuse a bound or a gain that is 0 or infinite as float32."""
    for name in ("observation_clip", "output_gain"):
        with np.errstate(over="ignore"):
            bound = f32(policy.options[name])
        if not 0.0 < bound < np.inf:
            expected = "a number > 0 and finite as float32"
            raise ConfigError(f"export: {name}", policy.options[name], expected)
