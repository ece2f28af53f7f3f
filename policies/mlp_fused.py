"""Compiled form of `mlp`: the same function as `mlp.MlpPolicy.act`, over lanes in float32."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from rolecast.core.compiled import compiled
from rolecast.core.kernel_address import call_all
from rolecast.core.lane_arrays import workspace
from rolecast.core.simd import block_stride, first_block, load, store
from rolecast.core.types import Float32, KernelCalls
from rolecast.policies.layers_fused import clip_rows, dense, dense_three, squash, tanh_lanes
from rolecast.policies.network import check_lanes


@dataclass(frozen=True, kw_only=True)
class MlpLanes:
    """MLP shared by all agents, as a `rolecast.policies.protocol.LanePolicy`."""

    widths: tuple[int, ...]
    """Inputs, hidden widths, outputs."""

    observation_clip: float
    """Bound of the inputs."""

    output_gain: float
    """Factor before the last tanh."""

    @cached_property
    def _numbers(self) -> tuple[NDArray[np.int64], int, np.float32, np.float32]:
        widths, widest = np.array(self.widths, dtype=np.int64), max(self.widths)
        return widths, widest, np.float32(self.observation_clip), np.float32(self.output_gain)

    def act(self, weights: Float32, observations: Float32, actions: Float32) -> None:
        """Write actions [K, n, da, W] for weights [K, D, W] and observations [K, n, do, W].

        Raises:
            ConfigError: observations or actions have the sizes of another task.
        """
        check_lanes(observations, actions, sizes=(self.widths[0], self.widths[-1]))
        call_all(self.calls(weights, observations, actions))

    def workspace_rows(self, agents: int) -> int:
        """Return the rows that a kernel has for what it computes in between."""
        return 2 * agents * max(self.widths)

    def calls(self, weights: Float32, observations: Float32, actions: Float32) -> KernelCalls:
        """Return what `act` calls."""
        return ((mlp_actions, (*self._numbers, weights, observations, actions)),)


@compiled
def mlp_actions(
    widths: NDArray[np.int64],
    widest: int,
    clip: np.float32,
    gain: np.float32,
    weights: Float32,
    observations: Float32,
    actions: Float32,
) -> None:
    """Write actions [K, n, da, W]; widths are inputs, hidden widths, outputs; `widest` of them."""
    blocks, agents, inputs = observations.shape[:3]
    layers, outputs = widths.shape[0] - 1, actions.shape[2]
    rows = workspace(2 * agents * widest)
    for k in range(first_block(), blocks, block_stride()):
        for agent in range(agents):
            first = (k * agents + agent) * inputs
            clip_rows(observations, first, clip, rows, agent * widest, inputs)
        q, x, y = k * weights.shape[1], 0, agents * widest
        for layer in range(layers):
            # Agents inside, layers outside: a layer's weights are fetched once for all agents.
            fan_in, units = widths[layer], widths[layer + 1]
            threes = agents - agents % 3
            for agent in range(0, threes, 3):
                shift = agent * widest
                dense_three(weights, q, rows, x + shift, fan_in, y + shift, units, widest)
            for agent in range(threes, agents):
                shift = agent * widest
                dense(weights, q, rows, x + shift, fan_in, y + shift, units)
            if layer < layers - 1:
                for agent in range(agents):
                    squash(rows, y + agent * widest, units)
            q += (fan_in + 1) * units
            x, y = y, x
        for agent in range(agents):
            for unit in range(outputs):
                value = tanh_lanes(load(rows, x + agent * widest + unit) * gain)
                store(actions, (k * agents + agent) * outputs + unit, value)
