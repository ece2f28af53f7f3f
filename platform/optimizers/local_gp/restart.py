"""What follows from what the start of a local search earns: when it goes back to it, more narrowly.

The middle of a policy's weights may be a good policy already: a robot that stands. Where any cloud
but a narrow one falls, a search in a wide one learns how to fall least badly, and ends below where
it began. But a start that is better than its cloud may be a poor one all the same, and a wide cloud
the quickest way up. So a search is given some time before it goes back.
"""

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rolecast.core.types import Float

RESTART_INTERVAL: Final = 0.05
"""Share of the budget between two looks."""

LEAST_EVALUATIONS: Final = 12
"""Latest evaluations that are looked at, or the latest batch where that is more. Of a cloud that is
as good as the start, the start is ahead of all by chance once in `LEAST_EVALUATIONS` + 1."""

RESTART_SHRINKAGE: Final = 0.5
"""Factor of the cloud's width on going back."""

LEAST_WIDTH: Final = 1.0 / 16.0
"""Least factor of the width: at a summit the start is ahead of any cloud."""


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
        """Factor of the cloud's radius, in [`LEAST_WIDTH`, 1]."""
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
        self._recent = np.concatenate([self._recent, cloud])[-max(LEAST_EVALUATIONS, len(cloud)) :]
        due = spent - self._looked >= RESTART_INTERVAL and len(self._recent) >= LEAST_EVALUATIONS
        if not due or not self._earned:
            return False
        self._looked = spent
        better = max(0.0, float(self._recent.max())) < np.mean(self._earned)
        if not better or self._width <= LEAST_WIDTH:
            return False
        self._width *= RESTART_SHRINKAGE
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
