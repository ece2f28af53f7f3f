"""Tasks whose physics a page carries, as C that follows the compiled task.

Source: `physics_fused.py` and `observation_fused.py` of each task: same order of events, same
counters of random draws, float32. Differs: one episode at a time, so that sums of a few terms may
round otherwise.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from rolecast.envs.drone_delivery.observation import LEAST_LENGTH
from rolecast.envs.drone_delivery.physics import FIRST_POINT_COUNTER
from rolecast.envs.drone_delivery.task import DroneDeliveryTask
from rolecast.envs.drone_delivery.world_fused import WORLD_ROWS
from rolecast.envs.predator_prey.physics_fused import CONTACT_REACH
from rolecast.envs.predator_prey.prey import FIRST_COUNTER
from rolecast.envs.predator_prey.prey_fused import HALF_TURN
from rolecast.envs.predator_prey.task import PredatorPreyTask
from rolecast.envs.rewards.task import unwrapped
from rolecast.envs.spec import BatchedTask
from rolecast.policies.export.c99 import c_templates, float_literal

WORLD_TEMPLATES: Final = c_templates("rolecast.platform.play")

DRONE_STRENGTH: Final = 0.2
"""Greatest action of a person; a drone at full speed empties its tank in three steps."""

PREDATOR_PREY_SPEED: Final = 2.5
DRONE_DELIVERY_SPEED: Final = 3.5
"""Binary logarithm of the steps a second at first; real time has ten."""


@dataclass(frozen=True, kw_only=True)
class World:
    """Physics of a task in C, and what a page needs to draw it."""

    source: str
    """C that includes `rolecast_policy.h` and exports the functions of `world.c.jinja`."""

    scene: Mapping[str, Any]
    """Kind of picture, counts and radii, for the page's script."""


def world_of(task: BatchedTask) -> World | None:
    """Return the world of a task, which pays as earned; None of a task without one in C."""
    below = unwrapped(task)
    if isinstance(below, PredatorPreyTask):
        return _predator_prey(below)
    if isinstance(below, DroneDeliveryTask):
        return _drone_delivery(below)
    return None


def _predator_prey(task: PredatorPreyTask) -> World:
    params, literal = task.params, float_literal
    touch = params.predator_size + params.prey_size
    source = WORLD_TEMPLATES.get_template("world.c.jinja").render(
        world="predator_prey",
        task_id=task.spec.id,
        horizon=params.horizon,
        movers=params.movers,
        state_size=2 * params.entities + 2 * params.movers,
        entities=params.entities,
        prey_points=params.prey_points,
        capture=params.capture,
        scouts=params.scouts,
        sizes=[literal(each) for each in params.sizes],
        gains=[literal(each) for each in params.gain],
        max_speeds=[literal(each) for each in params.max_speeds],
        landmark_spread=literal(params.landmark_spread),
        nearest=task.observation == "nearest16" and params.predators > 3,
        view=literal(params.view_radius**2),
        touch_squared=literal(touch**2),
        first_counter=FIRST_COUNTER,
        half_turn=literal(HALF_TURN),
        contact_reach=literal(CONTACT_REACH),
        contact_margin=literal(params.contact_margin),
        contact_force=literal(params.contact_force),
        damping=literal(params.damping),
        dt=literal(params.dt),
        touch_reward=literal(params.touch_reward),
    )
    scene = {
        "kind": "predator_prey",
        "agents": params.predators,
        "movers": params.movers,
        "horizon": params.horizon,
        "speed": PREDATOR_PREY_SPEED,
        "strength": 1.0,
        "decimals": 0,
        "stateSize": 2 * params.entities + 2 * params.movers,
        "sizes": params.sizes.tolist(),
        "names": [f"predator {a + 1}" for a in range(params.predators)]
        + [f"prey {p + 1}" if params.prey > 1 else "the prey" for p in range(params.prey)],
    }
    return World(source=source, scene=scene)


def _drone_delivery(task: DroneDeliveryTask) -> World:
    params, literal = task.params, float_literal
    source = WORLD_TEMPLATES.get_template("world.c.jinja").render(
        world="drone_delivery",
        task_id=task.spec.id,
        horizon=params.horizon,
        movers=params.drones,
        state_size=WORLD_ROWS * params.drones,
        handover=params.handover,
        least_length=literal(LEAST_LENGTH),
        view=literal(params.view_radius),
        per_speed=literal(1.0 / params.speed_unit),
        first_point_counter=FIRST_POINT_COUNTER,
        nearest_squared=literal(params.nearest_point**2),
        keep=literal(1.0 - params.damping),
        thrust=literal(params.gain * params.dt),
        dt=literal(params.dt),
        hover_burn=literal(params.dt * params.hover_burn),
        speed_burn=literal(params.dt * params.speed_burn),
        delivery_squared=literal(params.delivery_radius**2),
        delivery_reward=literal(params.delivery_reward),
        empty_penalty=literal(params.empty_penalty),
        handover_squared=literal(params.handover_radius**2),
        contact_squared=literal(params.contact**2),
        collision_penalty=literal(params.collision_penalty),
        stop_steps=literal(params.stop_steps),
    )
    scene = {
        "kind": "drone_delivery",
        "agents": params.drones,
        "movers": params.drones,
        "horizon": params.horizon,
        "speed": DRONE_DELIVERY_SPEED,
        "strength": DRONE_STRENGTH,
        "decimals": 1,
        "stateSize": WORLD_ROWS * params.drones,
        "names": [f"drone {drone + 1}" for drone in range(params.drones)],
        "drones": list(range(params.drones)),
        "droneRadius": params.drone_radius,
        "deliveryRadius": params.delivery_radius,
    }
    return World(source=source, scene=scene)
