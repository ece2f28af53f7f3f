"""Ways to follow an estimated gradient: ClipUp and Adam, with states that can be saved."""

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np

from rolecast.core.types import Float


class Ascent(Protocol):
    """Turns gradients into steps."""

    def step(self, gradient: Float) -> Float:
        """Return the next step [D] for a gradient [D] that points uphill."""

    def state_dict(self) -> dict[str, Any]:
        """Return all that decides future steps."""

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue from a state."""


class ClipUp:
    """Momentum over gradients of length 1, its speed clipped.

    Source: Toklu, Liskowski and Srivastava (2020), algorithm 1.
    """

    def __init__(
        self, dimension: int, *, step_size: float, max_speed: float, momentum: float
    ) -> None:
        self._velocity = np.zeros(dimension)
        self._step_size, self._max_speed, self._momentum = step_size, max_speed, momentum

    def step(self, gradient: Float) -> Float:
        """Return the new velocity; a gradient of length 0 leaves momentum alone."""
        length = float(np.linalg.norm(gradient))
        if length > 0.0:
            gradient = gradient / length
        self._velocity = self._momentum * self._velocity + self._step_size * gradient
        speed = float(np.linalg.norm(self._velocity))
        if speed > self._max_speed:
            self._velocity = self._velocity * (self._max_speed / speed)
        return self._velocity.copy()

    def state_dict(self) -> dict[str, Any]:
        """Return the velocity."""
        return {"velocity": self._velocity.copy()}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue from a velocity."""
        self._velocity = np.array(state["velocity"], dtype=np.float64)


class Adam:
    """Steps of about one size in each coordinate.

    Source: Kingma and Ba (2015), algorithm 1.
    """

    def __init__(
        self,
        dimension: int,
        *,
        step_size: float,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-8,
    ) -> None:
        self._first, self._second, self._count = np.zeros(dimension), np.zeros(dimension), 0
        self._step_size, self._betas, self._epsilon = step_size, (beta1, beta2), epsilon

    def step(self, gradient: Float) -> Float:
        """Return the next step [D]."""
        beta1, beta2 = self._betas
        self._count += 1
        self._first = beta1 * self._first + (1.0 - beta1) * gradient
        self._second = beta2 * self._second + (1.0 - beta2) * np.square(gradient)
        first = self._first / (1.0 - beta1**self._count)
        second = self._second / (1.0 - beta2**self._count)
        return np.asarray(self._step_size * first / (np.sqrt(second) + self._epsilon))

    def state_dict(self) -> dict[str, Any]:
        """Return moments and the number of steps."""
        return {
            "first": self._first.copy(),
            "second": self._second.copy(),
            "count": self._count,
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue from moments."""
        self._first = np.array(state["first"], dtype=np.float64)
        self._second = np.array(state["second"], dtype=np.float64)
        self._count = int(state["count"])
