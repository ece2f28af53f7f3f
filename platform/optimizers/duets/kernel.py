"""Stationary kernels, entry by entry: an entry has the same bits in a matrix of any size.

A party regenerates another's points and tests them against thresholds; a product of matrices would
round otherwise for one agent's points than for all agents' points.
"""

import math
from dataclasses import dataclass
from typing import Final

import numpy as np

from rolecast.core.types import Float
from rolecast.core.validation import check, number_in, one_of

KERNEL_FORMS: Final = ("squared_exponential", "matern12", "matern32", "matern52")
"""Names of kernels."""

MATERN_ROOTS: Final = {"matern12": 1.0, "matern32": 3.0**0.5, "matern52": 5.0**0.5}
"""sqrt(2 nu) by name."""


KERNEL_CURVATURES: Final = {"squared_exponential": 1.0, "matern32": 3.0, "matern52": 5.0 / 3.0}
"""c of k(r) >= 1 - c r^2 / 2, r the scaled distance; Matern-1/2 has none."""


@dataclass(frozen=True)
class StationaryKernel:
    """Squared-exponential or Matérn kernel with k(x, x) = 1 and one lengthscale."""

    form: str = "squared_exponential"
    """One of `KERNEL_FORMS`."""

    lengthscale: float = 0.2
    """Lengthscale, from 1e-100 to 1e100, in the unit of the domain."""

    def __post_init__(self) -> None:
        rules = {"form": one_of(*KERNEL_FORMS), "lengthscale": number_in(1e-100, 1e100)}
        check(type(self).__name__, vars(self), rules)

    def matrix(self, A: Float, B: Float) -> Float:
        """Return k [P, M] between rows of A [P, d] and of B [M, d]."""
        squared = np.zeros((len(A), len(B)))
        for place in range(A.shape[1]):
            squared += np.square(A[:, place, None] - B[:, place])
        squared /= self.lengthscale**2
        if self.form == "squared_exponential":
            return np.asarray(np.exp(-0.5 * squared))
        # Rasmussen and Williams (2006), equations 4.16 and 4.17
        root = MATERN_ROOTS[self.form] * np.sqrt(squared)
        decay = np.exp(-root)
        if self.form == "matern12":
            return np.asarray(decay)
        polynomial = 1.0 + root if self.form == "matern32" else 1.0 + root + root * root / 3.0
        return np.asarray(polynomial * decay)

    def cover_radius(self, accuracy: float) -> float:
        """Return r with |f(x) - f(x')| <= accuracy |f| for |x - x'| <= r, |f| the RKHS norm.

        |f(x) - f(x')| <= |f| sqrt(2 - 2 k(x, x')), by Cauchy-Schwarz.
        """
        if self.form == "matern12":
            return 0.5 * accuracy**2 * self.lengthscale
        return accuracy * self.lengthscale / math.sqrt(KERNEL_CURVATURES[self.form])
