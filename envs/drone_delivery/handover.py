"""Hand-overs: the rule that makes a team of the drones, and who meets whom.

The parcels of drone i leave with its giver, drone i - 1 (the last one for drone 0), which never
runs out of them. Drone i delivers only while it is loaded. It is loaded when it comes within the
hand-over radius of its giver, both with fuel left, and unloaded by its delivery.
"""

import numpy as np
from numpy.typing import NDArray

from rolecast.core.types import Float


def givers(values: Float) -> Float:
    """Return the entry of each drone's giver, for values [B, n, ...] of all drones."""
    return np.roll(values, 1, axis=1)


def handed_over(radius: float, positions: Float, fuel: Float) -> NDArray[np.bool_]:
    """Return whether each drone [B, n] could take a parcel from its giver.

    Args:
        radius: maximum distance of the two.
        positions: [B, n, 2].
        fuel: [B, n].
    """
    distance = np.sqrt(np.square(givers(positions) - positions).sum(axis=-1))
    return np.asarray((distance < radius) & (fuel > 0.0) & (givers(fuel) > 0.0))
