"""Drone delivery, the sparse task of the DSS-GP-UCB paper."""

from rolecast.envs.drone_delivery.expert import expert_actions
from rolecast.envs.drone_delivery.observation import OBSERVATION_SIZE, observe
from rolecast.envs.drone_delivery.physics import (
    DroneDeliveryParameters,
    DroneEvents,
    DroneState,
    start,
    transition,
)

__all__ = [
    "OBSERVATION_SIZE",
    "DroneDeliveryParameters",
    "DroneEvents",
    "DroneState",
    "expert_actions",
    "observe",
    "start",
    "transition",
]
