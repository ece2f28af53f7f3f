"""What follows the noise of a cloud's returns: how wide the cloud is, and how many episodes it has.

A cloud that is wider than noise calls for costs returns, makes the function less simple, and shows
no more. So while returns vary more by what the candidates are than by noise, the cloud narrows.
Where there is next to no noise, it limits nothing: the cloud is as wide as ever, and fewer episodes
a candidate leave more of the budget for candidates.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from rolecast.core.types import Float
from rolecast.platform.optimizers.local_gp.constants import SEARCH_CONSTANTS


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
        """Factor of the cloud's radius, in [`least_noise_width`, 1]."""
        return self._width

    def episodes(self, planned: int) -> int:
        """Return how many of the episodes planned for a candidate it needs."""
        return max(min(SEARCH_CONSTANTS.least_episodes, planned), round(self._share * planned))

    def update(self, returns: Float, stderrs: Float) -> None:
        """Take in returns [q] of the cloud and their standard errors [q], NaN where unknown."""
        ratio = signal_to_noise(returns, stderrs)
        if ratio is None:
            return
        self._ratio = ratio
        if self._wanted == 0.0:
            return
        if ratio >= 2.0 * SEARCH_CONSTANTS.quiet_ratio * self._wanted:
            self._share = max(0.5 * self._share, SEARCH_CONSTANTS.least_episode_share)
        elif ratio < self._wanted:
            self._share = min(2.0 * self._share, 1.0)
        wider = np.clip(
            0.5
            * np.log(
                (self._wanted + SEARCH_CONSTANTS.signal_ratio_offset)
                / (ratio + SEARCH_CONSTANTS.signal_ratio_offset)
            ),
            -1.0,
            1.0,
        )
        if ratio > SEARCH_CONSTANTS.quiet_ratio * self._wanted:
            wider = 1.0
        change = (
            SEARCH_CONSTANTS.noise_width_rate
            * min(1.0, len(returns) / SEARCH_CONSTANTS.full_noise_batch)
            * float(wider)
        )
        self._width = float(
            np.clip(self._width * np.exp(change), SEARCH_CONSTANTS.least_noise_width, 1.0)
        )

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

    Of returns as they are: transformed by a square root, those of a task that pays next to nothing
    seem to vary by three times their noise, for the error of a return near 0 says little of its
    root's.

    Args:
        returns: [q], of a cloud.
        stderrs: [q], their standard errors; NaN where unknown.
    Returns:
        From 0 to `signal_ratio_limit`; None where noise is unknown, or all returns are the same.
    """
    if len(returns) < 2:
        return None
    noise, whole = float(np.square(stderrs).mean()), float(returns.var(ddof=1))
    if np.isnan(noise) or whole == 0.0:
        return None
    return max(0.0, whole / max(noise, whole / SEARCH_CONSTANTS.signal_ratio_limit) - 1.0)
