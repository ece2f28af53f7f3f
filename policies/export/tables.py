"""The weights of a policy in the order in which a device reads them, and the sizes of its parts."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rolecast.core.types import Float, Float32
from rolecast.policies.export.reference import add_columns
from rolecast.policies.hom.model import HomModel
from rolecast.policies.hom.policy import HomPolicy
from rolecast.policies.mlp import MlpPolicy
from rolecast.policies.network import unpack

Order = NDArray[np.int64]
"""Places in the parameter vector [D], in the order of reading."""


@dataclass(frozen=True, kw_only=True)
class WeightTable:
    """Order of the parameters on a device."""

    order: Order
    """[D], a permutation: entry k is the parameter that is read as the k-th."""

    starts: dict[str, int]
    """Name of a part of the code to its first place in the order."""


def mlp_table(policy: MlpPolicy) -> WeightTable:
    """Return the table of `mlp` and `linear`: unit by unit, bias first."""
    places = np.arange(policy.space.size, dtype=np.float64)
    layers = unpack(places, [policy.net])[policy.net.name]
    return WeightTable(order=_joined([_units(layer) for layer in layers]), starts={})


def hom_table(policy: HomPolicy) -> WeightTable:
    """Return the table of `hom`: for each net, columns of the first layer, then further units."""
    model = policy.model
    places = np.arange(policy.space.size, dtype=np.float64)

    def first_layer(net: str, weight: Any, bias: Any) -> Iterator[Any]:
        for bias_first, columns in _column_parts(model, net):
            yield from [bias] * bias_first
            yield weight[:, columns].T.ravel()

    parts, starts = _net_by_net(model, unpack(places, model.nets), first_layer)
    return WeightTable(order=_joined(parts), starts=starts)


def team_numbers(policy: HomPolicy, weights: Float) -> tuple[Float32, dict[str, int]]:
    """Return the numbers of the step of a whole team in the order of reading, and their starts.

    Layers are there unit by unit, first layers in the parts of `hom_table`. First sums that depend
    on the codes alone are a row [hidden] a role, after the part of the other role: the role net's,
    and those of a message net's receiver where it reads its code alone.

    Args:
        policy: `hom`.
        weights: [D], finite as float32.
    """
    model, size = policy.model, policy.model.observation_size
    rounded = weights.astype(np.float32) + np.float32(0.0)

    def first_layer(net: str, weight: Float32, bias: Float32) -> Iterator[Float32]:
        if net == "role":
            codes = model.role_codes.astype(np.float32)
            yield weight[:, :size].ravel()
            yield add_columns(bias, weight[:, size:], codes).ravel()
        elif net == "message" and model.message_reads == "observation":
            (_, of_receiver), (_, of_sender) = _column_parts(model, net)
            codes = model.codes.astype(np.float32)
            yield weight[:, of_sender].ravel()
            yield add_columns(bias, weight[:, of_receiver], codes).ravel()
        else:
            for bias_first, columns in _column_parts(model, net):
                part = weight[:, columns]
                yield _units((part, bias)) if bias_first else part.ravel()

    parts, starts = _net_by_net(model, unpack(rounded, model.nets), first_layer)
    return np.concatenate(parts), starts


def _net_by_net(
    model: HomModel,
    nets: Mapping[str, Sequence[Any]],
    first_layer: Callable[[str, Any, Any], Iterable[Any]],
) -> tuple[list[Any], dict[str, int]]:
    """Return the parts of all nets that compute anything, and where each net and its end begin.

    Args:
        model: of the policy.
        nets: name to layers, each a weight [out, in] and a bias [out].
        first_layer: from a net's name, weight and bias to the parts of its first layer.
    """
    parts: list[Any] = []
    starts: dict[str, int] = {}

    def begin(name: str) -> None:
        starts[name] = sum(part.size for part in parts)

    for net, layers in nets.items():
        if net in {"edge", "message"} and not interacts(model):
            continue
        begin(f"{net.upper()}_NET")
        parts.extend(first_layer(net, *layers[0]))
        begin(f"{net.upper()}_END")
        parts.extend(_units(layer) for layer in layers[1:])
    del starts["UPDATE_END"]  # read on from its columns
    return parts, starts


def interacts(model: HomModel) -> bool:
    """Return whether any message can be sent."""
    return model.role_interaction and (model.agents > 1 or model.self_edges)


def _column_parts(model: HomModel, net: str) -> Sequence[tuple[bool, list[int]]]:
    """Return the parts of a net's first layer: whether one begins with the bias, its columns."""
    size, bits, width = model.observation_size, model.bits, model.message_width
    if net == "role":
        return [(False, _span(0, size)), (True, _span(size, 2 * bits))]
    if net == "update":
        return [(True, _span(0, size + bits + width))]
    if net == "message" and model.message_reads == "observation":
        return [(True, _span(size, bits)), (False, _span(0, size) + _span(size + bits, bits))]
    read = width if net == "message" else size
    return [
        (True, _span(0, read) + _span(2 * read, bits)),
        (False, _span(read, read) + _span(2 * read + bits, bits)),
    ]


def _span(start: int, count: int) -> list[int]:
    return list(range(start, start + count))


def _units(layer: tuple[Any, Any]) -> Any:
    """Return a layer unit by unit: its bias, then its weights."""
    weight, bias = layer
    return np.concatenate([bias[:, None], weight], axis=1).ravel()


def _joined(parts: Sequence[Any]) -> Order:
    return np.concatenate(parts).astype(np.int64)
