"""Physics and reward of drone delivery as pure functions: the readable float64 reference.

Source: Drone Delivery of the DSS-GP-UCB paper (section 5.6 and appendix I), described there without
numbers. Differs: every constant and the order of events are this project's.
B episodes, n drones; drone i delivers to point i and to no other.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rolecast.core.counter_random import UInt32, draw, symmetric_uniform
from rolecast.core.errors import ConfigError
from rolecast.core.types import Float
from rolecast.envs.drone_delivery.handover import handed_over

EpisodeKeys = tuple[UInt32, UInt32]
"""Two keys [B] for each episode, from `counter_random.episode_keys`."""

FIRST_POINT_COUNTER: Final = 65536
"""First counter of delivery points; smaller ones are for start positions."""


EPISODE_TOTALS: Final = (
    "deliveries",
    "collisions",
    "empty_tank_steps",
    "fuel_used",
    "fuel_refilled",
)
"""Names of the counts of an episode; fuel in full tanks, a collision is one pair."""

HANDOVER_TOTAL: Final = "handovers"
"""Name of the count that a task with hand-overs has beside them."""


@dataclass(frozen=True, kw_only=True)
class DroneDeliveryParameters:
    """Sizes and constants of the world; lengths have no unit, fuel is in full tanks.

    Points lie in [-1, 1) x [-1, 1).
    """

    drones: int
    """Number n of drones, at least 1."""

    dt: float = 0.1
    """Time of one step."""

    gain: float = 3.0
    """Acceleration along an axis for an action of 1."""

    damping: float = 0.2
    """Share of the velocity lost in one step; maximum speed is dt gain / damping along an axis."""

    hover_burn: float = 0.05
    """Fuel per unit of time at any speed; a full tank outlasts an episode of hovering."""

    speed_burn: float = 2.0
    """Additional fuel per unit of time and cubed speed: the power against drag."""

    delivery_radius: float = 0.15
    """Maximum distance from its point at which a drone delivers."""

    nearest_point: float = 0.7
    """Minimum distance from a drone to a new point."""

    delivery_reward: float = 10.0
    """Team reward of a delivery per squared distance of the point when it was given."""

    drone_radius: float = 0.075
    """Radius of a drone: two collide when their centres come closer than twice this."""

    stop_steps: int = 15
    """Steps of standstill of both drones after a collision."""

    collision_penalty: float = 1.0
    """Team reward lost for each pair that collides."""

    empty_penalty: float = 0.02
    """Team reward lost in each step for each empty tank; its drone does not move."""

    view_radius: float = 0.75
    """Maximum distance at which a drone observes others."""

    speed_unit: float = 0.2
    """Unit of observed speeds, near the most economical speed."""

    handover: bool = False
    """Whether each drone needs a hand-over before each delivery (`handover.py`)."""

    handover_radius: float = 0.3
    """Maximum distance of two drones at which a parcel changes hands."""

    horizon: int = 150
    """Steps of an episode, as in the paper."""

    def __post_init__(self) -> None:
        if type(self.drones) is not int or self.drones < 1:
            raise ConfigError("drone-delivery N", self.drones, "an integer >= 1")
        if self.handover and self.drones == 1:
            raise ConfigError("drone-delivery N", self.drones, "an integer >= 2 with handover")
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
    """Complete state of B episodes between two steps."""

    positions: Float
    """Positions [B, n, 2]."""

    velocities: Float
    """Velocities [B, n, 2], in length per unit of time."""

    fuel: Float
    """Fuel [B, n]: 1 is a full tank, 0 an empty one."""

    stopped: NDArray[np.int64]
    """Remaining steps [B, n] of standstill after a collision."""

    points: Float
    """Points [B, n, 2] of the next deliveries."""

    distances: Float
    """Distances [B, n] from drone to point when the point was given, which set the reward."""

    deliveries: NDArray[np.int64]
    """Deliveries [B, n] so far."""

    loaded: NDArray[np.bool_]
    """Whether a drone has the parcel of its point [B, n]; always, without hand-overs."""


@dataclass(frozen=True, kw_only=True, eq=False)
class DroneEvents:
    """Events of one step of B episodes."""

    delivered: NDArray[np.bool_]
    """Whether a drone has delivered [B, n]."""

    collided: NDArray[np.bool_]
    """Whether a pair has come into contact [B, n, n], symmetric."""

    empty: NDArray[np.bool_]
    """Whether a tank is empty after the step [B, n]."""

    burnt: Float
    """Fuel used [B, n]."""

    refilled: Float
    """Fuel from deliveries [B, n]."""

    handed: NDArray[np.bool_] | None
    """Whether a drone was handed a parcel [B, n]; None in a task without hand-overs."""

    reward: Float
    """Team reward [B]."""

    def totals(self) -> dict[str, Float]:
        """Return the counts over all drones in each episode: name to [B]."""
        totals = (
            self.delivered.sum(axis=-1),
            self.collided.sum(axis=(1, 2)) / 2.0,
            self.empty.sum(axis=-1),
            self.burnt.sum(axis=-1),
            self.refilled.sum(axis=-1),
        )
        named = dict(zip(EPISODE_TOTALS, totals, strict=True))
        if self.handed is not None:
            named[HANDOVER_TOTAL] = self.handed.sum(axis=-1)
        return {name: np.asarray(value, dtype=np.float64) for name, value in named.items()}


def start(params: DroneDeliveryParameters, keys: EpisodeKeys) -> DroneState:
    """Return the initial state of B episodes: drones at rest at random places, tanks full.

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
        loaded=np.full((batch, n), not params.handover),
    )


def new_points(
    params: DroneDeliveryParameters,
    keys: EpisodeKeys,
    positions: Float,
    deliveries: NDArray[np.int64],
) -> Float:
    """Return the next point [B, n, 2] of each drone after k deliveries.

    Coordinate c of drone i is the draw of counter 65536 + 2 (k n + i) + c, uniform in [-1, 1). A
    point that is too near is moved inwards by 1 along both axes, half the width of the square.
    This guarantees a distance of at most 0.7, the value of `nearest_point`.

    Args:
        params: parameters of the world.
        keys: keys of the B episodes.
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
    """Advance B worlds by one step: motion, fuel, deliveries, hand-overs, tanks, collisions.

    A drone that is stopped or has an empty tank does not move. A drone whose tank runs empty in a
    step does not deliver in it. A collision is a pair that touches after the step but not before,
    so that two drones can separate.

    Args:
        params: parameters of the world.
        state: state before the step.
        actions: [B, n, 2] in [-1, 1].
        keys: keys of the B episodes, for new points.
    Returns:
        The state after the step, and its events.
    """
    flying = (state.stopped == 0) & (state.fuel > 0.0)
    velocities = (1.0 - params.damping) * state.velocities + params.dt * params.gain * actions
    velocities = np.where(flying[..., None], velocities, 0.0)
    positions = state.positions + params.dt * velocities

    demand = params.dt * (params.hover_burn + params.speed_burn * length(velocities) ** 3)
    burnt = np.minimum(demand, state.fuel)
    fuel = state.fuel - burnt
    near = length(state.points - positions) < params.delivery_radius
    delivered = (fuel > 0.0) & near & state.loaded
    empty = fuel <= 0.0
    collided = touching(params, positions) & ~touching(params, state.positions)
    halted = collided.any(axis=-1)

    deliveries = state.deliveries + delivered
    points = new_points(params, keys, positions, deliveries)
    points = np.where(delivered[..., None], points, state.points)
    refilled = np.where(delivered, 1.0 - fuel, 0.0)
    loaded, handed = state.loaded, None
    if params.handover:
        loaded = loaded & ~delivered
        handed = ~loaded & handed_over(params.handover_radius, positions, fuel)
        loaded = loaded | handed
    after = DroneState(
        positions=positions,
        velocities=np.where((halted | empty)[..., None], 0.0, velocities),
        fuel=np.where(delivered, 1.0, fuel),
        stopped=np.where(halted, params.stop_steps, np.maximum(state.stopped - 1, 0)),
        points=points,
        distances=np.where(delivered, length(points - positions), state.distances),
        deliveries=deliveries,
        loaded=loaded,
    )
    events = DroneEvents(
        delivered=delivered,
        collided=collided,
        empty=empty,
        burnt=burnt,
        refilled=refilled,
        handed=handed,
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
    """Return the team reward [B] of the events; distances [B, n] are before the step."""
    paid = params.delivery_reward * np.where(delivered, np.square(distances), 0.0).sum(axis=-1)
    pairs = collided.sum(axis=(1, 2)) / 2.0
    return np.asarray(
        paid - params.collision_penalty * pairs - params.empty_penalty * empty.sum(axis=-1)
    )


def length(vectors: Float) -> Float:
    """Return the Euclidean length [...] of vectors [..., 2]."""
    return np.asarray(np.sqrt(np.square(vectors).sum(axis=-1)))
