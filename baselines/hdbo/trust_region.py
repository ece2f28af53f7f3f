"""A box round the best point that grows with success and shrinks with failure; candidates in it.

Source: Eriksson et al. (2019), Scalable global optimization via local Bayesian optimization.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import torch
from botorch.utils.sampling import draw_sobol_samples
from gpytorch.constraints import Interval
from gpytorch.kernels import Kernel, MaternKernel, ScaleKernel

from rolecast.baselines.hdbo.surrogate import Noise
from rolecast.core.types import Float

FIRST_LENGTH: Final = 0.8
"""Side of a new box, of a cube of side 1."""

LEAST_REGION_LENGTH: Final = 0.5**7
"""A box of a shorter side is given up."""

GREATEST_LENGTH: Final = 1.6
"""Longest side."""

SUCCESS_TOLERANCE: Final = 3
"""Successful batches in a row after which the side doubles."""

LEAST_GAIN: Final = 1e-3
"""Least gain of a success, as a share of the size of the best value."""

FIRST_NOISE: Final = 5e-3
"""Noise variance from which a fit begins, of standardised returns."""

PERTURBED_COORDINATES: Final = 20
"""Expected number of coordinates in which a candidate differs from the centre."""


@dataclass
class TrustRegion:
    """Side of a box and what its last batches did."""

    length: float = FIRST_LENGTH
    successes: int = 0
    """Batches in a row that gained."""

    failures: int = 0
    """Evaluations in a row that gained nothing."""

    def judge(self, gained: bool, evaluations: int, tolerance: int) -> None:
        """Count a batch, and double or halve the side.

        Args:
            gained: whether its best is better than the best before it.
            evaluations: of the batch.
            tolerance: evaluations without gain after which the side is halved. The authors count
                batches of q, ceil(max(4, D) / q) of them: the same where all batches are alike.
        """
        self.successes = self.successes + 1 if gained else 0
        self.failures = 0 if gained else self.failures + evaluations
        if self.successes == SUCCESS_TOLERANCE:
            self.length, self.successes = min(2.0 * self.length, GREATEST_LENGTH), 0
        elif self.failures >= tolerance:
            self.length, self.failures = self.length / 2.0, 0

    @property
    def too_small(self) -> bool:
        """Whether the box is too small to go on."""
        return self.length < LEAST_REGION_LENGTH

    def state_dict(self) -> dict[str, Any]:
        """Return side and counts."""
        return vars(self).copy()

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> "TrustRegion":
        """Undo `state_dict`."""
        counts = int(state["successes"]), int(state["failures"])
        return cls(float(state["length"]), *counts)


def gains(best: float, before: float) -> bool:
    """Return whether a value is a success over the best before it."""
    return best > before + LEAST_GAIN * abs(before)


def kernel(dimension: int) -> Kernel:
    """Return the authors' kernel: Matern-5/2, a lengthscale a dimension, all in bounds."""
    base = MaternKernel(nu=2.5, ard_num_dims=dimension, lengthscale_constraint=Interval(0.005, 2.0))
    scaled = ScaleKernel(base, outputscale_constraint=Interval(0.05, 20.0)).double()
    scaled.outputscale, base.lengthscale = 1.0, 0.5
    return scaled


def noise(least: float) -> Noise:
    """Return the noise between its least variance and the authors' greatest, at their start.

    A fit that begins next to none stays there, as its gradient vanishes.
    """
    return Noise(None, Interval(least, 0.2), FIRST_NOISE)


def box(
    centre: Float, lengthscales: Float, length: float, low: float = 0.0, high: float = 1.0
) -> tuple[Float, Float]:
    """Return lower and upper corner [d] of the box round a centre [d], inside the space.

    Sides are in proportion to the lengthscales [d], their geometric mean is the length.
    """
    weights = lengthscales / lengthscales.mean()
    weights = weights / np.exp(np.log(weights).mean())
    half = 0.5 * length * weights * (high - low)
    return np.clip(centre - half, low, high), np.clip(centre + half, low, high)


def candidates(
    centre: Float, corners: tuple[Float, Float], count: int, rng: np.random.Generator
) -> Float:
    """Return Sobol points [count, d] of a box in some 20 coordinates, the centre's in the rest."""
    dimension = len(centre)
    corners_of_cube = torch.tensor([[0.0], [1.0]], dtype=torch.float64).expand(2, dimension)
    drawn = draw_sobol_samples(corners_of_cube, n=count, q=1, seed=int(rng.integers(2**31)))
    sobol = drawn[:, 0].numpy()
    moved = rng.random((count, dimension)) <= min(PERTURBED_COORDINATES / dimension, 1.0)
    still = ~moved.any(1)
    moved[still, rng.integers(dimension, size=int(still.sum()))] = True
    low, high = corners
    return np.where(moved, low + (high - low) * sobol, centre)
