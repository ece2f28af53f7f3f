"""The radius of a local search's cloud: by budget or by its centre's moves, and by noise."""

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from rolecast.envs.spec import Float
from rolecast.platform.optimizers.dss_gp_ucb.reach import Reach
from rolecast.platform.surrogate.levelling import level

MEMORY: Final = 0.3
"""Weight of the latest move in the average of moves."""

NEUTRAL: Final = 0.7
"""Length of that average, in longest moves, at which the radius stays. Moves in one direction, each
as long as it may be, reach 1; random ones 0.42."""

RATE: Final = 0.4
"""How fast the radius follows: a share of 1 more or less changes its logarithm by so much."""

QUICKEST: Final = (0.5, 1.3)
"""Factors of the radius from one batch to the next."""

HEARING: Final = 0.25
"""How fast the radius follows noise: a ratio of e times the one wanted takes half that off its
logarithm, with `HEARD` evaluations."""

HEARD: Final = 60
"""Evaluations that say how large noise is; fewer count for as much less."""

SLACK: Final = 0.05
"""Added to ratios of signal to noise: below it they cannot be told from 0."""

CLOSEST: Final = 0.25
"""Least factor by which noise narrows a cloud."""


class Cloud:
    """Radius of a cloud: the root mean square distance of its points from their centre.

    With narrowing "schedule" it falls geometrically over the evaluations of a budget. With
    "progress" it falls while the centre's moves cancel, rises while they add up, and stays between
    the final and the first radius: the step-size rule of CMA-ES, with the posterior's ascent in
    place of the mean's shift. Source: Hansen and Ostermeier (2001), section 4.2. Differs: the
    average of moves is compared with a fixed length, for a move is at most one step long.

    Either is multiplied by a factor that falls to `CLOSEST` while the cloud's returns vary more by
    what the candidates are than by noise, and rises to 1 while they do not: a cloud wider than
    noise calls for costs returns and makes the function less simple, and shows no more.
    """

    def __init__(self, reach: Reach, *, evaluations: int, dimension: int) -> None:
        self._reach, self._evaluations = reach, evaluations
        self._spent: float | None = None
        self._moves = np.zeros(dimension)
        self._radius, self._factor = reach.radius, 1.0

    def radius(self, count: int) -> float:
        """Return the radius after so many evaluations."""
        if self._reach.narrowing == "progress":
            return self._factor * self._radius
        budget = count / self._spent if self._spent else 0.0
        passed = count / max(budget, self._evaluations)
        ratio = self._reach.final_radius / self._reach.radius
        return self._factor * self._reach.radius * float(ratio ** min(passed, 1.0))

    def pace(self, spent: float) -> None:
        """Take in the share of the budget spent."""
        self._spent = spent

    def moved(self, share: Float) -> None:
        """Take in a move of the centre [D], as a share of the longest that was allowed."""
        self._moves = (1.0 - MEMORY) * self._moves + MEMORY * share
        excess = float(np.linalg.norm(self._moves)) / NEUTRAL - 1.0
        wanted = self._radius * float(np.clip(np.exp(RATE * excess), *QUICKEST))
        self._radius = float(np.clip(wanted, self._reach.final_radius, self._reach.radius))

    def heard(self, ratio: float, count: int) -> None:
        """Take in the ratio of signal to noise in so many evaluations of the cloud."""
        wanted = self._reach.signal_to_noise
        if wanted == 0.0:
            return
        wider = float(np.clip(0.5 * np.log((wanted + SLACK) / (ratio + SLACK)), -1.0, 1.0))
        factor = self._factor * np.exp(HEARING * min(1.0, count / HEARD) * wider)
        self._factor = float(np.clip(factor, CLOSEST, 1.0))

    def state_dict(self) -> dict[str, Any]:
        """Return what was spent, the average of moves, and what follows moves and noise."""
        follows = {"radius": self._radius, "factor": self._factor}
        return {"spent": self._spent, "moves": self._moves.copy()} | follows

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue from a state."""
        self._spent = None if state["spent"] is None else float(state["spent"])
        self._moves = np.array(state["moves"], dtype=np.float64)
        self._radius, self._factor = float(state["radius"]), float(state["factor"])


def signal_to_noise(returns: Float, stderrs: Float, levelling: str | None) -> float | None:
    """Return the variance of levelled returns that is not noise, in units of that which is.

    Args:
        returns: [q], of a cloud.
        stderrs: [q], their standard errors; NaN where unknown.
        levelling: as in `LocalGpConfig`.
    Returns:
        At least 0; None where nothing is known of the noise, or there is none.
    """
    if len(returns) < 2:
        return None
    levelled, slopes = level(returns, levelling)
    noise = float(np.square(stderrs * slopes).mean())
    if not noise > 0.0:
        return None
    return max(0.0, float(levelled.var(ddof=1)) / noise - 1.0)
