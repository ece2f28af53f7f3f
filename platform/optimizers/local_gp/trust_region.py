"""Trust region of a local search: its defaults for policies and black boxes, and its radius.

Returns of policies are mostly noise, and nearly linear within a small radius. Such a search narrows
with its budget, and further where the noise allows it. A black box is searched as a whole first.
The search then narrows with its budget, or with the moves of its centre if no budget is known.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from rolecast.core.types import Float
from rolecast.platform.optimizers.local_gp.constants import SEARCH_CONSTANTS

NARROWING_RULES: Final = ("schedule", "progress")
LENGTHSCALE_RULES: Final = ("cloud", "evidence")

UNIFORM_DEVIATION: Final = 12.0**-0.5
"""Standard deviation of a coordinate that is uniform on the cube."""


@dataclass(frozen=True, kw_only=True)
class SearchDefaults:
    """Settings of `LocalGpConfig` that are None there unless set; see its docstrings."""

    radius: float
    final_radius: float
    step: float
    narrowing: str
    lengthscale: str
    relevance_power: float
    signal_to_noise: float
    restart_at_centre: bool


POLICY_DEFAULTS: Final = SearchDefaults(
    radius=0.2,
    final_radius=0.04,
    step=0.3,
    narrowing="schedule",
    lengthscale="cloud",
    relevance_power=0.5,
    signal_to_noise=1.0,
    restart_at_centre=True,
)
"""Where the weights of a policy are searched (docs/optimizers.md tells what else was tried)."""

FINAL_RADIUS_RATIOS: Final = {"schedule": 1e-2, "progress": 1e-3}
"""Least radius of a black box's cloud, in units of the first: where a budget ends it, and how far
moves that cancel may lead it."""


def black_box_defaults(dimension: int, narrowing: str) -> SearchDefaults:
    """Return the defaults for a black box of `dimension` dimensions."""
    radius = UNIFORM_DEVIATION * float(dimension) ** 0.5
    return SearchDefaults(
        radius=radius,
        final_radius=FINAL_RADIUS_RATIOS[narrowing] * radius,
        step=0.4,
        narrowing=narrowing,
        lengthscale="evidence",
        relevance_power=0.0,
        signal_to_noise=0.0,
        restart_at_centre=False,
    )


class TrustRegion:
    """Radius of a cloud: the root mean square distance of its points from their centre.

    With narrowing "schedule" it falls geometrically over the evaluations of a budget. With
    "progress" it falls while the centre's moves cancel, rises while they add up, and stays between
    the final and the first radius: the step-size rule of CMA-ES, with the posterior's ascent in
    place of the mean's shift. Source: Hansen and Ostermeier (2001), section 4.2. Differs: the
    average of moves is compared with a fixed length, for a move is at most one step long.
    """

    def __init__(self, defaults: SearchDefaults, *, evaluations: int, dimension: int) -> None:
        self._defaults, self._evaluations = defaults, evaluations
        self._spent: float | None = None
        self._moves = np.zeros(dimension)
        self._radius = defaults.radius

    def radius(self, count: int) -> float:
        """Return the radius after so many evaluations."""
        if self._defaults.narrowing == "progress":
            return self._radius
        budget = count / self._spent if self._spent else 0.0
        passed = count / max(budget, self._evaluations)
        ratio = self._defaults.final_radius / self._defaults.radius
        return self._defaults.radius * float(ratio ** min(passed, 1.0))

    def spent(self, count: int) -> float:
        """Return the share of the budget spent; of the schedule after so many, if none is known."""
        return count / self._evaluations if self._spent is None else self._spent

    def pace(self, spent: float) -> None:
        """Take in the share of the budget spent."""
        self._spent = spent

    def update(self, share: Float) -> None:
        """Take in a move of the centre [D], as a share of the longest that was allowed."""
        self._moves = (
            1.0 - SEARCH_CONSTANTS.move_weight
        ) * self._moves + SEARCH_CONSTANTS.move_weight * share
        excess = float(np.linalg.norm(self._moves)) / SEARCH_CONSTANTS.neutral_move_length - 1.0
        wanted = self._radius * float(
            np.clip(
                np.exp(SEARCH_CONSTANTS.radius_rate * excess),
                *SEARCH_CONSTANTS.radius_change_bounds,
            )
        )
        self._radius = float(np.clip(wanted, self._defaults.final_radius, self._defaults.radius))

    def state_dict(self) -> dict[str, Any]:
        """Return what was spent, the average of moves, and the radius that follows it."""
        return {"spent": self._spent, "moves": self._moves.copy(), "radius": self._radius}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue from a state."""
        self._spent = None if state["spent"] is None else float(state["spent"])
        self._moves = np.array(state["moves"], dtype=np.float64)
        self._radius = float(state["radius"])
