"""Restart rule of the local search: return to the start with a smaller radius.

The centre of the weights can be a good policy already, such as a robot that stands. All candidates
of a wide cloud may then fall, and the search ends below its start. But a start that is better than
its cloud can still be poor, and a wide cloud improves fastest. So restarts are compared only at
intervals of the budget.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rolecast.core.types import Float
from rolecast.platform.optimizers.local_gp.constants import SEARCH_CONSTANTS


class StartRule:
    """Restart at the start with half the radius, where no recent candidate is as good."""

    def __init__(self, start: Float, *, enabled: bool) -> None:
        """Start with width 1.

        Args:
            start: [D], the first centre of the cloud.
            enabled: if false, the start is never evaluated and there are no restarts.
        """
        self._start, self._enabled = start, enabled
        self._width, self._wanted, self._asked = 1.0, int(enabled), 0
        self._earned: list[float] = []
        self._recent = np.empty(0)
        self._looked = 0.0

    @property
    def width(self) -> float:
        """Width: factor of the radius, in [`least_restart_width`, 1]."""
        return self._width

    def with_start(self, drawn: Float) -> Float:
        """Return the points drawn [q, D]; the start replaces the last one where it is asked for.

        It is asked for once per width, and again where one evaluation speaks for a restart.
        """
        if self._asked < self._wanted:
            drawn[-1] = self._start
            self._asked += 1
        return drawn

    def forget_pending(self) -> None:
        """Have the start asked for again where an evaluation of it will not be told."""
        self._asked = min(self._asked, len(self._earned))

    def among(self, candidates: Float) -> NDArray[np.bool_]:
        """Return a mask [q] of the candidates [q, D] that are the start itself."""
        return np.asarray((candidates == self._start).all(axis=1))

    def should_restart(self, candidates: Float, returns: Float, spent: float) -> bool:
        """Update by returns [q] of candidates [q, D], at the share of the budget spent.

        Returns:
            Whether to restart: the start was evaluated twice, and its mean return is above 0 and
            above all recent ones.
        """
        if not self._enabled:
            return False
        start = self.among(candidates)
        self._earned += [float(value) for value in returns[start]]
        cloud = returns[~start]
        self._recent = np.concatenate([self._recent, cloud])[
            -max(SEARCH_CONSTANTS.restart_evaluations, len(cloud)) :
        ]
        due = (
            spent - self._looked >= SEARCH_CONSTANTS.restart_interval
            and len(self._recent) >= SEARCH_CONSTANTS.restart_evaluations
        )
        if not due or not self._earned:
            return False
        better = max(0.0, float(self._recent.max())) < np.mean(self._earned)
        if better and len(self._earned) < SEARCH_CONSTANTS.restart_confirmations:
            self._wanted = max(self._wanted, SEARCH_CONSTANTS.restart_confirmations)
            return False
        self._looked = spent
        if not better or self._width <= SEARCH_CONSTANTS.least_restart_width:
            return False
        self._width *= SEARCH_CONSTANTS.restart_shrinkage
        self._wanted, self._recent = self._asked + 1, np.empty(0)
        return True

    def explain(self) -> dict[str, float]:
        """Return the mean return of the start, and the width."""
        if not self._earned:
            return {}
        return {"start_return": float(np.mean(self._earned)), "start_width": self._width}

    def state_dict(self) -> dict[str, Any]:
        """Return the width, the requests for the start, its returns and those of candidates."""
        return {
            "width": self._width,
            "requests": [self._asked, self._wanted],
            "earned": list(self._earned),
            "recent": self._recent.copy(),
            "looked": self._looked,
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue from a state."""
        self._width = float(state["width"])
        self._earned = [float(value) for value in state["earned"]]
        if "requests" in state:
            self._asked, self._wanted = map(int, state["requests"])
        elif self._enabled:  # earlier states say whether the start was asked for at this width
            self._wanted = max(1, len(self._earned)) if state["asked"] else len(self._earned) + 1
            self._asked = self._wanted - int(not state["asked"])
        self._recent = np.array(state["recent"], dtype=np.float64)
        self._looked = float(state["looked"])
