"""Functions of known optimum, some of known structure: black boxes to compare optimisers on.

Additive ones are sums over random overlapping cliques of dimensions; standard ones are put into
many dimensions, along the axes or turned by a random rotation. All are maximised over the cube.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from rolecast.core.errors import unknown_name
from rolecast.core.types import Float
from rolecast.platform.search.bandit.hartmann import (
    HARTMANN_CENTRES,
    HARTMANN_SCALES,
    HARTMANN_WEIGHTS,
)

Cliques = tuple[tuple[int, ...], ...]
Index = NDArray[np.int64]

EVERY_DIMENSION: Final = slice(None)

FOURIER_FEATURES: Final = 128
"""Random Fourier features of each clique's function."""

CLIQUE_LENGTHSCALE: Final = 0.3
"""Lengthscale of a clique's function over the root of the clique's size; the cube has side 1."""

LARGEST_CLIQUE: Final = 4
"""Dimensions of the largest clique; the smallest has 2."""

EXCHANGE_HOPS: Final = 8
"""Times D that some neighbouring cliques of the best point are drawn anew, to find the optimum."""


class AdditiveFunction:
    """A sum over cliques of random Fourier series, with its gradient.

    Each clique's function is a draw, up to the number of features, from a Gaussian process of
    squared-exponential covariance and variance 1 (Rahimi and Recht 2007).
    """

    def __init__(self, dimension: int, rng: np.random.Generator) -> None:
        """Draw D / 2 cliques that together hold every dimension, and their functions."""
        self.cliques = overlapping_cliques(dimension, rng)
        sizes = np.array([len(clique) for clique in self.cliques])
        self._members = np.zeros((len(sizes), LARGEST_CLIQUE), dtype=np.int64)
        self._frequencies = np.zeros((len(sizes), LARGEST_CLIQUE, FOURIER_FEATURES))
        for place, clique in enumerate(self.cliques):
            self._members[place, : len(clique)] = clique
            drawn = rng.standard_normal((len(clique), FOURIER_FEATURES))
            self._frequencies[place, : len(clique)] = drawn / (
                CLIQUE_LENGTHSCALE * np.sqrt(len(clique))
            )
        self._phases = rng.uniform(0.0, 2.0 * np.pi, (len(sizes), FOURIER_FEATURES))
        self._factors = rng.standard_normal((len(sizes), FOURIER_FEATURES)) * np.sqrt(
            2.0 / FOURIER_FEATURES
        )

    def __call__(self, points: Float) -> Float:
        """Return values [N] at points [N, D]."""
        return np.array([self.terms(point).sum() for point in points])

    def terms(self, point: Float, rows: Index | slice = EVERY_DIMENSION) -> Float:
        """Return the shares of cliques in the value at a point [D]; of all of them, [M]."""
        return np.asarray((np.cos(self._angles(point, rows)) * self._factors[rows]).sum(1))

    def gradient(self, point: Float, rows: Index | slice = EVERY_DIMENSION) -> Float:
        """Return the gradient [D] of the sum of terms at a point [D]."""
        waves = -np.sin(self._angles(point, rows)) * self._factors[rows]
        slopes = np.einsum("mf,mkf->mk", waves, self._frequencies[rows])
        summed = np.bincount(self._members[rows].ravel(), slopes.ravel(), len(point))
        return np.asarray(summed, dtype=np.float64)

    def _angles(self, point: Float, rows: Index | slice) -> Float:
        inputs = point[self._members[rows]]
        turned = np.einsum("mk,mkf->mf", inputs, self._frequencies[rows])
        return np.asarray(turned + self._phases[rows])

    def climb(self, start: Float, free: Index) -> tuple[float, Float]:
        """Move some dimensions of a start [D] to a local maximum; return the gain and the point."""
        rows = np.flatnonzero(np.isin(self._members, free).any(1))

        def loss(inputs: Float) -> tuple[float, Float]:
            point = start.copy()
            point[free] = inputs
            return -float(self.terms(point, rows).sum()), -self.gradient(point, rows)[free]

        found = minimize(
            loss,
            start[free],
            jac=True,
            method="L-BFGS-B",
            bounds=[(0.0, 1.0)] * len(free),
            options={"maxiter": 200},
        )
        reached = start.copy()
        reached[free] = np.clip(found.x, 0.0, 1.0)
        return -float(found.fun) - float(self.terms(start, rows).sum()), reached

    def greatest(self, dimension: int, rng: np.random.Generator) -> float:
        """Return the greatest value found by climbing from where some cliques are drawn anew.

        A clique and at most two that overlap it are drawn uniformly, they and all that overlap them
        climb, and where that is a gain it stays: basin hopping, in the neighbourhood that a change
        concerns. From two seeds it ends at the same value at D = 20 and 100, and at values that
        differ by 0.2 % of the range from the mean at D = 400.
        """
        everywhere = np.arange(dimension)
        _, point = self.climb(rng.random(dimension), everywhere)
        for hop in range(EXCHANGE_HOPS * dimension):
            drawn = self._overlapping(np.array([hop % len(self.cliques)]))
            kept = rng.permutation(drawn)[: int(rng.integers(1, 4))]
            inputs = np.unique(np.concatenate([self.cliques[place] for place in kept]))
            moved = point.copy()
            moved[inputs] = rng.random(len(inputs))
            near = self._overlapping(kept)
            free = np.unique(np.concatenate([self.cliques[place] for place in near]))
            lost = float((self.terms(point) - self.terms(moved)).sum())
            gain, moved = self.climb(moved, free)
            if gain > lost:
                point = moved
        _, point = self.climb(point, everywhere)
        return float(self.terms(point).sum())

    def _overlapping(self, places: Index) -> Index:
        """Return which cliques share a dimension with some, themselves included."""
        held = np.concatenate([self.cliques[place] for place in places])
        return np.array(
            [place for place, clique in enumerate(self.cliques) if not set(clique).isdisjoint(held)]
        )


def overlapping_cliques(dimension: int, rng: np.random.Generator) -> Cliques:
    """Return cliques of 2 to 4 dimensions, about D / 2 of them; every dimension is in one or more.

    Each holds one dimension that no clique before it holds, and others drawn from all.
    """
    cliques: list[tuple[int, ...]] = []
    covered: set[int] = set()
    for first in map(int, rng.permutation(dimension)):
        if first in covered:
            continue
        others = rng.permutation(dimension)[: int(rng.integers(2, LARGEST_CLIQUE + 1))]
        members = [first, *(int(one) for one in others if one != first)][: len(others)]
        cliques.append(tuple(sorted(members)))
        covered.update(members)
    return tuple(cliques)


SAMPLE_POINTS: Final = 2000
"""Uniform points whose values scale regret and noise."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Function:
    """A function of the unit cube [0, 1]^D whose optimum is known."""

    value: Callable[[Float], Float]
    """Maps points [N, D] to values [N], without noise."""

    optimum: float
    """Greatest value, or the greatest that was found, or a bound on it."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ScaledFunction(Function):
    """A function whose values over the cube, and interactions, are known too."""

    dimension: int
    """D."""

    mean: float
    """Mean over the cube: a point as good as this has normalised regret 1."""

    deviation: float
    """Standard deviation of values over the cube."""

    cliques: Cliques | None
    """Graph of its interactions; None where it is all of one piece."""

    def regret(self, point: Float) -> float:
        """Return the regret of a point [D], as a share of that of the cube's mean."""
        return (self.optimum - float(self.value(point[None])[0])) / (self.optimum - self.mean)


def hartmann6(z: Float) -> Float:
    """Return Hartmann's function of six dimensions [N] at z [N, 6]; 3.32237 at its greatest."""
    squares = np.square(z[:, None, :] - HARTMANN_CENTRES)
    return np.asarray(np.exp(-(squares * HARTMANN_SCALES).sum(2)) @ HARTMANN_WEIGHTS)


def branin(z: Float) -> Float:
    """Return Branin's function, negated, [N] at z [N, 2]; -0.397887 at its greatest."""
    x, y = 15.0 * z[:, 0] - 5.0, 15.0 * z[:, 1]
    valley = y - 5.1 / (4.0 * np.pi**2) * x**2 + 5.0 / np.pi * x - 6.0
    return np.asarray(-(valley**2) - 10.0 * (1.0 - 1.0 / (8.0 * np.pi)) * np.cos(x) - 10.0)


def ackley(z: Float) -> Float:
    """Return Ackley's function, negated, [N] at z [N, D], of width 15; 0 at z = 0.5."""
    x = 15.0 * (z - 0.5)
    bowl = 20.0 * np.exp(-0.2 * np.sqrt(np.square(x).mean(1)))
    return np.asarray(bowl + np.exp(np.cos(2.0 * np.pi * x).mean(1)) - 20.0 - np.e)


def levy(z: Float) -> Float:
    """Return Levy's function, negated, [N] at z [N, D], of width 15; 0 at z = 0.5."""
    w = 1.0 + 15.0 * (z - 0.5) / 4.0
    middle = np.square(w[:, :-1] - 1.0) * (1.0 + 10.0 * np.square(np.sin(np.pi * w[:, :-1] + 1.0)))
    last = np.square(w[:, -1] - 1.0) * (1.0 + np.square(np.sin(2.0 * np.pi * w[:, -1])))
    return np.asarray(-np.square(np.sin(np.pi * w[:, 0])) - middle.sum(1) - last)


@dataclass(frozen=True, kw_only=True)
class Standard:
    """A function of the literature and how it is known."""

    value: Callable[[Float], Float]
    """Of points [N, d], defined beyond the cube too."""

    inputs: int | None
    """d; None: as many as there are dimensions."""

    optimum: float
    """Greatest value, in the whole space; of a separable function, of one dimension."""

    separable: bool = False
    """Whether it is a sum over single dimensions."""

    def greatest(self, inputs: int) -> float:
        """Return the greatest value of so many inputs."""
        return self.optimum * inputs if self.separable else self.optimum


STANDARD_FUNCTIONS: Final = {
    "hartmann6": Standard(value=hartmann6, inputs=6, optimum=3.322368011391339),
    "branin": Standard(value=branin, inputs=2, optimum=-0.39788735772973816),
    "ackley": Standard(value=ackley, inputs=None, optimum=0.0),
    "levy": Standard(value=levy, inputs=None, optimum=0.0, separable=True),
}


@lru_cache(maxsize=32)
def additive(dimension: int, seed: int) -> ScaledFunction:
    """Return a sum over random cliques.

    Args:
        dimension: D, at least 4.
        seed: of cliques and functions.
    """
    rng = np.random.default_rng((seed, dimension))
    drawn = AdditiveFunction(dimension, rng)
    values = drawn(rng.random((SAMPLE_POINTS, dimension)))
    return ScaledFunction(
        dimension=dimension,
        value=drawn,
        optimum=drawn.greatest(dimension, rng),
        mean=float(values.mean()),
        deviation=float(values.std()),
        cliques=drawn.cliques,
    )


@lru_cache(maxsize=4)
def embedded(name: str, dimension: int, rotated: bool, seed: int) -> ScaledFunction:
    """Return a standard function in many dimensions.

    A function of few inputs takes them from as many dimensions, or from random directions that are
    orthogonal, through the middle of the cube; one of all dimensions has its summit at a random
    place instead of the middle, where searches begin.

    Args:
        name: one of `STANDARD_FUNCTIONS`.
        dimension: D.
        rotated: turn the inputs by a random rotation, so that no axis is special.
        seed: of what is random.

    Raises:
        RequestError: no function has this name.
    """
    if name not in STANDARD_FUNCTIONS:
        raise unknown_name("function", name, STANDARD_FUNCTIONS)
    known, rng = STANDARD_FUNCTIONS[name], np.random.default_rng((seed, dimension, int(rotated)))
    inputs = known.inputs or dimension
    chosen = rng.permutation(dimension)[:inputs]
    directions = _directions(dimension, inputs, rng) if rotated else np.eye(dimension)[chosen]
    summit = np.full(dimension, 0.5) if known.inputs else rng.uniform(0.2, 0.8, dimension)
    pieces: Index = chosen[:, None] if known.separable else chosen[None]
    whole = rotated or pieces.shape[1] == dimension

    def value(points: Float) -> Float:
        return known.value(0.5 + (points - summit) @ directions.T)

    values = value(rng.random((SAMPLE_POINTS, dimension)))
    return ScaledFunction(
        dimension=dimension,
        value=value,
        optimum=known.greatest(inputs),
        mean=float(values.mean()),
        deviation=float(values.std()),
        cliques=None if whole else tuple(tuple(sorted(map(int, row))) for row in pieces),
    )


def _directions(dimension: int, count: int, rng: np.random.Generator) -> Float:
    """Return orthonormal rows [count, D], uniform over rotations."""
    basis, triangle = np.linalg.qr(rng.standard_normal((dimension, count)))
    return np.asarray((basis * np.sign(np.diag(triangle))).T)
