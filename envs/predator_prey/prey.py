"""How the prey flees: by a fixed rule with random trial points, not by learning.

Source: `prey_policy` of the FACMAC scenarios with the score function "min", which its task
configurations set.
"""

from typing import Final

import numpy as np

from rolecast.core.counter_random import draw
from rolecast.core.types import Float
from rolecast.envs.predator_prey.physics import EpisodeKeys, PredatorPreyParameters

FIRST_COUNTER: Final = 65536
"""Counters below are for start positions, from here on for the prey's points."""


def prey_points(params: PredatorPreyParameters, keys: EpisodeKeys, step: int) -> Float:
    """Return the points [B, k, J, 2] of the unit disc that the prey try at a step.

    Counter 65536 + (step k + p) J + j of an episode gives point j of prey p: its upper 16 bits
    the radius, its lower 16 bits the angle.

    Args:
        params: the world; J = params.prey_points.
        keys: of the B episodes.
        step: steps taken before, from 0.
    """
    count = params.prey * params.prey_points
    counters = np.uint32(FIRST_COUNTER + step * count) + np.arange(count, dtype=np.uint32)
    bits = draw(keys[0][:, None], keys[1][:, None], counters)
    return _disc((bits >> np.uint32(16)) / 65536.0, (bits & np.uint32(65535)) / 65536.0).reshape(
        len(bits), params.prey, params.prey_points, 2
    )


def flee(params: PredatorPreyParameters, positions: Float, points: Float) -> Float:
    """Return the point [B, k, 2] that each prey chooses, of points [B, k, J, 2].

    A point is reachable if the prey, moved by it, would touch no predator. Of the reachable
    points a prey takes the one farthest from the predator that is nearest to it now, ties to the
    lowest index; it halts (0, 0) where no point is reachable.

    Args:
        params: the world.
        positions: [B, m, 2] before the step.
        points: [B, k, J, 2].
    """
    n = params.predators
    predators = positions[:, None, :n]
    prey = positions[:, n : params.movers]
    nearest = np.square(prey[:, :, None] - predators).sum(axis=-1).argmin(axis=-1)
    target = prey[:, :, None] + points
    squared = np.square(target[..., None, 0] - predators[:, :, None, :, 0])
    squared += np.square(target[..., None, 1] - predators[:, :, None, :, 1])
    reachable = squared.min(axis=-1) >= (params.predator_size + params.prey_size) ** 2
    score = np.take_along_axis(squared, nearest[:, :, None, None], axis=-1)[..., 0]
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
    """Return the forces [B, k, 2], of norm at most 1, with which the prey flee.

    Args:
        params: the world.
        positions: [B, m, 2] before the step.
        rng: keys of the B episodes, with which the draws depend on the episode and `step` alone;
            or a generator, from which they are drawn for the whole batch.
        step: steps taken before, from 0; unused with a generator.
    """
    if isinstance(rng, np.random.Generator):
        shape = (len(positions), params.prey, params.prey_points)
        return flee(params, positions, _disc(rng.random(shape), rng.random(shape)))
    return flee(params, positions, prey_points(params, rng, step))


def _disc(area_share: Float, turn: Float) -> Float:
    """Map two uniform numbers [...] in [0, 1) to points [..., 2], uniform in the unit disc."""
    radius, angle = np.sqrt(area_share), 2.0 * np.pi * turn
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=-1)
