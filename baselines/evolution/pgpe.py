"""PGPE: the gradient of the expected return in mean and standard deviations, by mirrored pairs.

Source: Sehnke et al. (2010), Parameter-exploring policy gradients, symmetric sampling; ranks and
Adam: Ha (2017); ClipUp and its settings: Toklu, Liskowski and Srivastava (2020).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Final

import numpy as np

from rolecast.baselines.evolution.ascent import Adam, Ascent, ClipUp
from rolecast.baselines.evolution.search import LEAST_SPREAD, EvolutionConfig
from rolecast.baselines.evolution.utilities import centered_ranks
from rolecast.core.types import Float
from rolecast.core.validation import BELOW_1, NOT_NEGATIVE, POSITIVE_NUMBER, check, one_of

ASCENT_RULES: Final = ("clipup", "adam")


@dataclass(frozen=True, kw_only=True)
class PgpeConfig(EvolutionConfig):
    """Policy gradients with parameter-based exploration, from the middle of the cube."""

    widest: ClassVar[float] = 0.1

    ascent: str = "clipup"
    """How the mean follows its gradient: "clipup" or "adam"."""

    max_speed: float = 2.0 / 15.0
    """ClipUp's greatest step of the mean, in units of the first radius. Differs: twice the authors'
    1/15, whose searches have hundreds of generations where ours have tens."""

    speed_share: float = 0.75
    """ClipUp's step size as a share of its greatest speed; 0.5 in the paper, 0.75 in EvoTorch."""

    momentum: float = 0.9
    """ClipUp's; the authors' value."""

    adam_step: float = 0.2
    """Adam's step of a coordinate in units of its first standard deviation. The authors' ratio on
    three tasks is 0.18 to 0.21."""

    spread_rate: float = 0.1
    """Learning rate of the standard deviations; the authors' value."""

    spread_change: float = 0.2
    """Most that one generation changes a standard deviation, as a share; the authors' value."""

    def __post_init__(self) -> None:
        super().__post_init__()
        rules = {
            "ascent": one_of(*ASCENT_RULES),
            "max_speed": POSITIVE_NUMBER,
            "speed_share": POSITIVE_NUMBER,
            "adam_step": POSITIVE_NUMBER,
            "momentum": BELOW_1,
            "spread_change": BELOW_1,
            "spread_rate": NOT_NEGATIVE,
        }
        check("PgpeConfig", vars(self), rules)

    def rule(self, dimension: int) -> "Pgpe":
        """Return a fresh rule."""
        return Pgpe(self, dimension)


def pgpe_gradients(sigma: Float, draws: Float, utilities: Float) -> tuple[Float, Float]:
    """Return the gradients of expected utility [D], [D] in mean and standard deviations.

    Both are multiplied by sigma^2, as the authors' step sizes are.

    Args:
        sigma: [D].
        draws: [n, D], rows 2i and 2i + 1 a standard normal draw and its negative.
        utilities: [n], of sum 0.
    """
    plus, minus, noise = utilities[0::2], utilities[1::2], sigma * draws[0::2]
    mean = (plus - minus) / 2.0 @ noise / len(noise)
    spread = (plus + minus) / 2.0 @ ((np.square(noise) - np.square(sigma)) / sigma) / len(noise)
    return np.asarray(mean), np.asarray(spread)


class Pgpe:
    """Steps of the mean by an ascent, of the standard deviations by their gradient."""

    def __init__(self, config: PgpeConfig, dimension: int) -> None:
        self._config = config
        sigma = config.first_spread(dimension)
        self._sigma = np.full(dimension, sigma)
        speed = config.max_speed * sigma * float(np.sqrt(dimension))
        self._ascent: Ascent = Adam(dimension, step_size=config.adam_step * sigma)
        if config.ascent == "clipup":
            self._ascent = ClipUp(
                dimension,
                step_size=config.speed_share * speed,
                max_speed=speed,
                momentum=config.momentum,
            )

    @property
    def spread(self) -> Float:
        """Standard deviation [D]."""
        return self._sigma

    def step(self, mean: Float, draws: Float, returns: Float) -> Float:
        """Return the next mean [D]; move each standard deviation by at most its share."""
        utilities = centered_ranks(returns)
        uphill, wider = pgpe_gradients(self._sigma, draws, utilities)
        most = self._config.spread_change * self._sigma
        moved = self._sigma + np.clip(self._config.spread_rate * wider, -most, most)
        self._sigma = np.maximum(moved, LEAST_SPREAD)
        return mean + self._ascent.step(uphill)

    def state_dict(self) -> dict[str, Any]:
        """Return standard deviations and the ascent's state."""
        return {"sigma": self._sigma.copy(), "ascent": self._ascent.state_dict()}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue from a state."""
        self._sigma = np.array(state["sigma"], dtype=np.float64)
        self._ascent.load_state_dict(state["ascent"])
