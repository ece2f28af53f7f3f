"""Coins of the agents: uniform numbers by (seed, agent, epoch, draw, attempt), for every party.

The server regenerates an agent's points from its coin, so that no point is ever sent (section 3 of
the paper). A number depends on its indices alone, not on how many are drawn at once.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from rolecast.core.counter_random import UInt32, draw, episode_keys
from rolecast.core.seeds import Purpose, episode_seeds
from rolecast.core.types import Float

SECOND_STREAM: Final = np.uint32(0x85EBCA6B)
"""Added to the counter of the second key of a draw, so that it is another number."""


class Coins:
    """Coins of some agents in one epoch."""

    def __init__(self, seed: int, epoch: int, agents: NDArray[np.int64]) -> None:
        """Derive the keys.

        Args:
            seed: of the run.
            epoch: from 1.
            agents: numbers [A] of the agents, from 0.
        """
        most = int(agents.max()) + 1
        seeds = episode_seeds(seed, Purpose.COIN, epoch, most)[agents]
        self._first, self._second = episode_keys(seeds)

    def uniforms(
        self,
        agents: NDArray[np.int64],
        draws: NDArray[np.int64],
        attempts: NDArray[np.int64],
        width: int,
    ) -> Float:
        """Return uniform numbers in (0, 1), [P, B, width], on a grid of 2^-53.

        Args:
            agents: places [P] among this object's agents.
            draws: index [P] of the draw of each.
            attempts: attempts [B] of every draw.
            width: numbers of one attempt.
        """
        counters = draws.astype(np.uint32)
        first, second = self._first[agents], self._second[agents]
        with np.errstate(over="ignore"):
            one = draw(first, second, counters)[:, None, None]
            other = draw(second, first, counters + SECOND_STREAM)[:, None, None]
            steps = (attempts[:, None] * width + np.arange(width)).astype(np.uint32)
            high = draw(one, other, np.uint32(2) * steps)
            low = draw(one, other, np.uint32(2) * steps + np.uint32(1))
        return _unit(high, low)


def _unit(high: UInt32, low: UInt32) -> Float:
    """Return the middle of one of 2^53 equal parts of (0, 1), from 27 and 26 random bits."""
    whole = (high >> np.uint32(5)).astype(np.float64) * 2.0**26
    found = (whole + (low >> np.uint32(6)).astype(np.float64) + 0.5) * 2.0**-53
    return np.asarray(np.minimum(found, 1.0 - 2.0**-53))
