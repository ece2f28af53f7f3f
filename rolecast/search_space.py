"""Search spaces of named parameters as the unit cube, for Optuna and Ray Tune alike.

Numbers are mapped to [0, 1], logarithmic ones by their logarithm; a choice of k values is k numbers
of the cube, of which the largest wins.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp, isfinite, log
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rolecast.core.errors import ConfigError

Point = NDArray[np.float64]
"""[D], in the unit cube."""


@dataclass(frozen=True, kw_only=True)
class Range:
    """A parameter that is a number."""

    low: float
    """Least value."""

    high: float
    """Greatest value."""

    log: bool = False
    """Whether the logarithm is what is uniform; `low` is above 0 then."""

    step: float | None = None
    """Distance of neighbouring values, counted from `low`; None where all values are possible."""

    whole: bool = False
    """Whether values are integers."""

    def __post_init__(self) -> None:
        bounds = (self.low, self.high)
        if not (isfinite(self.low) and isfinite(self.high) and self.low <= self.high):
            raise ConfigError("range", bounds, "finite bounds, low <= high")
        if self.log and self.low - self._half_step <= 0.0:
            raise ConfigError("logarithmic range", bounds, "bounds above half a step")

    @property
    def width(self) -> int:
        """Numbers of the cube that it takes."""
        return 1

    @property
    def _half_step(self) -> float:
        return 0.5 * (self.step or 0.0)

    def _ends(self) -> tuple[float, float]:
        """Return the ends of the range; half a step beyond, so that all values are as wide."""
        low, high = self.low - self._half_step, self.high + self._half_step
        return (log(low), log(high)) if self.log else (low, high)

    def encode(self, value: Any) -> Sequence[float]:
        """Return the numbers [1] of the cube that stand for a value."""
        low, high = self._ends()
        number = log(value) if self.log else float(value)
        return [min(1.0, max(0.0, (number - low) / (high - low))) if high > low else 0.5]

    def decode(self, numbers: Point) -> float | int:
        """Return the value that numbers [1] of the cube stand for, on the grid of the range."""
        low, high = self._ends()
        value = low + float(numbers[0]) * (high - low)
        value = exp(value) if self.log else value
        if self.step is not None:
            value = self.low + round((value - self.low) / self.step) * self.step
        value = min(max(value, self.low), self.high)
        return round(value) if self.whole else value

    def holds(self, value: Any) -> bool:
        """Tell whether a value lies in the range."""
        if not isinstance(value, Real) or isinstance(value, bool):
            return False
        try:
            number = float(value)
        except OverflowError:  # an integer that no float holds
            return False
        return self.low <= number <= self.high and (not self.whole or number.is_integer())


@dataclass(frozen=True)
class Choice:
    """A parameter that is one of several values without an order."""

    values: tuple[Any, ...]
    """What may be chosen."""

    @property
    def width(self) -> int:
        """Numbers of the cube that it takes."""
        return len(self.values)

    def encode(self, value: Any) -> Sequence[float]:
        """Return the numbers [k] of the cube that stand for a value: 1 for it, 0 for others."""
        chosen = self._place(value)
        if chosen is None:
            raise ConfigError("choice", value, f"one of {list(self.values)}")
        return [float(place == chosen) for place in range(len(self.values))]

    def decode(self, numbers: Point) -> Any:
        """Return the value whose number, of [k], is the largest."""
        return self.values[int(np.argmax(numbers))]

    def holds(self, value: Any) -> bool:
        """Tell whether a value may be chosen."""
        return self._place(value) is not None

    def _place(self, value: Any) -> int | None:
        """Return the place of a value: itself, or else one equal to it and of its type."""
        same = [place for place, each in enumerate(self.values) if each is value]
        alike = [
            place
            for place, each in enumerate(self.values)
            if type(each) is type(value) and bool(np.all(each == value))
        ]
        return next(iter(same + alike), None)


SearchSpace = Mapping[str, Range | Choice]


def dimension(space: SearchSpace) -> int:
    """Return D, how many numbers of the cube a search space takes."""
    return sum(found.width for found in space.values())


def to_cube(values: Mapping[str, Any], space: SearchSpace) -> Point:
    """Return the point [D] of the cube whose parameters have these values."""
    return np.concatenate([np.array(space[name].encode(values[name])) for name in space])


def from_cube(point: Point, space: SearchSpace) -> dict[str, Any]:
    """Return the values of the parameters at a point [D] of the cube."""
    values: dict[str, Any] = {}
    start = 0
    for name, found in space.items():
        values[name] = found.decode(point[start : start + found.width])
        start += found.width
    return values


def holds(space: SearchSpace, values: Mapping[str, Any]) -> bool:
    """Tell whether values name all parameters of a search space and lie in it."""
    return all(name in values and found.holds(values[name]) for name, found in space.items())
