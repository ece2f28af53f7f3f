"""Drone delivery in a browser: numbers for the C that a page carries, and for its pictures.

Source: `physics_fused.py` and `observation_fused.py`, which that C follows.
"""

from typing import Final

from rolecast.envs.drone_delivery.observation import LEAST_DIVISOR
from rolecast.envs.drone_delivery.physics import FIRST_POINT_COUNTER, DroneDeliveryParameters
from rolecast.envs.drone_delivery.world_fused import WORLD_ROWS
from rolecast.envs.spec import BrowserWorld

BROWSER_SPEED: Final = 3.5
"""Binary logarithm of the steps a second at first; real time has ten."""

DRONE_STRENGTH: Final = 0.2
"""Greatest action of a person; a drone at full speed empties its tank in three steps."""


def browser_world(params: DroneDeliveryParameters) -> BrowserWorld:
    """Return the world of a page."""
    state_size = WORLD_ROWS * params.drones
    values = {
        "movers": params.drones,
        "state_size": state_size,
        "handover": params.handover,
        "least_length": LEAST_DIVISOR,
        "view": params.view_radius,
        "per_speed": 1.0 / params.speed_unit,
        "first_point_counter": FIRST_POINT_COUNTER,
        "nearest_squared": params.nearest_point**2,
        "keep": 1.0 - params.damping,
        "thrust": params.gain * params.dt,
        "dt": params.dt,
        "hover_burn": params.dt * params.hover_burn,
        "speed_burn": params.dt * params.speed_burn,
        "delivery_squared": params.delivery_radius**2,
        "delivery_reward": params.delivery_reward,
        "empty_penalty": params.empty_penalty,
        "handover_squared": params.handover_radius**2,
        "contact_squared": params.contact**2,
        "collision_penalty": params.collision_penalty,
        "stop_steps": float(params.stop_steps),
    }
    scene = {
        "kind": "drone_delivery",
        "agents": params.drones,
        "movers": params.drones,
        "horizon": params.horizon,
        "speed": BROWSER_SPEED,
        "strength": DRONE_STRENGTH,
        "decimals": 1,
        "stateSize": state_size,
        "names": [f"drone {drone + 1}" for drone in range(params.drones)],
        "drones": list(range(params.drones)),
        "droneRadius": params.drone_radius,
        "deliveryRadius": params.delivery_radius,
    }
    return BrowserWorld(name="drone_delivery", values=values, scene=scene)
