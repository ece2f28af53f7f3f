"""ARS: steps along the best of random directions, in units of the returns' own spread.

Source: Mania, Guy and Recht (2018), Simple random search provides a competitive approach to
reinforcement learning, versions V1 and V1-t. The normalisation of observations that makes V2
belongs to the policy: `policy.normalise=running`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from rolecast.baselines.evolution.search import EvolutionConfig
from rolecast.core.types import Float
from rolecast.core.validation import OPEN_FRACTION, POSITIVE_NUMBER, check


@dataclass(frozen=True, kw_only=True)
class ArsConfig(EvolutionConfig):
    """Augmented random search from the middle of the cube."""

    step_size: float = 2.0 / 3.0
    """Step in units of sigma; the authors' 0.02 where the noise is 0.03 (HalfCheetah)."""

    top_share: float = 1.0
    """Share of directions used: those of the highest returns; below 1 it is V1-t. The authors
    choose by task; 8 of 8 is their choice for HalfCheetah."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check("ArsConfig", vars(self), {"step_size": POSITIVE_NUMBER, "top_share": OPEN_FRACTION})

    def rule(self, dimension: int) -> "Ars":
        """Return a fresh rule."""
        return Ars(self, dimension)


class Ars:
    """Has no state of its own: width and step are fixed."""

    def __init__(self, config: ArsConfig, dimension: int) -> None:
        self._config = config
        self.spread = np.full(dimension, config.first_spread(dimension))

    def step(self, mean: Float, draws: Float, returns: Float) -> Float:
        """Return the next mean [D]; where the used returns are all alike, the mean of now."""
        pairs = returns.reshape(-1, 2)
        count = max(1, round(self._config.top_share * len(pairs)))
        used = np.argsort(-pairs.max(1), kind="stable")[:count]
        deviation = float(pairs[used].std())
        if deviation == 0.0:
            return mean
        uphill = (pairs[used, 0] - pairs[used, 1]) @ draws[0::2][used]
        step = self._config.step_size / (count * deviation) * self.spread * uphill
        return np.asarray(mean + step)

    def state_dict(self) -> dict[str, Any]:
        """Return nothing."""
        return {}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue from nothing."""
