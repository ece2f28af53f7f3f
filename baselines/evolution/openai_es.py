"""OpenAI-ES: fixed standard deviation, mirrored pairs, centred ranks, Adam and weight decay.

Source: Salimans, Ho, Chen, Sidor and Sutskever (2017), Evolution strategies as a scalable
alternative to reinforcement learning, algorithm 2. Settings are those of their published code.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from rolecast.baselines.evolution.ascent import Adam
from rolecast.baselines.evolution.search import EvolutionConfig
from rolecast.baselines.evolution.utilities import centered_ranks
from rolecast.core.types import Float
from rolecast.core.validation import NOT_NEGATIVE, POSITIVE_NUMBER, check

AUTHORS_NOISE: Final = 0.02
"""The authors' standard deviation: the unit in which their step and their decay are numbers."""


@dataclass(frozen=True, kw_only=True)
class OpenAiEsConfig(EvolutionConfig):
    """Evolution strategies from the middle of the cube.

    The authors' weights are y = (x - 0.5) AUTHORS_NOISE / sigma. Their settings so keep their
    meaning for a cube of any width.
    """

    step_size: float = 0.01
    """Adam's, where the noise is 0.02; the authors' value."""

    decay: float = 0.005
    """Weight decay towards the middle of the cube; the authors' value."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check("OpenAiEsConfig", vars(self), {"step_size": POSITIVE_NUMBER, "decay": NOT_NEGATIVE})

    def rule(self, dimension: int) -> "OpenAiEs":
        """Return a fresh rule."""
        return OpenAiEs(self, dimension)


class OpenAiEs:
    """Steps by Adam along the estimated gradient less the decay."""

    def __init__(self, config: OpenAiEsConfig, dimension: int) -> None:
        self._sigma = config.first_spread(dimension)
        self._decay, self._adam = config.decay, Adam(dimension, step_size=config.step_size)
        self.spread = np.full(dimension, self._sigma)

    def step(self, mean: Float, draws: Float, returns: Float) -> Float:
        """Return the next mean [D]."""
        unit = self._sigma / AUTHORS_NOISE
        utilities = centered_ranks(returns)
        uphill = (utilities[0::2] - utilities[1::2]) @ draws[0::2] / len(returns)
        return np.asarray(mean + unit * self._adam.step(uphill - self._decay * (mean - 0.5) / unit))

    def state_dict(self) -> dict[str, Any]:
        """Return Adam's state."""
        return {"adam": self._adam.state_dict()}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue from Adam's state."""
        self._adam.load_state_dict(state["adam"])
