"""Plain picture of one moment of predator-prey, without a plotting library.

Smooth edges come from the distance of each pixel to the rim of each disc.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from rolecast.core.types import Float
from rolecast.envs.predator_prey.physics import PredatorPreyParameters

PICTURE_PIXELS: Final = 320
"""Width and height of the picture."""

HALF_WIDTH: Final = 1.5
"""The picture shows [-1.5, 1.5]^2; the start positions lie in [-1, 1]^2."""

PREDATOR_COLOUR: Final = (0.80, 0.25, 0.25)
PREY_COLOUR: Final = (0.20, 0.60, 0.30)
LANDMARK_COLOUR: Final = (0.75, 0.75, 0.75)


def draw(params: PredatorPreyParameters, positions: Float) -> NDArray[np.uint8]:
    """Return a picture [H, W, 3] of entities at positions [m, 2]; x to the right, y upwards."""
    centres = (np.arange(PICTURE_PIXELS) + 0.5) / PICTURE_PIXELS * 2.0 - 1.0
    pixel = 2.0 * HALF_WIDTH / PICTURE_PIXELS
    x, y = np.meshgrid(HALF_WIDTH * centres, -HALF_WIDTH * centres)
    counts = (params.predators, params.prey, params.landmarks)
    colours = np.repeat(np.array([PREDATOR_COLOUR, PREY_COLOUR, LANDMARK_COLOUR]), counts, axis=0)
    picture = np.ones((PICTURE_PIXELS, PICTURE_PIXELS, 3))
    for entity in reversed(range(params.entities)):  # landmarks below, predators on top
        distance = np.hypot(x - positions[entity, 0], y - positions[entity, 1])
        cover = np.clip((params.sizes[entity] - distance) / pixel + 0.5, 0.0, 1.0)[..., None]
        picture += cover * (colours[entity] - picture)
    return np.round(255.0 * picture).astype(np.uint8)
