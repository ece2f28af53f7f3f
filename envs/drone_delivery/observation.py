"""Observations of a drone: itself, the way to its goal, and the two nearest drones.

The size is the same for every n. Source: this project; the paper does not define observations.
"""

from typing import Final

import numpy as np

from rolecast.core.types import Float
from rolecast.envs.drone_delivery.handover import givers
from rolecast.envs.drone_delivery.physics import DroneDeliveryParameters, DroneState, length

OBSERVATION_SIZE: Final = 13
"""Observation size do; `hom` has below 500 parameters for up to 16 drones."""

OBSERVED_PAIRS: Final = (0, 4, 7, 9, 11)
"""First entries of the pairs (x, y) of an observation."""

HANDOVER_SIZE: Final = 16
"""Observation size do with hand-overs."""

HANDOVER_PAIRS: Final = (*OBSERVED_PAIRS, 14)
"""First entries of the pairs (x, y) of an observation with hand-overs."""

LEAST_DIVISOR: Final = 1e-12
"""Minimum length in a division, so that the direction between equal places is zero."""


def observe(params: DroneDeliveryParameters, state: DroneState) -> Float:
    """Return the observations [B, n, 13] of the drones; [B, n, 16] with hand-overs.

    Columns in this order, with velocities in units of `speed_unit`:
    - own velocity (2), fuel (1), 1 while stopped by a collision (1).
    - direction of the own point, of length 1 (2), and the distance to it (1).
    - direction of the nearest other drone, of length 1 - d / view_radius at distance d (2).
    - velocity of the nearest drone relative to the own (2).
    - direction of the second nearest drone, likewise (2).

    With hand-overs, a drone that is not loaded has the direction of its giver, and the distance to
    it, in place of those of its point: 0 while the giver is beyond the view radius. Added are:
    - 1 while loaded (1), own position (2).

    Ties go to the lowest index. A drone beyond the view radius, or a missing one, reads 0.

    Directions allow a linear team to fly at constant speed and to avoid near drones. A team linear
    in offsets is fastest, and avoids most, far away.

    Args:
        params: parameters of the world.
        state: current state.
    """
    batch, n = state.fuel.shape
    velocities = state.velocities / params.speed_unit
    offset = state.positions[:, None] - state.positions[:, :, None]
    distance = length(offset)
    seen = (distance <= params.view_radius) & ~np.eye(n, dtype=bool)
    nearness = 1.0 / np.maximum(distance, LEAST_DIVISOR) - 1.0 / params.view_radius
    closing = velocities[:, None] - velocities[:, :, None]
    others = np.concatenate([offset * nearness[..., None], closing], axis=-1)
    rank = np.argsort(np.where(seen, distance, np.inf), axis=-1, kind="stable")[..., :2]
    nearest = np.take_along_axis(np.where(seen[..., None], others, 0.0), rank[..., None], axis=2)
    shown = np.zeros((batch, n, 2, 4))
    shown[:, :, : min(n, 2)] = nearest
    way = state.points - state.positions
    if params.handover:
        towards = givers(state.positions) - state.positions
        visible = length(towards) <= params.view_radius
        towards = np.where(visible[..., None], towards, 0.0)
        way = np.where(state.loaded[..., None], way, towards)
    far = np.maximum(length(way), LEAST_DIVISOR)[..., None]
    stopped = (state.stopped > 0)[..., None]
    own = [velocities, state.fuel[..., None], stopped, way / far, far]
    parts = [*own, shown.reshape(batch, n, 8)[..., :6]]
    if params.handover:
        parts += [state.loaded[..., None], state.positions]
    return np.concatenate(parts, axis=-1)


def observation_size(params: DroneDeliveryParameters) -> int:
    """Return do, 13 or, with hand-overs, 16."""
    return HANDOVER_SIZE if params.handover else OBSERVATION_SIZE
