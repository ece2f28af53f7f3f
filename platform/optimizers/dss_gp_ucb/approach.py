"""How near its start a local search begins: as near as some of the cloud is as good as the start.

The middle of a policy's weights may be a good policy already: a robot that stands. Where any cloud
but a narrow one falls, a search that begins with a wide one learns how to fall least badly, and
ends below where it began.
"""

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from rolecast.envs.spec import Float

ENOUGH: Final = 12
"""Evaluations of the cloud that make it too wide, if all are worse. Where it is in truth as good as
the start, that is ahead of all of them by chance once in `ENOUGH` + 1."""

HALF: Final = 0.5
"""Factor of the width where none of them is as good."""

NARROWEST: Final = 1.0 / 16.0
"""Least factor of the width: at a summit the start is ahead of any cloud."""

DRAWN: Final = 1.5
"""Radii from the start beyond which a point was drawn for a wider cloud, or told by others."""


class Approach:
    """Halves a cloud's width until some of the cloud is as good as the start, or it is narrow."""

    def __init__(self, start: Float, *, wanted: bool) -> None:
        """Begin with the whole width.

        Args:
            start: [D], the middle of the cloud.
            wanted: whether anything is to be done; if not, it is over before it begins.
        """
        self._start = start
        self._width, self._open = 1.0, wanted
        self._asked = False
        self._earned: list[float] = []
        self._heard, self._best = 0, -np.inf

    @property
    def width(self) -> float:
        """Factor of the cloud's radius, in [`NARROWEST`, 1]."""
        return self._width

    @property
    def is_open(self) -> bool:
        """Whether the width is still looked for."""
        return self._open

    def with_start(self, drawn: Float) -> Float:
        """Return the points drawn [q, D], the start in place of the last one once a width."""
        if self._open and not self._asked:
            drawn[-1] = self._start
            self._asked = True
        return drawn

    def is_start(self, candidates: Float) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Return which of the candidates [q, D] are the start itself [q]."""
        return np.asarray((candidates == self._start).all(axis=1))

    def heard(self, candidates: Float, returns: Float, radius: float) -> bool:
        """Take in returns [q] of candidates [q, D], the cloud having that radius.

        Returns:
            Whether the cloud is narrower from now on: what was told of the wider one is of no use.
        """
        start = self.is_start(candidates)
        self._earned += [float(value) for value in returns[start]]
        near = np.linalg.norm(candidates - self._start, axis=1) <= DRAWN * radius
        cloud = returns[near & ~start]
        self._heard += len(cloud)
        self._best = max([self._best, *(float(value) for value in cloud)])
        if not self._earned:
            return False
        if self._width <= NARROWEST or max(self._best, 0.0) >= np.mean(self._earned):
            self._open = False
            return False
        if self._heard < ENOUGH:
            return False
        self._width *= HALF
        self._asked, self._heard, self._best = False, 0, -np.inf
        return True

    def explain(self) -> dict[str, float]:
        """Return what the start earned, on average over its evaluations, and the width."""
        if not self._earned:
            return {}
        return {"start_return": float(np.mean(self._earned)), "start_width": self._width}

    def state_dict(self) -> dict[str, Any]:
        """Return the width, and what was heard of it and of the start."""
        return {
            "width": self._width,
            "open": self._open,
            "asked": self._asked,
            "earned": list(self._earned),
            "heard": self._heard,
            "best": None if self._best == -np.inf else self._best,
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue from a state."""
        self._width, self._open = float(state["width"]), bool(state["open"])
        self._asked, self._heard = bool(state["asked"]), int(state["heard"])
        self._earned = [float(value) for value in state["earned"]]
        best = state["best"]
        self._best = -np.inf if best is None else float(best)
