"""Predator-prey: predators hunt prey among obstacles, the continuous task of FACMAC."""

from rolecast.envs.predator_prey.observation import OBSERVATION_VARIANTS, observation_size, observe
from rolecast.envs.predator_prey.physics import (
    PredatorPreyParameters,
    parameters,
    start_positions,
    transition,
)
from rolecast.envs.predator_prey.prey import flee, prey_points, prey_policy

__all__ = [
    "OBSERVATION_VARIANTS",
    "PredatorPreyParameters",
    "flee",
    "observation_size",
    "observe",
    "parameters",
    "prey_points",
    "prey_policy",
    "start_positions",
    "transition",
]
