"""Small MLPs over a flat vector of weights, in numpy float64: the readable reference."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from rolecast.core.errors import ConfigError
from rolecast.core.types import Float, Float32
from rolecast.policies.parameterisation import Net

if TYPE_CHECKING:
    from torch import Tensor

TANH_BOUND: Final = np.float32(7.90531110763549805)
"""Bound beyond which tanh does not change in float32."""

Array = TypeVar("Array", NDArray[np.float64], NDArray[np.float32], "Tensor")


def unpack(weights: Array, nets: Sequence[Net]) -> dict[str, list[tuple[Array, Array]]]:
    """Cut weights [..., D] into layers: net name to (weight [..., out, in], bias [..., out])."""
    layers: dict[str, list[tuple[Array, Array]]] = {}
    start = 0
    lead: tuple[int, ...] = tuple(weights.shape[:-1])
    for net in nets:
        layers[net.name] = []
        for fan_in, fan_out in zip(net.widths[:-1], net.widths[1:], strict=True):
            middle = start + fan_in * fan_out
            stop = middle + fan_out
            weight = weights[..., start:middle].reshape((*lead, fan_out, fan_in))
            layers[net.name].append((weight, weights[..., middle:stop]))
            start = stop
    return layers


def forward(layers: Sequence[tuple[Float, Float]], inputs: Float) -> Float:
    """Return the outputs of P nets, each over its own rows.

    Args:
        layers: (weight [P, out, in], bias [P, out]) per layer, from `unpack`.
        inputs: [P, ..., in].

    Returns:
        Outputs [P, ..., out]; hidden units are tanh, outputs linear.
    """
    rows = inputs.reshape(len(inputs), -1, inputs.shape[-1])
    for depth, (weight, bias) in enumerate(layers):
        rows = rows if depth == 0 else np.tanh(rows)
        rows = rows @ weight.swapaxes(-1, -2) + bias[:, None, :]
    return rows.reshape(*inputs.shape[:-1], rows.shape[-1])


def squashed(outputs: Float, gain: float) -> Float:
    """Return actions: tanh of outputs times the gain, constant beyond `TANH_BOUND`; NaN stays NaN.

    Differs from tanh by less than 3e-7. Actions that are equal in the compiled form are equal here,
    so that the largest of them, a discrete action, is the same one.
    """
    return np.asarray(np.tanh(np.clip(gain * outputs, -TANH_BOUND, TANH_BOUND)))


def check_shapes(
    weights: Float, observations: Float, *, parameters: int, agents: int, observation_size: int
) -> tuple[Float, Float]:
    """Return both as float64 arrays; raise ValueError unless [P, D] and [P, B, n, do]."""
    weights = np.asarray(weights, dtype=np.float64)
    observations = np.asarray(observations, dtype=np.float64)
    if weights.ndim != 2 or weights.shape[1] != parameters:
        raise ValueError(f"weights have shape {weights.shape}; expected [P, {parameters}]")
    expected = (len(weights), agents, observation_size)
    if observations.ndim != 4 or (len(observations), *observations.shape[2:]) != expected:
        raise ValueError(
            f"observations have shape {observations.shape}; "
            f"expected [{len(weights)}, B, {agents}, {observation_size}]"
        )
    return weights, observations


def check_lanes(
    observations: Float32,
    actions: Float32,
    *,
    sizes: tuple[int, int],
    agents: int | None = None,
) -> None:
    """Raise ConfigError unless arrays of lanes fit a policy; kernels do not check bounds.

    Args:
        observations: [K, n, do, W].
        actions: [K, n, da, W].
        sizes: do and da of the policy.
        agents: n of the policy; None for any.
    """
    met = (observations.shape[1], observations.shape[2], actions.shape[2])
    wanted = (met[0] if agents is None else agents, *sizes)
    if met != wanted:
        task, policy = (f"{n} agents, {do} observed, {da} acted" for n, do, da in (met, wanted))
        raise ConfigError("the task's sizes", task, f"those the policy was made for: {policy}")
