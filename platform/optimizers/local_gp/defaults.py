"""How far a local search looks and how it narrows: one answer for policies, one for black boxes.

Returns of policies are mostly noise and nearly linear over a cloud that is narrow enough to move
all weights of a policy at once; such a search narrows with its budget, and further where noise lets
it. A black box of which nothing is known is looked at as a whole first, and the search narrows with
its budget, or, where that is not known, as far as its own moves tell.
"""

from dataclasses import dataclass
from typing import Final

NARROWINGS: Final = ("schedule", "progress")
LENGTHSCALES: Final = ("cloud", "evidence")

UNIFORM: Final = 12.0**-0.5
"""Standard deviation of a coordinate that is uniform on the cube."""


@dataclass(frozen=True, kw_only=True)
class Reach:
    """Settings of `LocalGpConfig` that are None there unless set; see its docstrings."""

    radius: float
    final_radius: float
    step: float
    narrowing: str
    lengthscale: str
    relevance_power: float
    signal_to_noise: float
    heed_start: bool


POLICIES: Final = Reach(
    radius=0.2,
    final_radius=0.04,
    step=0.3,
    narrowing="schedule",
    lengthscale="cloud",
    relevance_power=0.5,
    signal_to_noise=1.0,
    heed_start=True,
)
"""Where the weights of a policy are searched (docs/optimizers.md tells what else was tried)."""


FINAL: Final = {"schedule": 1e-2, "progress": 1e-3}
"""Least radius of a black box's cloud, in units of the first: where a budget ends it, and how far
moves that cancel may lead it."""


def black_boxes(dimension: int, narrowing: str) -> Reach:
    """Return the reach for a function of which nothing is known, of so many dimensions."""
    radius = UNIFORM * float(dimension) ** 0.5
    return Reach(
        radius=radius,
        final_radius=FINAL[narrowing] * radius,
        step=0.4,
        narrowing=narrowing,
        lengthscale="evidence",
        relevance_power=0.0,
        signal_to_noise=0.0,
        heed_start=False,
    )
