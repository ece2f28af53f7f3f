"""An exported policy in the loop: episodes in which the device's arithmetic acts."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from rolecast.core.types import Float, Float32
from rolecast.policies.protocol import Policy
from rolecast.policies.space import ParameterSpace

if TYPE_CHECKING:
    from torch import Tensor

ONE_AT_A_TIME: Final = Lock()
"""An exported step has memory of its own, which it shares with no other call."""


@dataclass(frozen=True)
class ExportedPolicy:
    """`rolecast.policies.protocol.Policy` whose actions come from a function of observations.

    Its weights are fixed: those that `act` and its lanes are given are not read.
    """

    policy: Policy
    """The policy that was exported."""

    function: Callable[[Float32], Float32]
    """From observations [B, n, do] to actions [B, n, da] or [B, n * da], float32."""

    @property
    def name(self) -> str:
        """Name of the policy in the registry."""
        return self.policy.name

    @property
    def options(self) -> Mapping[str, Any]:
        """Settings of the policy."""
        return self.policy.options

    @property
    def space(self) -> ParameterSpace:
        """Parameters of the policy."""
        return self.policy.space

    def act(self, weights: Float, observations: Float) -> Float:
        """Return actions [P, B, n, da] for observations [P, B, n, do]."""
        lead = observations.shape[:2]
        rows = observations.astype(np.float32).reshape(-1, *observations.shape[2:])
        actions = self.function(rows).astype(np.float64)
        return actions.reshape(*lead, observations.shape[2], -1)

    def relaxed_act(self, weights: "Tensor", observations: "Tensor") -> "Tensor":
        """Return the actions of the policy that was exported."""
        return self.policy.relaxed_act(weights, observations)

    def lanes(self) -> "ExportedPolicy.Lanes":
        """Return the form for blocks of lanes."""
        return ExportedPolicy.Lanes(self.function)

    @dataclass(frozen=True)
    class Lanes:
        """`rolecast.policies.protocol.LanePolicy` of an exported policy."""

        function: Callable[[Float32], Float32]
        """As of the policy."""

        def act(self, weights: Float32, observations: Float32, actions: Float32) -> None:
            """Write actions [K, n, da, W] for observations [K, n, do, W]."""
            rows = np.ascontiguousarray(np.moveaxis(observations, -1, 1))
            blocks, lanes = rows.shape[:2]
            with ONE_AT_A_TIME:
                found = self.function(rows.reshape(blocks * lanes, *rows.shape[2:]))
            shaped = found.reshape(blocks, lanes, *actions.shape[1:3])
            actions[...] = np.moveaxis(shaped, 1, -1)
