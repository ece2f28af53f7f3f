"""What follows the noise of a cloud's returns: how wide the cloud is, and how many episodes it has.

A cloud that is wider than noise calls for costs returns, makes the function less simple, and shows
no more. So while returns vary more by what the candidates are than by noise, the cloud narrows.
Where there is next to no noise, it limits nothing: the cloud is as wide as ever, and fewer episodes
a candidate leave more of the budget for candidates.
"""

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from rolecast.core.types import Float

WIDTH_RATE: Final = 0.25
"""How fast the width follows: a ratio of e times the one wanted takes half that off its logarithm,
with `FULL_BATCH` evaluations."""

FULL_BATCH: Final = 60
"""Evaluations that say how large noise is; fewer count for as much less."""

RATIO_OFFSET: Final = 0.05
"""Added to ratios of signal to noise: below it they cannot be told from 0."""

RATIO_LIMIT: Final = 1e6
"""Ratio that is said of less noise, too, and of none."""

LEAST_WIDTH: Final = 0.25
"""Least factor of the cloud's width."""

QUIET_RATIO: Final = 30.0
"""Ratio, in units of the one wanted, beyond which noise limits nothing; at twice as much, half the
episodes do."""

LEAST_SHARE: Final = 1.0 / 16.0
"""Least share of the planned episodes."""

LEAST_EPISODES: Final = 2
"""Episodes of a candidate at least: of one alone no noise is seen, nor that it has come back."""


class NoiseRule:
    """Width of a cloud, and its episodes, by the ratio of signal to noise in its returns."""

    def __init__(self, wanted: float) -> None:
        """Begin with the whole width and all episodes.

        Args:
            wanted: ratio of signal to noise at which the width stays; 0: nothing ever changes.
        """
        self._wanted = wanted
        self._width, self._share = 1.0, 1.0
        self._ratio: float | None = None

    @property
    def width(self) -> float:
        """Factor of the cloud's radius, in [`LEAST_WIDTH`, 1]."""
        return self._width

    def episodes(self, planned: int) -> int:
        """Return how many of the episodes planned for a candidate it needs."""
        return max(min(LEAST_EPISODES, planned), round(self._share * planned))

    def update(self, returns: Float, stderrs: Float) -> None:
        """Take in returns [q] of the cloud and their standard errors [q], NaN where unknown."""
        ratio = signal_to_noise(returns, stderrs)
        if ratio is None:
            return
        self._ratio = ratio
        if self._wanted == 0.0:
            return
        if ratio >= 2.0 * QUIET_RATIO * self._wanted:
            self._share = max(0.5 * self._share, LEAST_SHARE)
        elif ratio < self._wanted:
            self._share = min(2.0 * self._share, 1.0)
        wider = np.clip(
            0.5 * np.log((self._wanted + RATIO_OFFSET) / (ratio + RATIO_OFFSET)), -1.0, 1.0
        )
        if ratio > QUIET_RATIO * self._wanted:
            wider = 1.0
        change = WIDTH_RATE * min(1.0, len(returns) / FULL_BATCH) * float(wider)
        self._width = float(np.clip(self._width * np.exp(change), LEAST_WIDTH, 1.0))

    def explain(self) -> dict[str, float]:
        """Return the ratio in the last batch, and the share of the episodes."""
        if self._ratio is None:
            return {}
        return {"signal_to_noise": self._ratio, "episodes_share": self._share}

    def state_dict(self) -> dict[str, Any]:
        """Return the last ratio, and what follows it."""
        return {"ratio": self._ratio, "width": self._width, "share": self._share}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue from a state."""
        self._ratio = None if state["ratio"] is None else float(state["ratio"])
        self._width, self._share = float(state["width"]), float(state["share"])


def signal_to_noise(returns: Float, stderrs: Float) -> float | None:
    """Return the variance of returns that is not noise, in units of that which is.

    Of returns as they are: levelled by a square root, those of a task that pays next to nothing
    seem to vary by three times their noise, for the error of a return near 0 says little of its
    root's.

    Args:
        returns: [q], of a cloud.
        stderrs: [q], their standard errors; NaN where unknown.
    Returns:
        From 0 to `RATIO_LIMIT`; None where noise is unknown, or all returns are the same.
    """
    if len(returns) < 2:
        return None
    noise, whole = float(np.square(stderrs).mean()), float(returns.var(ddof=1))
    if np.isnan(noise) or whole == 0.0:
        return None
    return max(0.0, whole / max(noise, whole / RATIO_LIMIT) - 1.0)
