"""Functions of bandits by name: those of the paper's figure, and Python callables of a user.

Definitions of Branin and Hartmann-4 in the scaled form of Picheny et al. (2013); both negated, so
that their maximum is sought. A value has the same bits in any company, so that agents in processes
of their own answer what agents in one process do.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from rolecast.core.errors import ConfigError, RequestError, first_line, unknown_name
from rolecast.core.seeds import Purpose, episode_seeds
from rolecast.core.types import Float
from rolecast.core.validation import LARGEST_RETURN
from rolecast.envs.adapters.sources import python_source
from rolecast.platform.optimizers.duets.domain import Ball, Box, Domain
from rolecast.platform.search.bandit.hartmann import (
    HARTMANN_CENTRES,
    HARTMANN_SCALES,
    HARTMANN_WEIGHTS,
)

BALL_DIMENSION: Final = 10
"""Dimensions of h1 and h2."""

DIRECTION_INDEX: Final = 10_000
"""Index of the seed of their direction; those below it are epochs."""

FUNCTION_NAMES: Final = ("h1", "h2", "branin", "hartmann4")
"""Names of built-in functions."""

PYTHON_PREFIX: Final = "python:"
"""Beginning of the name of a user's function."""

TASK_PREFIX: Final = "task:"
"""Beginning of the name of a task as a function."""

BUILT_IN_NOISE: Final = 0.2
"""Standard deviation of the noise that the paper adds."""


@dataclass(frozen=True)
class BanditFunction:
    """A function on a domain, to be maximised."""

    name: str
    domain: Domain
    value: Callable[[Float], Float]
    """Values [P] at points [P, d]."""

    lengthscale: float
    """Lengthscale of the kernel by which it is searched."""

    optimum: float | None = None
    """Greatest value; None where it is not known."""

    noise: float = 0.0
    """Standard deviation of normal noise that is added to each value, at least 0."""

    def __post_init__(self) -> None:
        if not (math.isfinite(self.noise) and self.noise >= 0.0):
            raise ConfigError("noise", self.noise, "a number >= 0")

    def values(self, points: Float) -> Float:
        """Return values without noise [P] at points [P, d].

        Raises:
            RequestError: a point is outside the domain, the function fails, or it returns another
                number of values.
        """
        outside = ~self.domain.contains(points)
        if outside.any():
            raise RequestError(
                f"function {self.name!r} was asked at {points[outside][0].tolist()}; expected a "
                "point of its domain"
            )
        found = np.asarray(self.value(points), dtype=np.float64)
        if found.shape != (len(points),):
            raise RequestError(
                f"function {self.name!r} returned shape {found.shape} for {len(points)} points; "
                "expected a number for each"
            )
        return found


def h1(points: Float, direction: Float) -> Float:
    """Return cos(3 x'theta) [P]; 1 at most, where x'theta = 0."""
    return np.asarray(np.cos(3.0 * (points * direction).sum(-1)))


def h2(points: Float, direction: Float) -> Float:
    """Return u^3 - 3 u^2 + 3 u + 3 [P], u = x'theta; 4 at most, at x = theta."""
    u = (points * direction).sum(-1)
    return np.asarray(u**3 - 3.0 * u**2 + 3.0 * u + 3.0)


def branin(points: Float) -> Float:
    """Return Branin's function of the unit square, scaled and negated, [P]; 1.04740 at most."""
    a, b = 15.0 * points[:, 0] - 5.0, 15.0 * points[:, 1]
    squared = (b - 5.1 * a**2 / (4 * math.pi**2) + 5 * a / math.pi - 6.0) ** 2
    raw = squared + 10.0 * (1.0 - 1.0 / (8 * math.pi)) * np.cos(a) + 10.0
    return np.asarray(-(raw - 54.81) / 51.95)


def hartmann4(points: Float) -> Float:
    """Return Hartmann's function of the unit cube in 4 dimensions, negated, [P]; 3.13449 at most.

    (sum_i c_i exp(-sum_j A_ij (x_j - P_ij)^2) - 1.1) / 0.839.
    """
    squared = np.square(points[:, None] - HARTMANN_CENTRES[:, :4])
    terms = np.exp(-(HARTMANN_SCALES[:, :4] * squared).sum(-1))
    return np.asarray(((terms * HARTMANN_WEIGHTS).sum(-1) - 1.1) / 0.839)


def make_function(
    function: str | Callable[..., Any],
    *,
    seed: int = 0,
    bounds: Sequence[tuple[float, float]] | None = None,
    ball: bool = False,
    noise: float | None = None,
    optimum: float | None = None,
    offset: float | None = None,
    scale: float | None = None,
) -> BanditFunction:
    """Build the function of a bandit.

    Args:
        function: a name of `FUNCTION_NAMES`, `python:MODULE:FUNCTION`, or a callable that takes a
            point [d] and returns a number.
        seed: of the direction of h1 and h2.
        bounds: low and high of each input of a callable.
        ball: whether its domain is the ball within these bounds, which are all -R and R.
        noise: standard deviation of normal noise; None: 0.2 for a name, 0 for a callable.
        optimum: greatest value that a callable returns, where it is known.
        offset: what a callable returns where the value is 0; None: 0.
        scale: difference of what it returns that counts as 1, above 0; None: 1.
    Raises:
        RequestError: no function has this name, or bounds are missing or not wanted.
    """
    if isinstance(function, str) and not function.startswith(PYTHON_PREFIX):
        if function not in FUNCTION_NAMES:
            known = (*FUNCTION_NAMES, "python:MODULE:FUNCTION", "task:TASK")
            raise unknown_name("function", function, known)
        given = (bounds, optimum, offset, scale, ball or None)
        if any(each is not None for each in given):
            raise RequestError(
                f"function {function!r} has bounds, optimum and scale; expected none given"
            )
        return _built_in(function, seed, BUILT_IN_NOISE if noise is None else noise)
    if not bounds:
        raise RequestError("a function of your own needs bounds; expected LOW:HIGH of each input")
    name = function if isinstance(function, str) else getattr(function, "__name__", "function")
    callee = (
        python_source(function.removeprefix(PYTHON_PREFIX))
        if isinstance(function, str)
        else function
    )
    domain: Domain = Box(tuple(low for low, _ in bounds), tuple(high for _, high in bounds))
    if ball:
        low, high = domain.bounds
        if len({*(-low).tolist(), *high.tolist()}) > 1:
            raise ConfigError("bounds of a ball", bounds, "-R:R of each input, the same R")
        domain = Ball(len(bounds), float(high[0]))
    sides = domain.bounds[1] - domain.bounds[0]
    zero, unit = offset or 0.0, scale or 1.0
    return BanditFunction(
        name=name,
        domain=domain,
        value=PointwiseFunction(name, callee, zero, unit),
        lengthscale=0.2 * float(np.linalg.norm(sides)),
        optimum=None if optimum is None else (optimum - zero) / unit,
        noise=noise or 0.0,
    )


@dataclass(frozen=True)
class PointwiseFunction:
    """A user's function of one point, over many; values are less `offset`, over `scale`."""

    name: str
    callee: Callable[..., Any]
    offset: float
    scale: float

    def __call__(self, points: Float) -> Float:
        """Return values [P].

        Raises:
            RequestError: the function fails, or returns no number, or one that is too large.
        """
        try:
            # A copy each: a function that changes its argument would change what is recorded.
            values = np.array([float(self.callee(point.copy())) for point in points])
        except Exception as error:
            what = f"{type(error).__name__}: {first_line(error)}"
            raise RequestError(
                f"function {self.name!r} failed ({what}); expected a number for each point of its "
                "domain"
            ) from error
        if (large := values[np.abs(values) > LARGEST_RETURN]).size:
            raise RequestError(
                f"function {self.name!r} returned {large[0]:g}; expected a number of at most "
                f"{LARGEST_RETURN:g} in size"
            )
        return np.asarray((values - self.offset) / self.scale)


def _built_in(name: str, seed: int, noise: float) -> BanditFunction:
    """Return a function of the paper's figure, with its lengthscale."""
    if name == "branin":
        return BanditFunction(
            name, Box.unit(2), branin, 0.2, (54.81 - 0.39788735772) / 51.95, noise
        )
    if name == "hartmann4":
        return BanditFunction(name, Box.unit(4), hartmann4, 1.0, 3.134494, noise)
    rng = np.random.default_rng(episode_seeds(seed, Purpose.COIN, DIRECTION_INDEX, 1)[0])
    normal = rng.standard_normal(BALL_DIMENSION)
    direction = normal / np.linalg.norm(normal)
    chosen, optimum = (h1, 1.0) if name == "h1" else (h2, 4.0)
    ball = Ball(BALL_DIMENSION)
    return BanditFunction(name, ball, _Directed(chosen, direction), 1.0, optimum, noise)


@dataclass(frozen=True)
class _Directed:
    """A function of a point and a direction, at a direction; a value that can be sent to actors."""

    formula: Callable[[Float, Float], Float]
    direction: Float

    def __call__(self, points: Float) -> Float:
        return self.formula(points, self.direction)
