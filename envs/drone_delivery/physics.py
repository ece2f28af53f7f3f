"""Physics and reward of drone delivery as pure functions: the readable float64 reference.

Source: Drone Delivery of the DSS-GP-UCB paper (section 5.6 and appendix I), which states its
qualities and no number. Differs: every constant and the order of events are this project's own.
B episodes, n drones; drone i delivers to point i and to no other.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rolecast.core.counter_random import UInt32, draw, symmetric_uniform
from rolecast.core.errors import ConfigError
from rolecast.core.types import Float

EpisodeKeys = tuple[UInt32, UInt32]
"""Two keys [B] for each episode, from `counter_random.episode_keys`."""

FIRST_POINT_COUNTER: Final = 65536
"""Counters below are for start positions, from here on for delivery points."""


EPISODE_TOTALS: Final = (
    "deliveries",
    "collisions",
    "empty_tank_steps",
    "fuel_used",
    "fuel_refilled",
)
"""What is counted of an episode; fuel in full tanks, a collision is one pair."""


@dataclass(frozen=True, kw_only=True)
class DroneDeliveryParameters:
    """Sizes and constants of the world; lengths have no unit, points lie in [-1, 1) x [-1, 1).

    Fuel is counted in full tanks.
    """

    drones: int
    """n, at least 1."""

    dt: float = 0.1
    """Time of one step."""

    gain: float = 3.0
    """Acceleration along an axis for an action of 1."""

    damping: float = 0.2
    """Share of the velocity lost in one step; full speed is dt gain / damping along an axis."""

    hover_burn: float = 0.05
    """Fuel per unit of time that a drone burns wherever it is; a tank outlasts an episode of it."""

    speed_burn: float = 2.0
    """Fuel per unit of time and cubed speed, on top of that; the power that overcomes drag."""

    delivery_radius: float = 0.15
    """Distance from its point within which a drone delivers."""

    nearest_point: float = 0.7
    """Least distance from a drone to the point that it is given."""

    delivery_reward: float = 10.0
    """Team reward of a delivery per squared distance between drone and point when it was given."""

    drone_radius: float = 0.075
    """Two drones collide when their centres come closer than twice this."""

    stop_steps: int = 15
    """Steps for which a collision stops both drones."""

    collision_penalty: float = 1.0
    """Team reward lost by each pair that collides."""

    empty_penalty: float = 0.02
    """Team reward lost in each step by each empty tank; its drone stays where it is."""

    view_radius: float = 0.75
    """Distance up to which a drone sees others."""

    speed_unit: float = 0.2
    """Length per unit of time in which speeds are observed, near the most economical one."""

    horizon: int = 150
    """Steps of an episode, as in the paper."""

    def __post_init__(self) -> None:
        if type(self.drones) is not int or self.drones < 1:
            raise ConfigError("drone-delivery N", self.drones, "an integer >= 1")
        if not self.delivery_radius < self.nearest_point <= 0.7:
            raise ConfigError(
                "DroneDeliveryParameters.nearest_point",
                self.nearest_point,
                f"a number above delivery_radius ({self.delivery_radius}), at most 0.7",
            )

    @property
    def contact(self) -> float:
        """Distance below which two drones touch."""
        return 2.0 * self.drone_radius


@dataclass(frozen=True, kw_only=True, eq=False)
class DroneState:
    """All that there is of B episodes between two steps."""

    positions: Float
    """[B, n, 2]."""

    velocities: Float
    """[B, n, 2], length per unit of time."""

    fuel: Float
    """[B, n], 1 is a full tank, 0 an empty one."""

    stopped: NDArray[np.int64]
    """[B, n], steps for which a drone still cannot move after a collision."""

    points: Float
    """[B, n, 2], where each drone has to go."""

    distances: Float
    """[B, n], from drone to point when the point was given: what its delivery is paid for."""

    deliveries: NDArray[np.int64]
    """[B, n], made so far."""


@dataclass(frozen=True, kw_only=True, eq=False)
class DroneEvents:
    """What happened in one step of B episodes."""

    delivered: NDArray[np.bool_]
    """[B, n], the drone has delivered."""

    collided: NDArray[np.bool_]
    """[B, n, n], symmetric: the pair has come into contact."""

    empty: NDArray[np.bool_]
    """[B, n], the tank is empty after the step."""

    burnt: Float
    """[B, n], fuel used."""

    refilled: Float
    """[B, n], fuel that deliveries brought."""

    reward: Float
    """[B], of the team."""

    def totals(self) -> dict[str, Float]:
        """Return what all drones together did in each episode: name to [B]."""
        totals = (
            self.delivered.sum(axis=-1),
            self.collided.sum(axis=(1, 2)) / 2.0,
            self.empty.sum(axis=-1),
            self.burnt.sum(axis=-1),
            self.refilled.sum(axis=-1),
        )
        return {
            name: np.asarray(value, dtype=np.float64)
            for name, value in zip(EPISODE_TOTALS, totals, strict=True)
        }


def start(params: DroneDeliveryParameters, keys: EpisodeKeys) -> DroneState:
    """Return the beginning of B episodes: drones at rest at random places, tanks full.

    Counter 2 i + c of an episode gives coordinate c of drone i.
    """
    batch, n = len(keys[0]), params.drones
    counters = np.arange(2 * n, dtype=np.uint32)
    bits = draw(keys[0][:, None], keys[1][:, None], counters)
    positions = symmetric_uniform(bits).reshape(batch, n, 2)
    deliveries = np.zeros((batch, n), dtype=np.int64)
    points = new_points(params, keys, positions, deliveries)
    return DroneState(
        positions=positions,
        velocities=np.zeros((batch, n, 2)),
        fuel=np.ones((batch, n)),
        stopped=np.zeros((batch, n), dtype=np.int64),
        points=points,
        distances=length(points - positions),
        deliveries=deliveries,
    )


def new_points(
    params: DroneDeliveryParameters,
    keys: EpisodeKeys,
    positions: Float,
    deliveries: NDArray[np.int64],
) -> Float:
    """Return the point [B, n, 2] that each drone is given after so many deliveries.

    Counter 65536 + 2 (k n + i) + c of an episode gives coordinate c of the point of drone i after
    k deliveries, uniform in [-1, 1). A point that is too near is moved by 1, half the width of the
    square, along both axes, inwards: `nearest_point` = 0.7 is the most that this keeps.

    Args:
        params: the world.
        keys: of the B episodes.
        positions: [B, n, 2], of the drones.
        deliveries: [B, n], k.
    """
    n = params.drones
    first = FIRST_POINT_COUNTER + 2 * (deliveries * n + np.arange(n))
    counters = (first[..., None] + np.arange(2)).astype(np.uint32)
    points = symmetric_uniform(draw(keys[0][:, None, None], keys[1][:, None, None], counters))
    near = length(points - positions) < params.nearest_point
    inwards = np.where(points < 0.0, points + 1.0, points - 1.0)
    return np.where(near[..., None], inwards, points)


def touching(params: DroneDeliveryParameters, positions: Float) -> NDArray[np.bool_]:
    """Return whether two different drones [B, n, n] are in contact."""
    distance = length(positions[:, :, None] - positions[:, None])
    return (distance < params.contact) & ~np.eye(params.drones, dtype=bool)


def transition(
    params: DroneDeliveryParameters, state: DroneState, actions: Float, keys: EpisodeKeys
) -> tuple[DroneState, DroneEvents]:
    """Advance B worlds by one step: motion, fuel, deliveries, empty tanks, collisions.

    A drone that is stopped or has an empty tank stays where it is, whatever its action. A tank that
    runs empty in a step makes no delivery in it. A collision is a pair that touches after the step
    and did not before, so that two drones that have collided can part.

    Args:
        params: the world.
        state: before the step.
        actions: [B, n, 2] in [-1, 1].
        keys: of the B episodes, for new points.
    Returns:
        The state after the step, and what happened.
    """
    flying = (state.stopped == 0) & (state.fuel > 0.0)
    velocities = (1.0 - params.damping) * state.velocities + params.dt * params.gain * actions
    velocities = np.where(flying[..., None], velocities, 0.0)
    positions = state.positions + params.dt * velocities

    demand = params.dt * (params.hover_burn + params.speed_burn * length(velocities) ** 3)
    burnt = np.minimum(demand, state.fuel)
    fuel = state.fuel - burnt
    delivered = (fuel > 0.0) & (length(state.points - positions) < params.delivery_radius)
    empty = fuel <= 0.0
    collided = touching(params, positions) & ~touching(params, state.positions)
    halted = collided.any(axis=-1)

    deliveries = state.deliveries + delivered
    points = new_points(params, keys, positions, deliveries)
    points = np.where(delivered[..., None], points, state.points)
    refilled = np.where(delivered, 1.0 - fuel, 0.0)
    after = DroneState(
        positions=positions,
        velocities=np.where((halted | empty)[..., None], 0.0, velocities),
        fuel=np.where(delivered, 1.0, fuel),
        stopped=np.where(halted, params.stop_steps, np.maximum(state.stopped - 1, 0)),
        points=points,
        distances=np.where(delivered, length(points - positions), state.distances),
        deliveries=deliveries,
    )
    events = DroneEvents(
        delivered=delivered,
        collided=collided,
        empty=empty,
        burnt=burnt,
        refilled=refilled,
        reward=_team_reward(params, state.distances, delivered, collided, empty),
    )
    return after, events


def _team_reward(
    params: DroneDeliveryParameters,
    distances: Float,
    delivered: NDArray[np.bool_],
    collided: NDArray[np.bool_],
    empty: NDArray[np.bool_],
) -> Float:
    """Return the team reward [B] of what happened; distances [B, n] before the step."""
    paid = params.delivery_reward * np.where(delivered, np.square(distances), 0.0).sum(axis=-1)
    pairs = collided.sum(axis=(1, 2)) / 2.0
    return np.asarray(
        paid - params.collision_penalty * pairs - params.empty_penalty * empty.sum(axis=-1)
    )


def length(vectors: Float) -> Float:
    """Return the Euclidean length [...] of vectors [..., 2]."""
    return np.asarray(np.sqrt(np.square(vectors).sum(axis=-1)))
