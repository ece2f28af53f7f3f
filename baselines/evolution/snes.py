"""SNES: natural evolution of a mean and of one standard deviation a coordinate.

Source: Wierstra, Schaul, Glasmachers, Sun, Peters and Schmidhuber (2014), Natural Evolution
Strategies, algorithm 6 with the settings of its table 1.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from rolecast.baselines.evolution.search import LEAST_SPREAD, EvolutionConfig
from rolecast.baselines.evolution.utilities import nes_utilities
from rolecast.core.types import Float
from rolecast.core.validation import BOOLEAN_VALUE, NOT_NEGATIVE, POSITIVE_NUMBER, check, or_none


@dataclass(frozen=True, kw_only=True)
class SnesConfig(EvolutionConfig):
    """Separable natural evolution from the middle of the cube."""

    mean_rate: float = 1.0
    """Learning rate of the mean; the authors' is 1."""

    mirrored: bool = False
    """Mirrored sampling: candidates in pairs, mean + draw and mean - draw, on the same episodes.
    Differs: the authors draw each candidate on its own."""

    spread_rate: float | None = None
    """Learning rate of log sigma; None: the authors' (3 + ln D) / (5 sqrt(D))."""

    def __post_init__(self) -> None:
        super().__post_init__()
        rules = {
            "mean_rate": POSITIVE_NUMBER,
            "mirrored": BOOLEAN_VALUE,
            "spread_rate": or_none(NOT_NEGATIVE),
        }
        check("SnesConfig", vars(self), rules)

    @property
    def pairs(self) -> bool:
        """Whether candidates come in pairs."""
        return self.mirrored

    def rule(self, dimension: int) -> "Snes":
        """Return a fresh rule."""
        return Snes(self, dimension)


class Snes:
    """Steps along the natural gradient of expected utility."""

    def __init__(self, config: SnesConfig, dimension: int) -> None:
        rate = (3.0 + np.log(dimension)) / (5.0 * np.sqrt(dimension))
        self._mean_rate = config.mean_rate
        self._spread_rate = float(rate) if config.spread_rate is None else config.spread_rate
        self._sigma = np.full(dimension, config.first_spread(dimension))

    @property
    def spread(self) -> Float:
        """Standard deviation [D]."""
        return self._sigma

    def step(self, mean: Float, draws: Float, returns: Float) -> Float:
        """Return mean + rate sigma sum(u z); multiply sigma by exp(rate / 2 sum(u (z^2 - 1)))."""
        utilities = nes_utilities(returns)
        moved = mean + self._mean_rate * self._sigma * (utilities @ draws)
        grown = np.exp(0.5 * self._spread_rate * (utilities @ (np.square(draws) - 1.0)))
        self._sigma = np.maximum(self._sigma * grown, LEAST_SPREAD)
        return np.asarray(moved)

    def state_dict(self) -> dict[str, Any]:
        """Return the standard deviations."""
        return {"sigma": self._sigma.copy()}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue from standard deviations."""
        self._sigma = np.array(state["sigma"], dtype=np.float64)
