"""Scripted prey: a fixed rule with random trial points, without learning.

Source: `prey_policy` of the FACMAC scenarios with the score function "min" of its task
configurations.
"""

from typing import Final

import numpy as np

from rolecast.core.counter_random import draw
from rolecast.core.types import Float
from rolecast.envs.predator_prey.physics import EpisodeKeys, PredatorPreyParameters

FIRST_PREY_COUNTER: Final = 65536
"""First counter of the prey's points; smaller ones are for start positions."""


def prey_points(params: PredatorPreyParameters, keys: EpisodeKeys, step: int) -> Float:
    """Return the trial points [B, k, J, 2] of the prey in a step, uniform in the unit disc.

    Point j of prey p is the draw of counter 65536 + (step k + p) J + j. Its upper 16 bits are the
    radius, its lower 16 bits the angle.

    Args:
        params: parameters of the world; J = params.prey_points.
        keys: keys of the B episodes.
        step: steps taken before, from 0.
    """
    count = params.prey * params.prey_points
    counters = np.uint32(FIRST_PREY_COUNTER + step * count) + np.arange(count, dtype=np.uint32)
    bits = draw(keys[0][:, None], keys[1][:, None], counters)
    return _disc((bits >> np.uint32(16)) / 65536.0, (bits & np.uint32(65535)) / 65536.0).reshape(
        len(bits), params.prey, params.prey_points, 2
    )


def flee(params: PredatorPreyParameters, positions: Float, points: Float) -> Float:
    """Return the point [B, k, 2] chosen by each prey, of points [B, k, J, 2].

    A point is reachable if the prey, moved by it, would touch no predator. The prey chooses the
    reachable point farthest from its nearest predator, ties to the lowest index. Without a
    reachable point the result is (0, 0).

    Args:
        params: parameters of the world.
        positions: [B, m, 2] before the step.
        points: [B, k, J, 2].
    """
    n = params.predators
    predators = positions[:, None, :n]
    prey = positions[:, n : params.movers]
    nearest = np.square(prey[:, :, None] - predators).sum(axis=-1).argmin(axis=-1)
    target = prey[:, :, None] + points
    # Predators come first, [n, B, k, J], so that NumPy works along the many points.
    places = np.moveaxis(positions[:, :n], 1, 0)[:, :, None, None]
    squared = np.square(target[..., 0] - places[..., 0])
    squared += np.square(target[..., 1] - places[..., 1])
    reachable = squared.min(axis=0) >= (params.predator_size + params.prey_size) ** 2
    score = np.take_along_axis(squared, nearest[None, :, :, None], axis=0)[0]
    score = np.where(reachable, score, -1.0)
    choice = score.argmax(axis=-1)[..., None]
    chosen = np.take_along_axis(points, choice[..., None], axis=2)[:, :, 0]
    can_move = np.take_along_axis(score, choice, axis=-1) >= 0.0
    return np.where(can_move, chosen, 0.0)


def prey_policy(
    params: PredatorPreyParameters,
    positions: Float,
    rng: EpisodeKeys | np.random.Generator,
    step: int = 0,
) -> Float:
    """Return the forces [B, k, 2] of the prey, of norm at most 1.

    Args:
        params: parameters of the world.
        positions: [B, m, 2] before the step.
        rng: keys of the B episodes, for draws that depend on the episode and `step` alone; or a
            generator, for draws of the whole batch.
        step: steps taken before, from 0; unused with a generator.
    """
    if isinstance(rng, np.random.Generator):
        shape = (len(positions), params.prey, params.prey_points)
        return flee(params, positions, _disc(rng.random(shape), rng.random(shape)))
    return flee(params, positions, prey_points(params, rng, step))


def _disc(area_share: Float, turn: Float) -> Float:
    """Return points [..., 2], uniform in the unit disc, from two uniform numbers in [0, 1)."""
    radius, angle = np.sqrt(area_share), 2.0 * np.pi * turn
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=-1)
