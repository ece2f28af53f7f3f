"""Normalisation of observations by running statistics, folded into the weights.

A policy with `normalise="running"` reads (o - mean) / deviation. All first layers are affine, so
that this is another set of weights: W (o - m) / s + b = (W / s) o + (b - W m / s). Kernels,
artefacts and evaluations know plain weights only. Source: augmented random search, V2 (Mania, Guy
and Recht 2018). Differs: statistics are those before a batch of candidates, the same for all of it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Self

import numpy as np

from rolecast.core.types import Float

LEAST_DEVIATION: Final = 0.01
"""Floor of the standard deviation, in the unit of an observation."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ObservationStatistics:
    """Statistics of the do numbers that an agent observes, pooled over agents, steps, episodes."""

    count: int
    """Number of observations; 0 before any."""

    mean: Float
    """Mean [do]."""

    squares: Float
    """Sum [do] of squared differences from the mean."""

    @classmethod
    def none(cls, size: int) -> Self:
        """Return the statistics of no observation of that size."""
        return cls(count=0, mean=np.zeros(size), squares=np.zeros(size))

    @classmethod
    def of_sums(cls, sums: Float) -> Self:
        """Return the statistics of observations.

        Args:
            sums: [3, do], their number, their sum, and the sum of their squares.
        """
        count, total, squares = int(sums[0, 0]), sums[1], sums[2]
        if not count:
            return cls.none(total.size)
        mean = total / count
        return cls(count=count, mean=mean, squares=np.maximum(squares - total * mean, 0.0))

    def merged(self, other: Self) -> Self:
        """Return the statistics of both together (Chan, Golub and LeVeque 1983)."""
        if not other.count:
            return self
        total = self.count + other.count
        apart, share = other.mean - self.mean, other.count / total
        squares = self.squares + other.squares + np.square(apart) * (self.count * share)
        return type(self)(count=total, mean=self.mean + share * apart, squares=squares)

    @property
    def deviation(self) -> Float:
        """Standard deviation [do], at least `LEAST_DEVIATION`; 1 before any observation."""
        if not self.count:
            return np.ones(self.mean.size)
        return np.maximum(np.sqrt(self.squares / self.count), LEAST_DEVIATION)

    def to_json(self) -> dict[str, Any]:
        """Return the statistics as JSON values, exact to the last bit."""
        return {
            "count": self.count,
            "mean": self.mean.tolist(),
            "squares": self.squares.tolist(),
        }

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Self:
        """Return the statistics that `to_json` gave these values for."""
        mean, squares = (np.array(values[key], dtype=np.float64) for key in ("mean", "squares"))
        return cls(count=int(values["count"]), mean=mean, squares=squares)


def observation_bound(options: Mapping[str, Any]) -> float | None:
    """Return the bound to which a policy that normalises clips observations; else None.

    Args:
        options: of the policy.
    """
    running = options.get("normalise") == "running"
    return float(options["observation_clip"]) if running else None


def counted_share(options: Mapping[str, Any]) -> float:
    """Return the share of the budget in which observations are counted, in (0, 1].

    Args:
        options: of the policy.
    """
    return float(options.get("normalise_share", 1.0))
