"""Compiled form of `mlp`: the same function as `mlp.MlpPolicy.act`, over lanes in float32."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from rolecast.core.compiled import compiled
from rolecast.core.lane_arrays import workspace
from rolecast.core.simd import load, store
from rolecast.core.types import LANE_COUNT, Float32
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
    def _numbers(self) -> tuple[NDArray[np.int64], np.float32, np.float32]:
        widths = np.array(self.widths, dtype=np.int64)
        return widths, np.float32(self.observation_clip), np.float32(self.output_gain)

    def act(self, weights: Float32, observations: Float32, actions: Float32) -> None:
        """Write actions [K, n, da, W] for weights [K, D, W] and observations [K, n, do, W].

        Raises:
            ConfigError: observations or actions have the sizes of another task.
        """
        check_lanes(observations, actions, sizes=(self.widths[0], self.widths[-1]))
        mlp_actions(
            *self._numbers,
            weights,
            observations,
            actions,
        )


@compiled
def mlp_actions(
    widths: NDArray[np.int64],
    clip: np.float32,
    gain: np.float32,
    weights: Float32,
    observations: Float32,
    actions: Float32,
) -> None:
    """Write actions [K, n, da, W]; widths are inputs, hidden widths, outputs."""
    blocks, agents, inputs = observations.shape[:3]
    layers, widest, outputs = widths.shape[0] - 1, widths.max(), actions.shape[2]
    rows = workspace(2 * agents * widest)
    w = weights.reshape(-1, LANE_COUNT)
    source = observations.reshape(-1, LANE_COUNT)
    target = actions.reshape(-1, LANE_COUNT)
    for k in range(blocks):
        for agent in range(agents):
            first = (k * agents + agent) * inputs
            clip_rows(source, first, clip, rows, agent * widest, inputs)
        q, x, y = k * weights.shape[1], 0, agents * widest
        for layer in range(layers):
            # Agents inside, layers outside: a layer's weights are fetched once for all agents.
            fan_in, units = widths[layer], widths[layer + 1]
            threes = agents - agents % 3
            for agent in range(0, threes, 3):
                shift = agent * widest
                dense_three(w, q, rows, x + shift, fan_in, y + shift, units, widest)
            for agent in range(threes, agents):
                shift = agent * widest
                dense(w, q, rows, x + shift, fan_in, y + shift, units)
            if layer < layers - 1:
                for agent in range(agents):
                    squash(rows, y + agent * widest, units)
            q += (fan_in + 1) * units
            x, y = y, x
        for agent in range(agents):
            for unit in range(outputs):
                value = tanh_lanes(load(rows, x + agent * widest + unit) * gain)
                store(target, (k * agents + agent) * outputs + unit, value)
