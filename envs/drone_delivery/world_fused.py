"""State layout of the compiled drone delivery: rows of W lanes, float32."""

from typing import Final

import numpy as np

from rolecast.core.types import LANE_COUNT, Float32
from rolecast.envs.drone_delivery.physics import DroneState

X, Y, VX, VY, FUEL, STOPPED, POINT_X, POINT_Y, DISTANCE, COUNT, LOADED = range(11)
"""Rows of one drone, as the fields of `DroneState`; COUNT is its deliveries k."""

WORLD_ROWS: Final = 11
"""Number of rows of one drone."""


def to_world(state: DroneState) -> Float32:
    """Return the state of K W episodes as [K, n, WORLD_ROWS, W]."""
    batch, n = state.fuel.shape
    rows = np.empty((batch, n, WORLD_ROWS))
    rows[..., [X, Y]] = state.positions
    rows[..., [VX, VY]] = state.velocities
    rows[..., FUEL] = state.fuel
    rows[..., STOPPED] = state.stopped
    rows[..., [POINT_X, POINT_Y]] = state.points
    rows[..., DISTANCE] = state.distances
    rows[..., COUNT] = state.deliveries
    rows[..., LOADED] = state.loaded
    blocks = rows.reshape(batch // LANE_COUNT, LANE_COUNT, n, WORLD_ROWS)
    return np.ascontiguousarray(np.moveaxis(blocks, 1, -1), dtype=np.float32)
