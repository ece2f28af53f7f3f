"""Domains of a bandit, a box or a ball: uniform points from uniform numbers, candidates, volume."""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Protocol

import numpy as np
from scipy.special import gammainc, ndtri

from rolecast.core.errors import ConfigError
from rolecast.core.types import Float

CANDIDATE_BITS: Final = 14
"""log2 of the candidates over which suprema are taken."""

GRID_DIMENSIONS: Final = 4
"""Most dimensions in which candidates are a regular grid; above, a Sobol sequence."""


class Domain(Protocol):
    """Compact convex set of points [d]."""

    @property
    def dimension(self) -> int:
        """Number of dimensions d."""

    @property
    def volume(self) -> float:
        """Lebesgue measure."""

    @property
    def bounds(self) -> tuple[Float, Float]:
        """Least and greatest coordinates, [d] each."""

    def contains(self, points: Float) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Return which points [P, d] are inside, [P]."""

    def from_cube(self, uniforms: Float) -> Float:
        """Map uniform numbers [..., d] in (0, 1) to uniform points [..., d]."""


@dataclass(frozen=True)
class Box:
    """Product of intervals."""

    low: tuple[float, ...]
    """Least coordinates."""

    high: tuple[float, ...]
    """Greatest coordinates."""

    def __post_init__(self) -> None:
        sides = zip(self.low, self.high, strict=False)
        if (
            not self.low
            or len(self.low) != len(self.high)
            or not all(math.isfinite(a) and math.isfinite(b) and a < b for a, b in sides)
        ):
            raise ConfigError("Box", (self.low, self.high), "finite bounds, low < high")

    @classmethod
    def unit(cls, dimension: int) -> "Box":
        """Return the unit cube."""
        return cls((0.0,) * dimension, (1.0,) * dimension)

    @property
    def dimension(self) -> int:
        """Number of dimensions."""
        return len(self.low)

    @property
    def volume(self) -> float:
        """Product of the sides."""
        low, high = self.bounds
        return float(np.prod(high - low))

    @property
    def bounds(self) -> tuple[Float, Float]:
        """The corners."""
        return np.array(self.low), np.array(self.high)

    def contains(self, points: Float) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Return which points are between the corners."""
        low, high = self.bounds
        return np.asarray(((points >= low) & (points <= high)).all(-1))

    def from_cube(self, uniforms: Float) -> Float:
        """Scale each coordinate, kept within the bounds where the sum is rounded up."""
        low, high = self.bounds
        return np.asarray(np.clip(low + uniforms * (high - low), low, high))


@dataclass(frozen=True)
class Ball:
    """Ball of some radius around the origin."""

    dimension: int
    """Number of dimensions."""

    radius: float = 1.0
    """Radius, above 0."""

    @property
    def volume(self) -> float:
        """pi^(d/2) r^d / Gamma(d/2 + 1)."""
        half = self.dimension / 2
        return float(math.pi**half / math.gamma(half + 1) * self.radius**self.dimension)

    @property
    def bounds(self) -> tuple[Float, Float]:
        """Corners of the cube around it."""
        side = np.full(self.dimension, self.radius)
        return -side, side

    def contains(self, points: Float) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Return which points are within the radius."""
        return np.asarray(np.square(points).sum(-1) <= self.radius**2)

    def from_cube(self, uniforms: Float) -> Float:
        """Map to a normal vector g, then to r g / |g| F(|g|^2)^(1/d), F its chi-square law.

        The direction of g is uniform and independent of |g|, and F(|g|^2) is uniform.
        """
        normal = ndtri(uniforms)
        squared = np.square(normal).sum(-1, keepdims=True)
        share = gammainc(self.dimension / 2, squared / 2) ** (1.0 / self.dimension)
        return np.asarray(self.radius * share * normal / np.sqrt(squared))


def is_lattice(domain: Domain) -> bool:
    """Return whether candidates of a domain are a regular grid."""
    return isinstance(domain, Box) and domain.dimension <= GRID_DIMENSIONS


def candidate_spacing(domain: Domain, low: Float, high: Float) -> Float:
    """Return the distance [d] between neighbouring candidates of a box, by dimension."""
    if is_lattice(domain):
        return np.asarray((high - low) / (_side(domain.dimension) - 1))
    return np.asarray((high - low) * 2.0 ** (-CANDIDATE_BITS / domain.dimension))


def candidates_in(domain: Domain, low: Float, high: Float) -> Float:
    """Return candidates [C, d] in a box inside a domain: of a ball, those of them within it."""
    unit = _lattice(domain.dimension) if is_lattice(domain) else _sobol(domain.dimension)
    points = np.clip(low + unit * (high - low), *domain.bounds)  # a rounded sum leaves no face
    return np.asarray(points[domain.contains(points)])


def first_candidates(domain: Domain) -> Float:
    """Return candidates [C, d] of a whole domain."""
    if is_lattice(domain):
        return candidates_in(domain, *domain.bounds)
    return domain.from_cube(_sobol(domain.dimension))


def _side(dimension: int) -> int:
    """Return the candidates of one dimension of the grid: at most 2^14 in all."""
    return int(2.0 ** (CANDIDATE_BITS / dimension) + 1e-9)


@lru_cache(maxsize=4)
def _lattice(dimension: int) -> Float:
    """Return the grid of the unit cube, [C, d], with its faces."""
    axes = [np.linspace(0.0, 1.0, _side(dimension))] * dimension
    return np.stack(np.meshgrid(*axes, indexing="ij"), -1).reshape(-1, dimension)


@lru_cache(maxsize=4)
def _sobol(dimension: int) -> Float:
    """Return the Sobol sequence in the open unit cube, [2^14, d]."""
    from scipy.stats import qmc

    found = qmc.Sobol(dimension, scramble=False).random_base2(CANDIDATE_BITS)
    return np.asarray(found + 0.5 * 2.0**-CANDIDATE_BITS)
