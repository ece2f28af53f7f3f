"""Scripted team with the whole state as input, a baseline for policies.

Each drone flies straight to its point, as fast as its fuel allows, and avoids predicted collisions.
The same rule without other drones shows the value of avoidance.
"""

from dataclasses import dataclass

import numpy as np

from rolecast.core.types import Float
from rolecast.envs.drone_delivery.handover import givers
from rolecast.envs.drone_delivery.observation import LEAST_DIVISOR
from rolecast.envs.drone_delivery.physics import DroneDeliveryParameters, DroneState, length


@dataclass(frozen=True, kw_only=True)
class ExpertRule:
    """Constants of the scripted rule."""

    fuel_share: float = 0.95
    """Share of the tank that a flight may use."""

    top_speed: float = 0.6
    """Maximum speed, in length per unit of time: a fast drone cannot turn."""

    look_ahead: float = 1.7
    """Maximum time to a closest approach that counts."""

    clearance: float = 1.45
    """Sufficient closest approach, in contact distances."""

    dodge: float = 1.7
    """Sideways distance until the approach, per length missing to the clearance."""

    reaction_time: float = 0.3
    """Time added to the time to the approach, so that speeds stay finite."""

    keep_right: float = 0.5
    """Share of its dodge added to the right, as a head-on approach has no side."""


def expert_actions(
    params: DroneDeliveryParameters,
    state: DroneState,
    *,
    blind: bool = False,
    told: bool = True,
    rule: ExpertRule | None = None,
) -> Float:
    """Return actions [B, n, 2] of the scripted team.

    Args:
        params: parameters of the world.
        state: state before the step.
        blind: ignore all other drones.
        told: with hand-overs, know where the giver is; else go to the middle while it is beyond
            the view.
        rule: constants of the rule; None is the default.
    """
    rule = rule or ExpertRule()
    wanted = _course(params, state, rule, told=told)
    if not blind:
        wanted = wanted + _give_way(params, state, wanted, rule)
    slow_down = np.minimum(1.0, rule.top_speed / np.maximum(length(wanted), LEAST_DIVISOR))
    wanted = wanted * slow_down[..., None]
    thrust = wanted - (1.0 - params.damping) * state.velocities
    return np.clip(thrust / (params.dt * params.gain), -1.0, 1.0)


def _course(
    params: DroneDeliveryParameters, state: DroneState, rule: ExpertRule, *, told: bool
) -> Float:
    """Return velocities [B, n, 2] straight to the goals, at the speed that the fuel allows.

    A unit of length at speed v burns hover_burn / v + speed_burn v^2. The speed is such that the
    remaining distance burns the usable fuel, and at least the most economical one.
    """
    way = state.points - state.positions
    left_over: Float | float = 0.0
    if params.handover:
        to_giver = givers(state.positions) - state.positions
        hidden = (length(to_giver) > params.view_radius) & (not told)
        to_giver = np.where(hidden[..., None], -state.positions, to_giver)
        # The fuel must last to the point as well.
        left_over = np.where(state.loaded, 0.0, length(way))
        way = np.where(state.loaded[..., None], way, to_giver)
    direct = np.maximum(length(way), LEAST_DIVISOR)
    far = direct + left_over
    reserve = np.maximum(state.fuel - (1.0 - rule.fuel_share), 0.01)
    thrifty = np.cbrt(params.hover_burn / (2.0 * params.speed_burn))
    speed = np.full_like(far, rule.top_speed)
    for _ in range(4):
        left = reserve / far - params.hover_burn / speed
        speed = np.sqrt(np.maximum(left, 0.0) / params.speed_burn)
        speed = np.clip(speed, thrifty, rule.top_speed)
    return way * (speed / direct)[..., None]


def _give_way(
    params: DroneDeliveryParameters, state: DroneState, wanted: Float, rule: ExpertRule
) -> Float:
    """Return additions to the velocities [B, n, 2] that keep closest approaches wide."""
    offset = state.positions[:, :, None] - state.positions[:, None]
    # Predicted positions use the mean of the current and the wanted velocity.
    velocities = np.where(state.stopped[..., None] > 0, 0.0, 0.5 * (wanted + state.velocities))
    closing = velocities[:, :, None] - velocities[:, None]
    squared = np.maximum(np.square(closing).sum(axis=-1), LEAST_DIVISOR)
    when = np.clip(-(offset * closing).sum(axis=-1) / squared, 0.0, rule.look_ahead)
    miss = offset + when[..., None] * closing
    distance = np.maximum(length(miss), LEAST_DIVISOR)
    right = np.stack([closing[..., 1], -closing[..., 0]], axis=-1)
    side = miss / distance[..., None] + rule.keep_right * right / np.sqrt(squared)[..., None]
    lack = np.maximum(rule.clearance * params.contact - distance, 0.0)
    lack *= (1.0 - np.eye(params.drones)) / (rule.reaction_time + when)
    return np.asarray(rule.dodge * (lack[..., None] * side).sum(axis=2))
