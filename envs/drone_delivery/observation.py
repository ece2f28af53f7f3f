"""What a drone observes: itself, the way to its point, and the two drones nearest to it.

Its size is the same for every n. Source: this project; the paper does not say what is observed.
"""

from typing import Final

import numpy as np

from rolecast.core.types import Float
from rolecast.envs.drone_delivery.physics import DroneDeliveryParameters, DroneState, length

OBSERVATION_SIZE: Final = 13
"""do; with it `hom` stays below 500 parameters for up to 16 drones."""

LEAST_LENGTH: Final = 1e-12
"""Keeps the direction between two equal places finite: zero."""


def observe(params: DroneDeliveryParameters, state: DroneState) -> Float:
    """Return what each drone observes, [B, n, 13].

    In this order: own velocity (2), fuel, 1 while stopped by a collision, direction of the own
    point (2, of length 1) and distance to it; direction of the nearest other drone, of length 1
    where it is and 0 at the view radius (2), and its velocity relative to the own (2); direction of
    the second nearest, likewise (2). Ties go to the lowest index. Of a drone beyond the view
    radius, or where there is none, all reads 0. Velocities are in units of `speed_unit`.

    Directions, because a team that is linear in them can fly at an even speed and give way to those
    who are near, where one that is linear in offsets is fastest, and shyest, far away.

    Args:
        params: the world.
        state: now.
    """
    batch, n = state.fuel.shape
    velocities = state.velocities / params.speed_unit
    offset = state.positions[:, None] - state.positions[:, :, None]
    distance = length(offset)
    seen = (distance <= params.view_radius) & ~np.eye(n, dtype=bool)
    nearness = 1.0 / np.maximum(distance, LEAST_LENGTH) - 1.0 / params.view_radius
    closing = velocities[:, None] - velocities[:, :, None]
    others = np.concatenate([offset * nearness[..., None], closing], axis=-1)
    rank = np.argsort(np.where(seen, distance, np.inf), axis=-1, kind="stable")[..., :2]
    nearest = np.take_along_axis(np.where(seen[..., None], others, 0.0), rank[..., None], axis=2)
    shown = np.zeros((batch, n, 2, 4))
    shown[:, :, : min(n, 2)] = nearest
    way = state.points - state.positions
    far = np.maximum(length(way), LEAST_LENGTH)[..., None]
    stopped = (state.stopped > 0)[..., None]
    own = [velocities, state.fuel[..., None], stopped, way / far, far]
    return np.concatenate([*own, shown.reshape(batch, n, 8)[..., :6]], axis=-1)
