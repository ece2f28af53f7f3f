"""Ascent of the posterior mean: the move of the centre in one batch."""

import numpy as np

from rolecast.core.types import Float
from rolecast.platform.optimizers.local_gp.constants import SEARCH_CONSTANTS
from rolecast.platform.optimizers.local_gp.metric import Metric
from rolecast.platform.surrogate.gp import Posterior


def climb(posterior: Posterior, start: Float, limit: float, metric: Metric) -> Float:
    """Return the move [D] from a start that increases the posterior mean, of length <= `limit`.

    Gradient ascent with normalised steps x + (limit / 8) g / |g|, while the mean increases. The
    length |g| is not used: in high dimension it is a poor measure of the step.

    Args:
        posterior: of the process, in its own coordinates.
        start: [D], in the cube.
        limit: greatest length of the move, in the cube.
        metric: map from the cube to the coordinates of the process.
    """
    place, height = start, float(posterior.mean(metric.seen(start)[None])[0])
    for _ in range(SEARCH_CONSTANTS.ascent_steps):
        gradient = metric.pulled_back(posterior.mean_gradient(metric.seen(place)))
        step = (
            limit
            / SEARCH_CONSTANTS.ascent_steps
            * gradient
            / max(float(np.linalg.norm(gradient)), 1e-300)
        )
        offset = place + step - start
        offset *= min(1.0, limit / max(float(np.linalg.norm(offset)), 1e-300))
        reached = float(posterior.mean(metric.seen(start + offset)[None])[0])
        if reached <= height:
            break
        place, height = start + offset, reached
    return place - start
