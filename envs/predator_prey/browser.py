"""Predator-prey in a browser: numbers for the C that a page carries, and for its pictures.

Source: `physics_fused.py` and `observation_fused.py`, which that C follows.
"""

from typing import Final

from rolecast.envs.predator_prey.physics import PredatorPreyParameters
from rolecast.envs.predator_prey.physics_fused import CONTACT_REACH
from rolecast.envs.predator_prey.prey import FIRST_PREY_COUNTER
from rolecast.envs.predator_prey.prey_fused import HALF_TURN
from rolecast.envs.spec import BrowserWorld

BROWSER_SPEED: Final = 2.5
"""Binary logarithm of the steps a second at first; real time has ten."""


def browser_world(params: PredatorPreyParameters, observation: str) -> BrowserWorld:
    """Return the world of a page.

    Args:
        params: of the world.
        observation: one of `OBSERVATION_VARIANTS`.
    """
    state_size = 2 * params.entities + 2 * params.movers
    values = {
        "movers": params.movers,
        "state_size": state_size,
        "entities": params.entities,
        "prey_points": params.prey_points,
        "capture": params.capture,
        "scouts": params.scouts,
        "sizes": params.sizes.tolist(),
        "gains": params.gain.tolist(),
        "max_speeds": params.max_speeds.tolist(),
        "landmark_spread": params.landmark_spread,
        "nearest": observation == "nearest16" and params.predators > 3,
        "view": params.view_radius**2,
        "touch_squared": (params.predator_size + params.prey_size) ** 2,
        "first_counter": FIRST_PREY_COUNTER,
        "half_turn": float(HALF_TURN),
        "contact_reach": CONTACT_REACH,
        "contact_margin": params.contact_margin,
        "contact_force": params.contact_force,
        "damping": params.damping,
        "dt": params.dt,
        "touch_reward": params.touch_reward,
    }
    scene = {
        "kind": "predator_prey",
        "agents": params.predators,
        "movers": params.movers,
        "horizon": params.horizon,
        "speed": BROWSER_SPEED,
        "strength": 1.0,
        "decimals": 0,
        "stateSize": state_size,
        "sizes": params.sizes.tolist(),
        "names": [f"predator {a + 1}" for a in range(params.predators)]
        + [f"prey {p + 1}" if params.prey > 1 else "the prey" for p in range(params.prey)],
    }
    return BrowserWorld(name="predator_prey", values=values, scene=scene)
