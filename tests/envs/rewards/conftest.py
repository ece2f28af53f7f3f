"""Tasks whose reward is known, so that what must be paid can be written down."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from rolecast.core.types import Float, Seeds
from rolecast.envs.spec import TaskSpec


class Ledger:
    """Episode b earns `earned[b, t]` in step t and ends after `lengths[b]` steps."""

    def __init__(self, earned: list[list[float]], lengths: NDArray[np.int64] | None = None) -> None:
        self.earned = np.array(earned, dtype=np.float64)
        batch, self.horizon = self.earned.shape
        self.lengths = np.full(batch, self.horizon) if lengths is None else np.asarray(lengths)
        self.steps = 0

    @property
    def spec(self) -> TaskSpec:
        return TaskSpec(
            id="ledger?page=1", agents=1, observation_size=1, action_size=1, horizon=self.horizon
        )

    def reset(self, seeds: Seeds) -> Float:
        self.steps = 0
        return np.zeros((len(self.earned), 1, 1))

    def step(self, actions: Float) -> tuple[Float, Float, NDArray[np.bool_], Mapping[str, Float]]:
        earned = np.where(self.steps < self.lengths, self.earned[:, self.steps], 0.0)
        self.steps += 1
        seen = np.full((len(self.earned), 1, 1), float(self.steps))
        return seen, earned, self.steps >= self.lengths, {"page": earned + 1.0}

    def close(self) -> None:
        self.steps = -1
