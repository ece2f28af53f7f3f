"""The radius of a local search's cloud: over a budget, or by what its centre's moves add up to."""

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from rolecast.core.types import Float
from rolecast.platform.optimizers.local_gp.defaults import Reach

MEMORY: Final = 0.3
"""Weight of the latest move in the average of moves."""

NEUTRAL: Final = 0.7
"""Length of that average, in longest moves, at which the radius stays. Moves in one direction, each
as long as it may be, reach 1; random ones 0.42."""

RATE: Final = 0.4
"""How fast the radius follows: a share of 1 more or less changes its logarithm by so much."""

QUICKEST: Final = (0.5, 1.3)
"""Factors of the radius from one batch to the next."""


class Cloud:
    """Radius of a cloud: the root mean square distance of its points from their centre.

    With narrowing "schedule" it falls geometrically over the evaluations of a budget. With
    "progress" it falls while the centre's moves cancel, rises while they add up, and stays between
    the final and the first radius: the step-size rule of CMA-ES, with the posterior's ascent in
    place of the mean's shift. Source: Hansen and Ostermeier (2001), section 4.2. Differs: the
    average of moves is compared with a fixed length, for a move is at most one step long.
    """

    def __init__(self, reach: Reach, *, evaluations: int, dimension: int) -> None:
        self._reach, self._evaluations = reach, evaluations
        self._spent: float | None = None
        self._moves = np.zeros(dimension)
        self._radius = reach.radius

    def radius(self, count: int) -> float:
        """Return the radius after so many evaluations."""
        if self._reach.narrowing == "progress":
            return self._radius
        budget = count / self._spent if self._spent else 0.0
        passed = count / max(budget, self._evaluations)
        ratio = self._reach.final_radius / self._reach.radius
        return self._reach.radius * float(ratio ** min(passed, 1.0))

    def spent(self, count: int) -> float:
        """Return the share of the budget spent; of the schedule after so many, if none is known."""
        return count / self._evaluations if self._spent is None else self._spent

    def pace(self, spent: float) -> None:
        """Take in the share of the budget spent."""
        self._spent = spent

    def moved(self, share: Float) -> None:
        """Take in a move of the centre [D], as a share of the longest that was allowed."""
        self._moves = (1.0 - MEMORY) * self._moves + MEMORY * share
        excess = float(np.linalg.norm(self._moves)) / NEUTRAL - 1.0
        wanted = self._radius * float(np.clip(np.exp(RATE * excess), *QUICKEST))
        self._radius = float(np.clip(wanted, self._reach.final_radius, self._reach.radius))

    def state_dict(self) -> dict[str, Any]:
        """Return what was spent, the average of moves, and the radius that follows it."""
        return {"spent": self._spent, "moves": self._moves.copy(), "radius": self._radius}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue from a state."""
        self._spent = None if state["spent"] is None else float(state["spent"])
        self._moves = np.array(state["moves"], dtype=np.float64)
        self._radius = float(state["radius"])
