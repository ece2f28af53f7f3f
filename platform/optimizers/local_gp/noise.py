"""Noise rule of the local search: radius and episodes by the signal-to-noise ratio of returns.

A larger radius than the noise requires lowers the returns, makes the function less linear, and
adds no information. The radius therefore falls while the signal variance exceeds the noise.
Almost noise-free returns do not limit the radius. They need fewer episodes, so that the budget
allows more candidates.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from rolecast.core.types import Float
from rolecast.platform.optimizers.local_gp.constants import SEARCH_CONSTANTS
from rolecast.platform.optimizers.observations import Observations


class NoiseRule:
    """Width factor and episodes by the signal-to-noise ratio of the latest returns."""

    def __init__(self, wanted: float) -> None:
        """Start with width 1 and all episodes.

        Args:
            wanted: signal-to-noise ratio at which the width stays; 0: no changes.
        """
        self._wanted = wanted
        self._width, self._share = 1.0, 1.0
        self._ratio: float | None = None

    @property
    def width(self) -> float:
        """Width: factor of the radius, in [`least_noise_width`, 1]."""
        return self._width

    def episodes(self, planned: int) -> int:
        """Return the episodes of each candidate asked for next, from 1 to `planned`."""
        return max(min(SEARCH_CONSTANTS.least_episodes, planned), round(self._share * planned))

    def update_by_cloud(self, told: Observations, centre: Float, radius: float) -> None:
        """Update by those evaluations of a batch that were drawn from the cloud round a centre."""
        distances = np.linalg.norm(told.candidates - centre, axis=1)
        # The start itself, at distance 0, was not drawn from the cloud.
        drawn = (distances > 0.0) & (distances <= SEARCH_CONSTANTS.cloud_cutoff * radius)
        self.update(told.returns[drawn], told.stderrs[drawn])

    def update(self, returns: Float, stderrs: Float) -> None:
        """Update by returns [q] of the cloud and their standard errors [q], NaN where unknown."""
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
        # log w += 0.25 min(1, q / 60) clip(log((wanted + 0.05) / (ratio + 0.05)) / 2, -1, 1)
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
        """Return the signal-to-noise ratio of the last batch, and the share of episodes."""
        if self._ratio is None:
            return {}
        return {"signal_to_noise": self._ratio, "episodes_share": self._share}

    def state_dict(self) -> dict[str, Any]:
        """Return the last ratio, the width and the share of episodes."""
        return {"ratio": self._ratio, "width": self._width, "share": self._share}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue from a state."""
        self._ratio = None if state["ratio"] is None else float(state["ratio"])
        self._width, self._share = float(state["width"]), float(state["share"])


def signal_to_noise(returns: Float, stderrs: Float) -> float | None:
    """Return the signal-to-noise ratio of returns: max(0, var(y) / mean(se^2) - 1).

    Returns are not transformed: the slope of a square root near 0 is unreliable. On a task with
    nearly zero returns, transformed ones seem to vary by three times their noise.

    Args:
        returns: [q], of one cloud.
        stderrs: [q], their standard errors; NaN where unknown.
    Returns:
        From 0 to `signal_ratio_limit`; None for unknown noise or equal returns.
    """
    if len(returns) < 2:
        return None
    noise, whole = float(np.square(stderrs).mean()), float(returns.var(ddof=1))
    if np.isnan(noise) or whole == 0.0:
        return None
    return max(0.0, whole / max(noise, whole / SEARCH_CONSTANTS.signal_ratio_limit) - 1.0)
