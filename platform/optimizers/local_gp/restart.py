"""What follows from what the start of a local search earns: when it goes back to it, more narrowly.

The middle of a policy's weights may be a good policy already: a robot that stands. Where any cloud
but a narrow one falls, a search in a wide one learns how to fall least badly, and ends below where
it began. But a start that is better than its cloud may be a poor one all the same, and a wide cloud
the quickest way up. So a search is given some time before it goes back.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rolecast.core.types import Float
from rolecast.platform.optimizers.local_gp.constants import SEARCH_CONSTANTS


class StartRule:
    """Goes back to the start, with a cloud half as wide, where none of the cloud is as good."""

    def __init__(self, start: Float, *, enabled: bool) -> None:
        """Begin with the whole width.

        Args:
            start: [D], the first centre of the cloud.
            enabled: if not, the start is never asked for, and nothing ever changes.
        """
        self._start, self._enabled = start, enabled
        self._width, self._asked = 1.0, not enabled
        self._earned: list[float] = []
        self._recent = np.empty(0)
        self._looked = 0.0

    @property
    def width(self) -> float:
        """Factor of the cloud's radius, in [`least_restart_width`, 1]."""
        return self._width

    def with_start(self, drawn: Float) -> Float:
        """Return the points drawn [q, D], the start in place of the last one once a width."""
        if not self._asked:
            drawn[-1] = self._start
            self._asked = True
        return drawn

    def among(self, candidates: Float) -> NDArray[np.bool_]:
        """Return which of the candidates [q, D] are the start itself [q]."""
        return np.asarray((candidates == self._start).all(axis=1))

    def should_restart(self, candidates: Float, returns: Float, spent: float) -> bool:
        """Take in returns [q] of candidates [q, D], that share of the budget being spent.

        Returns:
            Whether to go back. A start that earns nothing has nothing to lose: never to that.
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
        self._looked = spent
        better = max(0.0, float(self._recent.max())) < np.mean(self._earned)
        if not better or self._width <= SEARCH_CONSTANTS.least_restart_width:
            return False
        self._width *= SEARCH_CONSTANTS.restart_shrinkage
        self._asked, self._recent = False, np.empty(0)
        return True

    def explain(self) -> dict[str, float]:
        """Return what the start earned, on average over its evaluations, and the width."""
        if not self._earned:
            return {}
        return {"start_return": float(np.mean(self._earned)), "start_width": self._width}

    def state_dict(self) -> dict[str, Any]:
        """Return the width, and what was heard of the start and of the cloud."""
        return {
            "width": self._width,
            "asked": self._asked,
            "earned": list(self._earned),
            "recent": self._recent.copy(),
            "looked": self._looked,
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue from a state."""
        self._width, self._asked = float(state["width"]), bool(state["asked"])
        self._earned = [float(value) for value in state["earned"]]
        self._recent = np.array(state["recent"], dtype=np.float64)
        self._looked = float(state["looked"])
