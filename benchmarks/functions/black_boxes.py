"""Functions of known optimum, some of known structure: black boxes to compare optimisers on.

Additive ones are sums over random overlapping cliques of dimensions; standard ones are put into
many dimensions, along the axes or turned by a random rotation. All are maximised over the cube.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np

from rolecast.benchmarks.functions.additive import AdditiveFunction, Cliques, Index
from rolecast.core.errors import RequestError
from rolecast.core.types import Float

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


HARTMANN_FACTORS: Final = np.array([1.0, 1.2, 3.0, 3.2])
HARTMANN_WIDTHS: Final = np.array(
    [
        [10.0, 3.0, 17.0, 3.5, 1.7, 8.0],
        [0.05, 10.0, 17.0, 0.1, 8.0, 14.0],
        [3.0, 3.5, 1.7, 10.0, 17.0, 8.0],
        [17.0, 8.0, 0.05, 10.0, 0.1, 14.0],
    ]
)
HARTMANN_CENTRES: Final = 1e-4 * np.array(
    [
        [1312.0, 1696.0, 5569.0, 124.0, 8283.0, 5886.0],
        [2329.0, 4135.0, 8307.0, 3736.0, 1004.0, 9991.0],
        [2348.0, 1451.0, 3522.0, 2883.0, 3047.0, 6650.0],
        [4047.0, 8828.0, 8732.0, 5743.0, 1091.0, 381.0],
    ]
)


def hartmann6(z: Float) -> Float:
    """Return Hartmann's function of six dimensions [N] at z [N, 6]; 3.32237 at its greatest."""
    squares = np.square(z[:, None, :] - HARTMANN_CENTRES)
    return np.asarray(np.exp(-(squares * HARTMANN_WIDTHS).sum(2)) @ HARTMANN_FACTORS)


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
    """Greatest value, in the whole space."""

    separable: bool = False
    """Whether it is a sum over single dimensions."""


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
        raise RequestError(
            f"function {name!r} is unknown; expected one of {', '.join(STANDARD_FUNCTIONS)}"
        )
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
        optimum=known.optimum,
        mean=float(values.mean()),
        deviation=float(values.std()),
        cliques=None if whole else tuple(tuple(sorted(map(int, row))) for row in pieces),
    )


def _directions(dimension: int, count: int, rng: np.random.Generator) -> Float:
    """Return orthonormal rows [count, D], uniform over rotations."""
    basis, triangle = np.linalg.qr(rng.standard_normal((dimension, count)))
    return np.asarray((basis * np.sign(np.diag(triangle))).T)
