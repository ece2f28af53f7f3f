"""Physics and reward of predator-prey as pure functions: the readable float64 reference.

Source: the continuous predator-prey scenarios of FACMAC (Peng et al. 2021), whose code is the only
source of the constants. The particle physics is that of Lowe et al. (2017).
B episodes, n predators, k prey, l landmarks; m = n + k + l entities, always in this order.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from rolecast.core.counter_random import UInt32, draw, symmetric_uniform
from rolecast.core.errors import ConfigError
from rolecast.core.types import Float

EpisodeKeys = tuple[UInt32, UInt32]
"""Two keys [B] for each episode, from `counter_random.episode_keys`."""

_LEAST_NORM: Final = 1e-300
"""Minimum length in a division, so that entities at one point have direction and force zero."""


@dataclass(frozen=True, kw_only=True, eq=False)
class PredatorPreyParameters:
    """Sizes and constants of the world; lengths have no unit, starts lie in [-1, 1] x [-1, 1]."""

    predators: int
    """Number n of predators, a multiple of 3."""

    gain: Float
    """Force [n] of a predator for an action of 1; all masses are 1."""

    predator_max_speed: Float
    """Speed limits [n], in length per unit of time."""

    prey_max_speed: float = 1.3
    """Speed limit of a prey, in length per unit of time."""

    predator_size: float = 0.075
    """Radius of a predator."""

    prey_size: float = 0.05
    """Radius of a prey."""

    landmark_size: float = 0.2
    """Radius of a landmark."""

    dt: float = 0.1
    """Time of one step."""

    damping: float = 0.25
    """Share of the velocity lost in one step."""

    contact_force: float = 100.0
    """Contact force per length of overlap."""

    contact_margin: float = 0.001
    """Softening length of the contact force."""

    touch_reward: float = 10.0
    """Team reward of one step for each predator-prey pair in contact that counts."""

    capture: int = 1
    """Predators that must touch the same prey in a step, for its contacts to count."""

    view_radius: float = 1.5
    """Maximum distance of observed entities."""

    scouts: int = 0
    """Number of predators, the first ones, that observe the prey; 0: all do."""

    landmark_spread: float = 0.9
    """Half width of the square of landmark starts; others start in [-1, 1]^2."""

    prey_points: int = 100
    """Points of the unit disc among which a prey chooses in each step."""

    horizon: int = 25
    """Steps of an episode."""

    def __post_init__(self) -> None:
        if self.predators < 3 or self.predators % 3:
            raise ConfigError(
                "PredatorPreyParameters.predators", self.predators, "a positive multiple of 3"
            )
        for name in ("gain", "predator_max_speed"):
            if getattr(self, name).shape != (self.predators,):
                raise ConfigError(
                    f"PredatorPreyParameters.{name}",
                    getattr(self, name).shape,
                    f"shape ({self.predators},)",
                )
        for name, least, most in (("capture", 1, self.predators), ("scouts", 0, self.predators)):
            if type(getattr(self, name)) is not int or not least <= getattr(self, name) <= most:
                raise ConfigError(
                    f"PredatorPreyParameters.{name}",
                    getattr(self, name),
                    f"an integer in [{least}, {most}]",
                )

    @property
    def prey(self) -> int:
        """Number k of prey, one for three predators."""
        return self.predators // 3

    @property
    def landmarks(self) -> int:
        """Number l of landmarks, two for three predators."""
        return 2 * self.predators // 3

    @property
    def movers(self) -> int:
        """Number n + k of entities that move; they come first."""
        return self.predators + self.prey

    @property
    def entities(self) -> int:
        """Number m of all entities."""
        return self.movers + self.landmarks

    @property
    def sizes(self) -> Float:
        """Radius [m] of each entity."""
        counts = (self.predators, self.prey, self.landmarks)
        return np.repeat((self.predator_size, self.prey_size, self.landmark_size), counts)

    @property
    def max_speeds(self) -> Float:
        """Speed limit [n + k] of each mover."""
        return np.concatenate([self.predator_max_speed, np.full(self.prey, self.prey_max_speed)])


def parameters(
    n: int,
    *,
    heterogeneous: bool = False,
    task_seed: int = 0,
    capture: int = 1,
    view: float = 1.5,
    scout: int = 0,
) -> PredatorPreyParameters:
    """Return the parameters of a task with n predators, n / 3 prey and 2 n / 3 landmarks.

    Args:
        n: predators, a multiple of 3. The source has 3, 6 and 9; others follow the same rule.
        heterogeneous: gains and speed limits have evenly spaced factors from 0.5 to 1.5, which
            are not observed. Differs: the paper gives no constants.
        task_seed: seed of the order of the factors; unused without `heterogeneous`.
        capture: predators that must touch the same prey in a step, from 1 to n.
        view: maximum distance of observed entities, above 0.
        scout: number of predators that observe the prey, below n; 0: all do.
    Raises:
        ConfigError: n is not a positive multiple of 3, or a setting is out of its range.
    """
    if type(n) is not int or n < 3 or n % 3:
        raise ConfigError("predator-prey N", n, "a positive multiple of 3")
    if type(task_seed) is not int or task_seed < 0:
        raise ConfigError("task_seed", task_seed, "an integer >= 0")
    if type(capture) is not int or not 1 <= capture <= n:
        raise ConfigError("capture", capture, f"an integer in [1, {n}]")
    if type(view) not in (int, float) or not 0.0 < view < np.inf:
        raise ConfigError("view", view, "a finite number > 0")
    if type(scout) is not int or not 0 <= scout < n:
        raise ConfigError("scout", scout, f"an integer in [0, {n - 1}]")
    factors = np.ones(n)
    if heterogeneous:
        factors = np.linspace(0.5, 1.5, n)[np.random.default_rng(task_seed).permutation(n)]
    return PredatorPreyParameters(
        predators=n,
        gain=3.0 * factors,
        predator_max_speed=factors,
        capture=capture,
        view_radius=float(view),
        scouts=scout,
    )


def start_positions(params: PredatorPreyParameters, keys: EpisodeKeys) -> Float:
    """Return initial positions [B, m, 2]; initial velocities are 0.

    Coordinate c of entity e is the draw of counter 2 e + c.
    """
    counters = np.arange(2 * params.entities, dtype=np.uint32)
    bits = draw(keys[0][:, None], keys[1][:, None], counters)
    positions = symmetric_uniform(bits).reshape(-1, params.entities, 2)
    positions[:, params.movers :] *= params.landmark_spread
    return positions


def contact_forces(params: PredatorPreyParameters, positions: Float) -> Float:
    """Return the contact forces [B, n + k, 2] of all entities on the movers.

    Differs: two entities at exactly one point have no contact force; the source divides 0 by 0.
    """
    movers = params.movers
    offset = positions[:, :movers, None, :] - positions[:, None, :, :]
    distance = np.sqrt(np.square(offset).sum(axis=-1))
    touching = params.sizes[:movers, None] + params.sizes
    overlap = params.contact_margin * np.logaddexp(
        0.0, (touching - distance) / params.contact_margin
    )
    push = params.contact_force * overlap / np.maximum(distance, _LEAST_NORM)
    return np.asarray(np.einsum("bij,bijc->bic", push, offset))


def touching_pairs(params: PredatorPreyParameters, positions: Float) -> Float:
    """Return the number [B] of predator-prey pairs in contact that count.

    Those of a prey count together, and only if `capture` predators touch it.
    """
    n = params.predators
    offset = positions[:, :n, None, :] - positions[:, None, n : params.movers, :]
    distance = np.sqrt(np.square(offset).sum(axis=-1))
    touch = distance < params.predator_size + params.prey_size
    of_prey = touch.sum(axis=1)
    return np.asarray(np.where(of_prey >= params.capture, of_prey, 0).sum(axis=1), dtype=np.float64)


def transition(
    params: PredatorPreyParameters,
    positions: Float,
    velocities: Float,
    predator_actions: Float,
    prey_forces: Float,
) -> tuple[Float, Float, Float]:
    """Advance B worlds by one step.

    Args:
        params: parameters of the world.
        positions: [B, m, 2].
        velocities: [B, n + k, 2], length per unit of time.
        predator_actions: [B, n, 2] in [-1, 1]; the gain is applied here.
        prey_forces: [B, k, 2], without a gain.
    Returns:
        positions [B, m, 2], velocities [B, n + k, 2] and team_reward [B] after the step.
    """
    movers = params.movers
    own = np.concatenate([params.gain[:, None] * predator_actions, prey_forces], axis=1)
    force = own + contact_forces(params, positions)
    velocities = (1.0 - params.damping) * velocities + params.dt * force
    speed = np.sqrt(np.square(velocities).sum(axis=-1))
    limit = params.max_speeds
    slow_down = np.where(speed > limit, limit / np.maximum(speed, _LEAST_NORM), 1.0)
    velocities = velocities * slow_down[..., None]
    positions = positions.copy()
    positions[:, :movers] += params.dt * velocities
    return positions, velocities, params.touch_reward * touching_pairs(params, positions)
