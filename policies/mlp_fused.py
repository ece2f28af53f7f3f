"""The compiled face of `mlp`: the same function as `mlp.MlpPolicy.act`, over lanes in float32."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rolecast.envs.compiled import compiled
from rolecast.envs.lane_vectors import load, store
from rolecast.envs.spec import LANES, Float32
from rolecast.policies.layers_fused import clip_rows, dense, squash, tanh_lanes


@dataclass(frozen=True, kw_only=True)
class MlpLanes:
    """`rolecast.policies.protocol.LanePolicy` of an MLP that all agents share."""

    widths: tuple[int, ...]
    """Inputs, hidden widths, outputs."""

    observation_clip: float
    """Bound of the inputs."""

    output_gain: float
    """Factor before the last tanh."""

    def act(self, weights: Float32, observations: Float32, actions: Float32) -> None:
        """Write actions [K, n, da, W] for weights [K, D, W] and observations [K, n, do, W]."""
        mlp_actions(
            np.array(self.widths, dtype=np.int64),
            np.float32(self.observation_clip),
            np.float32(self.output_gain),
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
    agents, layers = observations.shape[1], widths.shape[0] - 1
    rows = np.empty((2, agents, widths.max(), LANES), dtype=np.float32)
    for k in range(weights.shape[0]):
        w = weights[k]
        for agent in range(agents):
            clip_rows(observations[k, agent], clip, rows[0, agent])
        start = 0
        for layer in range(layers):
            # Agents inside, layers outside: a layer's weights are fetched once for all agents.
            after = start
            for agent in range(agents):
                y = rows[(layer + 1) % 2, agent, : widths[layer + 1]]
                after = dense(w, start, rows[layer % 2, agent, : widths[layer]], y)
                if layer < layers - 1:
                    squash(y)
            start = after
        for agent in range(agents):
            outputs = rows[layers % 2, agent]
            for unit in range(widths[layers]):
                store(actions[k, agent], unit, tanh_lanes(load(outputs, unit) * gain))
