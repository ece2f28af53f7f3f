"""Trust region of a local search: its defaults for policies and black boxes, and its radius.

Returns of policies are mostly noise, and nearly linear within a small radius. The radius of such a
search falls with the budget, and further where the noise is small. A search of a black box starts
with the whole cube. Its radius falls with the budget or, without one, by the moves of the centre.
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
    """Settings that are None in `LocalGpConfig` unless set; its docstrings explain them."""

    radius: float
    final_radius: float
    step: float
    narrowing: str
    lengthscale: str
    relevance_power: float
    signal_to_noise: float
    restart_at_centre: bool
    mirrored_pairs: bool


POLICY_DEFAULTS: Final = SearchDefaults(
    radius=0.2,
    final_radius=0.04,
    step=0.3,
    narrowing="schedule",
    lengthscale="cloud",
    relevance_power=0.5,
    signal_to_noise=1.0,
    restart_at_centre=True,
    mirrored_pairs=True,
)
"""Defaults for the weights of a policy (alternatives measured: docs/notebook)."""

FINAL_RADIUS_RATIOS: Final = {"schedule": 1e-2, "progress": 1e-3}
"""Final over initial radius for a black box: at the end of the budget, or the minimum."""


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
        mirrored_pairs=False,
    )


class TrustRegion:
    """Radius of the cloud: root mean square distance of its points from the centre.

    "schedule": geometric decrease over the evaluations of a budget, r_t = r_0 (r_T / r_0)^(t / T).
    "progress": the radius falls while moves of the centre cancel, and rises while they add up.
    It stays between the final and the initial radius.

    Source of "progress": step-size rule of CMA-ES, Hansen and Ostermeier (2001), section 4.2.
    Differs: moves are those of the posterior's ascent. Their average is compared with a fixed
    length, for a move has at most length 1.
    """

    def __init__(self, defaults: SearchDefaults, *, evaluations: int, dimension: int) -> None:
        self._defaults, self._evaluations = defaults, evaluations
        self._spent: float | None = None
        self._moves = np.zeros(dimension)
        self._radius = defaults.radius

    def radius(self, count: int) -> float:
        """Return the radius after `count` evaluations."""
        if self._defaults.narrowing == "progress":
            return self._radius
        budget = count / self._spent if self._spent else 0.0
        passed = count / max(budget, self._evaluations)
        ratio = self._defaults.final_radius / self._defaults.radius
        return self._defaults.radius * float(ratio ** min(passed, 1.0))

    def spent(self, count: int) -> float:
        """Return the share of the budget spent; without a budget, of the planned evaluations."""
        return count / self._evaluations if self._spent is None else self._spent

    def pace(self, spent: float) -> None:
        """Set the share of the budget spent."""
        self._spent = spent

    def update(self, share: Float) -> None:
        """Update the radius by a move of the centre [D], in maximum steps."""
        # m <- (1 - c) m + c move,  r <- r exp(0.4 (|m| / 0.7 - 1)), by the constants' values.
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
        """Return the share spent, the averaged move and the radius."""
        return {"spent": self._spent, "moves": self._moves.copy(), "radius": self._radius}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue from a state."""
        self._spent = None if state["spent"] is None else float(state["spent"])
        self._moves = np.array(state["moves"], dtype=np.float64)
        self._radius = float(state["radius"])
