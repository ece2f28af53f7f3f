"""Left-right symmetries of whole bodies: their observations and motors under a reflection.

Observations are positions without the hidden ones, then velocities; motors are in the order of the
model file. A hopper moves in a plane on one leg, and has none.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from rolecast.envs.symmetry import Symmetry

ANT_JOINTS: Final = (-7, 8, -5, 6, -3, 4, -1, 2)
"""Hip and ankle of legs 1 to 4: legs 1 and 4 exchange, 2 and 3; hips turn the other way."""


def _shifted(places: tuple[int, ...], first: int) -> tuple[int, ...]:
    """Return a signed permutation of entries that stand behind `first` others."""
    return tuple(place + first if place > 0 else place - first for place in places)


BODY_SYMMETRIES: Final[Mapping[str, tuple[Symmetry, ...]]] = MappingProxyType(
    {
        "ant": (
            Symmetry(
                name="left and right",
                # Height, quaternion, joints; velocity, angular velocity, joints.
                observation=(
                    *(1, 2, -3, 4, -5),
                    *_shifted(ANT_JOINTS, 5),
                    *(14, -15, 16, -17, 18, -19),
                    *_shifted(ANT_JOINTS, 19),
                ),
                # Motors begin with leg 4.
                action=(-3, 4, -1, 2, -7, 8, -5, 6),
            ),
        ),
        "swimmer": (
            Symmetry(
                name="left and right",
                # Angles of body and joints; velocity along and across, angular velocities.
                observation=(-1, -2, -3, 4, -5, -6, -7, -8),
                action=(-1, -2),
            ),
        ),
        "walker2d": (
            Symmetry(
                name="left and right leg",
                # Height and angle, three joints a leg; velocities of the same.
                observation=(1, 2, 6, 7, 8, 3, 4, 5, 9, 10, 11, 15, 16, 17, 12, 13, 14),
                action=(4, 5, 6, 1, 2, 3),
            ),
        ),
    }
)
"""Body to its symmetries, for one agent that observes and moves it whole."""
