"""Policy `gains`: a found policy whose layers are scaled, each by one gain.

A handful of settings that a person can read, in place of hundreds of weights: the gain of each
layer of each net. It keeps the found weights among its options, so it is whole without their file.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rolecast.core.errors import ConfigError, RequestError
from rolecast.core.types import Float, Float32
from rolecast.envs.spec import TaskSpec
from rolecast.policies.artefact import LoadedPolicy, load_policy
from rolecast.policies.protocol import LanePolicy, Policy
from rolecast.policies.registry import READS_FOLDER, remake_policy
from rolecast.policies.space import Block, ParameterSpace

LARGEST_GAIN: Final = 4.0
"""Gain at the upper face of the cube; its inverse at the lower one, 1 in the middle."""


@dataclass(frozen=True, kw_only=True)
class GainsConfig:
    """Gains of the layers of a policy that was found before: few settings, each with a meaning."""

    found: str | None = field(default=None, metadata={READS_FOLDER: True})
    """Folder of the run or of the policy whose layers are scaled."""

    scaled: Mapping[str, Any] | None = None
    """Name, options and weights of that policy, as this policy keeps them; in place of `found`."""

    def build(self, task: TaskSpec, seed: int) -> "GainsPolicy":
        """Return the policy; all gains are 1 at the centre of its cube.

        Raises:
            RequestError: no policy is there, or it is one for other sizes, or its options name a
                folder to read.
        """
        scaled = self.scaled
        if scaled is None:
            if self.found is None:
                raise ConfigError("GainsConfig.found", None, "the folder of a found policy")
            scaled = as_scaled(load_policy(self.found))
        try:
            name, options = scaled["name"], dict(scaled["options"])
            weights = np.array(scaled["weights"], dtype=np.float64)
        except (KeyError, TypeError, ValueError) as error:
            expected = "name, options and weights of a policy"
            raise ConfigError("GainsConfig.scaled", sorted(scaled), expected) from error
        base = remake_policy(name, task, options)
        if weights.shape != (base.space.size,):
            raise RequestError(
                f"the found policy has {weights.size} weights; expected {base.space.size}, of a "
                f"policy for task {task.id!r}"
            )
        return GainsPolicy(base, weights, {"scaled": scaled, "seed": seed})


def as_scaled(found: LoadedPolicy) -> dict[str, Any]:
    """Return a found policy as `GainsConfig.scaled` has it."""
    return {
        "name": found.policy.name,
        "options": dict(found.policy.options),
        "weights": found.weights.tolist(),
    }


class GainsPolicy:
    """Policy `gains`; see `rolecast.policies.protocol.Policy`."""

    name = "gains"

    def __init__(self, base: Policy, weights: Float, options: Mapping[str, Any]) -> None:
        self.options = options
        self._base, self._weights = base, weights
        names: list[str] = []
        layers = []
        for block in base.space.blocks:
            layer = f"{block.net}.{block.layer}"
            if layer not in names:
                names.append(layer)
            layers.append(np.full(block.size, names.index(layer)))
        self._layer_of: NDArray[np.int64] = np.concatenate(layers)
        self.space = ParameterSpace(
            tuple(
                Block(net=net, layer=int(layer), kind="bias", centre=np.zeros(1), half_range=1.0)
                for net, layer in (name.split(".") for name in names)
            )
        )

    @property
    def coordinate_names(self) -> tuple[str, ...]:
        """Names of the scaled layers, such as `role.0`, in the order of the gains."""
        return tuple(f"{block.net}.{block.layer}" for block in self.space.blocks)

    def act(self, weights: Float, observations: Float) -> Float:
        """Return actions [P, B, n, da] for weights [P, D], logarithms of gains to base 4.

        Raises:
            ValueError: a shape does not fit.
        """
        found: Sequence[int] = np.shape(weights)
        if len(found) != 2 or found[1] != self.space.size:
            raise ValueError(f"weights have shape {found}; expected [P, {self.space.size}]")
        gains = (LARGEST_GAIN ** np.asarray(weights))[:, self._layer_of]
        return self._base.act(self._weights * gains, observations)

    def lanes(self) -> LanePolicy:
        """Return the compiled form."""
        return _GainLanes(self._base.lanes(), self._weights, self._layer_of)


class _GainLanes:
    """Scales the found weights, then acts by them."""

    def __init__(self, base: LanePolicy, weights: Float, layer_of: NDArray[np.int64]) -> None:
        self._base, self._layer_of = base, layer_of
        self._weights = weights.astype(np.float32)[:, None]

    def act(self, weights: Float32, observations: Float32, actions: Float32) -> None:
        """Write actions [K, n, da, W] for weights [K, D, W]."""
        gains = (np.float32(LARGEST_GAIN) ** weights)[:, self._layer_of]
        self._base.act(np.ascontiguousarray(self._weights * gains), observations, actions)
