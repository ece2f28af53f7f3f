"""The scripted prey: it runs to the point farthest from the predator that is nearest now.

Source: the public FACMAC environment (Peng et al. 2021), score function "min": of 100 points drawn
uniformly in the unit disc round the prey, those where it would touch a predator are out of reach;
of the others it takes the one farthest from the predator nearest to where it stands, the first of
equals; it halts when none is in reach.
"""

from typing import Final

import numpy as np

from rolecast.envs.counter_random import UInt32, draw
from rolecast.envs.predator_prey.physics import Parameters
from rolecast.envs.spec import Float

POINTS: Final = 100
"""Points that the prey looks at in each step."""

FIRST_POINT: Final = 65_536
"""Counter of an episode's first prey point; smaller ones are for its start positions."""


def unit_disc(bits: UInt32) -> Float:
    """Map 32 random bits [...] to points [..., 2], uniform in the unit disc.

    The upper half of the bits gives the radius, the lower half the angle.
    """
    radius = np.sqrt((bits >> np.uint32(16)) / 65_536.0)
    angle = 2.0 * np.pi * ((bits & np.uint32(65_535)) / 65_536.0)
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=-1)


def prey_points(keys: tuple[UInt32, UInt32], step: int, prey: int) -> Float:
    """Return the points [B, k, 100, 2] that k prey look at in a step of B episodes.

    Args:
        keys: from `episode_keys`, [B] each.
        step: index of the step within its episode, from 0.
        prey: k.
    """
    counters = FIRST_POINT + (step * prey + np.arange(prey)[:, None]) * POINTS + np.arange(POINTS)
    first, second = (key[:, None, None] for key in keys)
    return unit_disc(draw(first, second, counters.astype(np.uint32)[None]))


def prey_policy(
    params: Parameters, positions: Float, rng: np.random.Generator | Float
) -> Float:
    """Choose the force of each prey.

    Args:
        params: of the task.
        positions: [B, m, 2], order predators, prey, landmarks.
        rng: draws the points; or the points themselves, [B, k, 100, 2], from `prey_points`.
    Returns:
        [B, k, 2], a point of the unit disc for each prey, unscaled.
    """
    n, k = params.predators, params.prey
    if isinstance(rng, np.random.Generator):
        points = unit_disc(rng.integers(0, 2**32, (len(positions), k, POINTS), dtype=np.uint32))
    else:
        points = rng
    predators, prey = positions[:, None, :n], positions[:, n : n + k]
    nearest = np.square(prey[:, :, None] - predators).sum(-1).argmin(-1)  # [B, k]
    targets = prey[:, :, None] + points
    squared = np.square(targets[:, :, :, None] - predators[:, :, None]).sum(-1)  # [B, k, 100, n]
    touch = np.square(params.predator_size + params.prey_size)
    away = np.take_along_axis(squared, nearest[:, :, None, None], axis=-1)[..., 0]
    score = np.where((squared < touch).any(-1), -1.0, away)
    chosen = score.argmax(-1)[:, :, None]
    force = np.take_along_axis(points, chosen[..., None], axis=2)[:, :, 0]
    in_reach = np.take_along_axis(score, chosen, axis=2) >= 0.0
    return np.asarray(force * in_reach)
