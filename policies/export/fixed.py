"""Fixed-point policies: weights of 8 or 16 bits, integer arithmetic alone, the same on every core.

Units are powers of two. Observations, codes of roles and messages have `input_bits` binary places,
hidden units 15, sums before a tanh 12. Each layer has its own unit of weights. Sums are exact in 32
bits: the unit of a layer is chosen so that no input can overflow them. A right shift rounds to the
nearest, halves upwards; tanh is a table with linear interpolation.

Differs from the float32 reference by the rounding of weights and activations. What that costs in
return is measured, not promised (`rolecast.platform.deployment.quantise`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rolecast.core.errors import ConfigError, RequestError
from rolecast.core.types import Float
from rolecast.policies.export.reference import assigned_agents, in_chunks
from rolecast.policies.export.tables import interacts
from rolecast.policies.hom.assignment import SUBSET_LIMIT
from rolecast.policies.hom.model import HomModel
from rolecast.policies.hom.policy import HomPolicy
from rolecast.policies.mlp import MlpPolicy
from rolecast.policies.network import unpack

Integers = NDArray[np.int64]

SUM_BITS: Final = 12
"""Binary places of a sum before a tanh, and of an output."""

UNIT_BITS: Final = 15
"""Binary places of a hidden unit and of an action."""

TABLE_STEP_BITS: Final = 8
"""A step of the table of tanh is 2^8 units of a sum: 1/16."""

TANH_TABLE: Final[Integers] = np.append(
    np.rint(32767 * np.tanh(np.arange(64) / 16)).astype(np.int64), 32767
)
"""tanh from 0 to 4 in steps of 1/16; from 4 on it is 1."""

LARGEST_SHORT: Final = 32767
_MOST_WEIGHT_BITS: Final = 20
_LARGEST_SUM: Final = 2**31 - 2**24


@dataclass(frozen=True, kw_only=True)
class FixedLayer:
    """One layer in integers."""

    weight: Integers
    """[out, in], in the unit of the layer."""

    bias: Integers
    """[out], in the same unit; it is multiplied by the 1 of its inputs."""

    shift: int
    """Right shift from the unit of its sums to `SUM_BITS`."""


@dataclass(frozen=True, kw_only=True)
class FixedPolicy:
    """A policy in integers."""

    policy: HomPolicy | MlpPolicy
    """The policy that was rounded."""

    nets: Mapping[str, Sequence[FixedLayer]]
    """Net to its layers."""

    weight_bits: int
    """Bits of a weight: 8 or 16."""

    input_bits: int
    """Binary places of observations, codes and messages."""

    gain: int
    """Gain before the last tanh, with 7 binary places."""

    clip: int
    """Bound of the observations, with `input_bits` places."""

    def rounded_observations(self, observations: Float) -> Integers:
        """Return observations in integers of 16 bits, as a device must give them."""
        scaled = np.floor(observations.astype(np.float64) * 2.0**self.input_bits + 0.5)
        return np.clip(scaled, -self.clip, self.clip).astype(np.int64)

    def act(self, observations: Integers) -> Integers:
        """Return actions [B, n, da] with 15 places for integer observations [B, n, do]."""
        return in_chunks(self._act_at_once, self.policy)(observations)

    def _act_at_once(self, observations: Integers) -> Integers:
        states = np.clip(observations, -self.clip, self.clip)
        if isinstance(self.policy, MlpPolicy):
            layers = self.nets[self.policy.net.name]
            first = add_columns(layers[0].bias << self.input_bits, layers[0].weight, states)
            return self._action(finish(layers, first))
        model = self.policy.model
        if not model.role_assignment:
            return self._action(self._role_outputs(model, states))
        agent_of_role = assigned_agents(self._role_affinities(model, states))
        states = np.take_along_axis(states, agent_of_role[..., None], axis=1)
        of_roles = self._action(self._role_outputs(model, states))
        return np.take_along_axis(of_roles, np.argsort(agent_of_role, axis=1)[..., None], axis=1)

    def _action(self, sums: Integers) -> Integers:
        """Return tanh of the gain times sums; sums beyond 8 are taken for 8."""
        short = np.clip(sums, -LARGEST_SHORT, LARGEST_SHORT)
        return tanh(shifted(short * self.gain, 7))

    def _message(self, sums: Integers) -> Integers:
        """Return sums as messages: 16 bits with `input_bits` places."""
        places = shifted(sums, SUM_BITS - self.input_bits)
        return np.asarray(np.clip(places, -LARGEST_SHORT, LARGEST_SHORT), dtype=np.int64)

    def _codes(self, codes: Float) -> Integers:
        return codes.astype(np.int64) << self.input_bits

    def _role_affinities(self, model: HomModel, states: Integers) -> Integers:
        layers, size = self.nets["role"], model.observation_size
        weight, bias = layers[0].weight, layers[0].bias << self.input_bits
        of_agent = add_columns(np.zeros_like(bias), weight[:, :size], states)
        of_role = add_columns(bias, weight[:, size:], self._codes(model.role_codes))
        return finish(layers, of_role[:, None, :] + of_agent[:, None, :, :])[..., 0]

    def _role_outputs(self, model: HomModel, states: Integers) -> Integers:
        n, width = model.agents, model.message_width
        codes = np.broadcast_to(self._codes(model.codes), (len(states), n, model.bits))
        edge = self._pair_outputs("edge", states, states, codes) if interacts(model) else None
        hidden = np.zeros((len(states), n, width), dtype=np.int64)
        layers = self.nets["update"]
        for _ in range(model.rounds):
            if edge is not None:
                if model.message_reads == "hidden":
                    messages = self._pair_outputs("message", hidden, hidden, codes)
                else:
                    messages = self._pair_outputs("message", None, states, codes)
                hidden = self._heard(model, edge[..., 0], self._message(messages), hidden)
            inputs = np.concatenate([states, codes, hidden], axis=-1)
            bias = layers[0].bias << self.input_bits
            sums = finish(layers, add_columns(bias, layers[0].weight, inputs))
            hidden = self._message(sums)
        return sums[..., : model.action_size]

    def _pair_outputs(
        self, net: str, receiver: Integers | None, sender: Integers, codes: Integers
    ) -> Integers:
        """Return outputs [B, receiver, sender, out]; columns as in the float32 reference."""
        layers = self.nets[net]
        weight, bias = layers[0].weight, layers[0].bias << self.input_bits
        first = 0 if receiver is None else receiver.shape[-1]
        code = first + sender.shape[-1]
        bits = codes.shape[-1]
        of_receiver = add_columns(bias, weight[:, code : code + bits], codes)
        if receiver is not None:
            of_receiver = add_columns(of_receiver, weight[:, :first], receiver)
        of_sender = add_columns(np.zeros_like(bias), weight[:, first:code], sender)
        of_sender = add_columns(of_sender, weight[:, code + bits :], codes)
        return finish(layers, of_receiver[:, :, None, :] + of_sender[:, None, :, :])

    def _heard(
        self, model: HomModel, edge: Integers, messages: Integers, hidden: Integers
    ) -> Integers:
        """Return messages plus the state of each role; every sum is cut to 16 bits."""
        half = tanh(np.clip(edge, -LARGEST_SHORT, LARGEST_SHORT) * 2)
        weight = (half + 32768) >> 1
        total, receivers = hidden, np.arange(model.agents)[:, None]
        for sender in range(model.agents):
            pair = messages[:, :, sender]
            if model.soft_edges:
                heard = shifted(weight[:, :, sender, None] * pair, UNIT_BITS)
            else:
                heard = np.where(edge[:, :, sender, None] > 0, pair, 0)
            heard = np.where((receivers != sender) | model.self_edges, heard, 0)
            total = np.clip(total + heard, -LARGEST_SHORT, LARGEST_SHORT)
        return total


def shifted(numbers: Integers, places: int) -> Integers:
    """Return numbers divided by 2^places, to the nearest integer, halves upwards."""
    return (numbers + (1 << places >> 1)) >> places


def tanh(sums: Integers) -> Integers:
    """Return tanh with 15 places for sums with 12 places."""
    size = np.minimum(np.abs(sums), 64 << TABLE_STEP_BITS)
    place, part = size >> TABLE_STEP_BITS, size & ((1 << TABLE_STEP_BITS) - 1)
    below, above = TANH_TABLE[place], TANH_TABLE[np.minimum(place + 1, 64)]
    sizes = below + shifted((above - below) * part, TABLE_STEP_BITS)
    return np.asarray(np.sign(sums) * sizes, dtype=np.int64)


def add_columns(start: Integers, weight: Integers, inputs: Integers) -> Integers:
    """Return start [..., out] plus weight [out, in] times inputs [..., in]."""
    return np.asarray(start + inputs @ weight.T, dtype=np.int64)


def finish(layers: Sequence[FixedLayer], first: Integers) -> Integers:
    """Return the outputs of a net, with 12 places, from the sums of its first layer."""
    sums = shifted(first, layers[0].shift)
    for layer in layers[1:]:
        sums = shifted(add_columns(layer.bias << UNIT_BITS, layer.weight, tanh(sums)), layer.shift)
    return sums


def fixed_policies(
    policy: HomPolicy | MlpPolicy, weights: Float, weight_bits: int
) -> list[FixedPolicy]:
    """Round a policy to integers, for each number of binary places of its inputs that fits.

    Args:
        policy: with at most `SUBSET_LIMIT` agents where it assigns roles.
        weights: [D], finite.
        weight_bits: 8 or 16.
    Returns:
        One or more, those of most binary places first.
    Raises:
        RequestError: there are too many agents.
        ConfigError: weights, gain or bound leave no room for their unit.
    """
    roles = isinstance(policy, HomPolicy) and policy.model.role_assignment
    agents = policy.model.agents if isinstance(policy, HomPolicy) else policy.agents
    if roles and agents > SUBSET_LIMIT:
        raise RequestError(
            f"policy 'hom' assigns roles to {agents} agents; expected at most {SUBSET_LIMIT} for "
            "integer weights: export --weights float32"
        )
    clip, gain = (float(policy.options[key]) for key in ("observation_clip", "output_gain"))
    most = min(int(np.floor(np.log2(LARGEST_SHORT / max(clip, 1.0)))), SUM_BITS)
    if most < 1 or not 0 < round(gain * 128) <= LARGEST_SHORT:
        expected = "a bound of the observations below 16,000 and a gain in (0, 255]"
        raise ConfigError("policy for integer weights", (clip, gain), expected)
    nets = policy.model.nets if isinstance(policy, HomPolicy) else (policy.net,)
    layers = unpack(weights, nets)
    fitting = []
    for places in range(most, 0, -1):
        rounded = {name: _fixed_net(net, weight_bits, places) for name, net in layers.items()}
        whole = {name: net for name, net in rounded.items() if net is not None}
        if len(whole) == len(rounded):
            fitting.append(
                FixedPolicy(
                    policy=policy,
                    nets=whole,
                    weight_bits=weight_bits,
                    input_bits=places,
                    gain=round(gain * 128),
                    clip=int(np.floor(clip * 2.0**places)),
                )
            )
    if not fitting:
        expected = f"weights that fit {weight_bits} bits"
        raise ConfigError("export.weights", float(np.abs(weights).max()), expected)
    return fitting


def _fixed_net(
    net: Sequence[tuple[Float, Float]], weight_bits: int, places: int
) -> list[FixedLayer] | None:
    """Return a net in integers whose inputs have these binary places; None where none fits."""
    units = [places] + [UNIT_BITS] * (len(net) - 1)
    layers = [
        _fixed_layer(layer, weight_bits, each) for layer, each in zip(net, units, strict=True)
    ]
    whole = [layer for layer in layers if layer is not None]
    return whole if len(whole) == len(layers) else None


def _fixed_layer(layer: tuple[Float, Float], weight_bits: int, places: int) -> FixedLayer | None:
    """Round one layer in the finest unit in which its weights fit and its sums cannot overflow."""
    rows = np.column_stack(layer)
    for unit in range(_MOST_WEIGHT_BITS, SUM_BITS - places, -1):
        rounded = np.rint(rows * 2.0**unit).astype(np.int64)
        fits = np.abs(rounded).max() < 2 ** (weight_bits - 1)
        if fits and np.abs(rounded).sum(axis=1).max() * 32768 < _LARGEST_SUM:
            shift = unit + places - SUM_BITS
            return FixedLayer(weight=rounded[:, :-1], bias=rounded[:, -1], shift=shift)
    return None
