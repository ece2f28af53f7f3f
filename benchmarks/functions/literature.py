"""Functions of the literature as the papers of the competitors put them, and their budgets.

All are maximised over the unit cube. Their optima do not lie in the middle, where local searches
begin: boxes are those of the trust-region papers, which are not symmetric about the optimum.
"""

from functools import lru_cache, partial
from typing import Final

import numpy as np
from scipy.interpolate import BSpline

from rolecast.benchmarks.functions import black_boxes as functions
from rolecast.benchmarks.functions.black_boxes import STANDARD_FUNCTIONS, Function, Standard
from rolecast.benchmarks.functions.runs import FunctionProblem
from rolecast.core.errors import RequestError, unknown_name
from rolecast.core.types import Float

OBSTACLE_COUNT: Final = 100
"""Squares in the rover's field."""

OBSTACLE_HALF_SIDE: Final = 0.025
"""Half their side; the field has side 1."""

PATH_PLACES: Final = 1000
"""Places on the rover's way at which its cost is summed."""


def ackley(z: Float) -> Float:
    """Return Ackley's function, negated, [N] at z [N, D], of the box [-5, 10]^D; 0 at z = 1/3."""
    return functions.ackley(z + 0.5 - 1.0 / 3.0)


def levy(z: Float) -> Float:
    """Return Levy's function, negated, [N] at z [N, D], of the box [-5, 10]^D; 0 at z = 0.4."""
    return functions.levy(z + 0.1)


def rosenbrock(z: Float) -> Float:
    """Return Rosenbrock's function, negated, [N], of the box [-5, 10]^D; 0 at z = 0.4."""
    x = 15.0 * z - 5.0
    bends = 100.0 * np.square(x[:, 1:] - np.square(x[:, :-1])) + np.square(x[:, :-1] - 1.0)
    return np.asarray(-bends.sum(1))


def styblinski_tang(z: Float) -> Float:
    """Return Styblinski and Tang's function, negated, [N], of [-5, 5]^D; 39.16617 D at most."""
    x = 10.0 * z - 5.0
    return np.asarray(-0.5 * (x**4 - 16.0 * np.square(x) + 5.0 * x).sum(1))


@lru_cache(maxsize=1)
def _field() -> Float:
    """Return the centres of the rover's obstacles [OBSTACLE_COUNT, 2]."""
    return np.random.default_rng(0).random((OBSTACLE_COUNT, 2))


def rover(z: Float) -> Float:
    """Return what a rover's way from (0.05, 0.05) to (0.95, 0.95) earns [N]; 5 at the very most.

    z [N, 60] are 30 points of a cubic spline in the plane, from -0.1 to 1.1. Its way costs 0.05 for
    each length 1, 20 more inside an obstacle or outside the field, and ends that miss cost 10 times
    their distances along the axes.

    Source: Wang et al. (2018), Batched large-scale Bayesian optimization in high-dimensional
    spaces. Differs: the obstacles are drawn by a seed of ours, and the spline goes by its points,
    which the authors' code smooths, so that printed results do not compare.
    """
    points = (1.2 * z - 0.1).reshape(len(z), -1, 2)
    count, degree = points.shape[1], 3
    inner = np.linspace(0.0, 1.0, count - degree + 1)
    knots = np.concatenate([np.zeros(degree), inner, np.ones(degree)])
    ways = BSpline(knots, points.transpose(1, 0, 2), degree)(np.linspace(0.0, 1.0, PATH_PLACES))
    earned = np.empty(len(z))
    for row, way in enumerate(ways.transpose(1, 0, 2)):
        hit = (np.abs(way[:, None] - _field()) <= OBSTACLE_HALF_SIDE).all(2).any(1)
        outside = (np.abs(way - 0.5) > 0.5).any(1)
        costs = 0.05 + 20.0 * (hit | outside)
        lengths = np.linalg.norm(np.diff(way, axis=0), axis=1)
        driven = float((0.5 * (costs[1:] + costs[:-1]) * lengths).sum())
        missed = np.abs(way[0] - 0.05).sum() + np.abs(way[-1] - 0.95).sum()
        earned[row] = 5.0 - driven - 10.0 * missed
    return earned


PUBLISHED_FUNCTIONS: Final = {
    "branin": STANDARD_FUNCTIONS["branin"],
    "hartmann6": STANDARD_FUNCTIONS["hartmann6"],
    "ackley": Standard(value=ackley, inputs=None, optimum=0.0),
    "levy": Standard(value=levy, inputs=None, optimum=0.0),
    "rosenbrock": Standard(value=rosenbrock, inputs=None, optimum=0.0),
    "styblinski_tang": Standard(
        value=styblinski_tang, inputs=None, optimum=39.16616570377142, separable=True
    ),
    "rover": Standard(value=rover, inputs=60, optimum=5.0),
}
"""Kind of a problem to its function; of the rover the optimum is a bound."""


def embedded(kind: str, dimension: int, seed: int) -> Function:
    """Return a function whose inputs are dimensions drawn by the seed; the rest do not matter.

    Args:
        kind: one of `PUBLISHED_FUNCTIONS`.
        dimension: D, at least the function's own.
        seed: of the choice of dimensions, and of nothing where there is no choice.

    Raises:
        RequestError: no function has this name, or D is too small.
    """
    if kind not in PUBLISHED_FUNCTIONS:
        raise unknown_name("function", kind, PUBLISHED_FUNCTIONS)
    known = PUBLISHED_FUNCTIONS[kind]
    inputs = known.inputs or dimension
    if dimension < inputs:
        raise RequestError(f"{kind} has {inputs} inputs; {dimension} dimensions are too few")
    chosen = np.arange(inputs)
    if inputs < dimension:
        chosen = np.random.default_rng((seed, dimension)).permutation(dimension)[:inputs]
    return Function(
        value=lambda points: known.value(points[:, chosen]), optimum=known.greatest(inputs)
    )


published_problem = partial(FunctionProblem, batch=10)

PUBLISHED_PROBLEMS: Final = (
    published_problem(kind="branin", dimension=2, evaluations=200),
    published_problem(kind="branin", dimension=30, evaluations=50, batch=5),
    published_problem(kind="hartmann6", dimension=6, evaluations=200),
    published_problem(kind="ackley", dimension=20, evaluations=460),
    published_problem(kind="branin", dimension=500, evaluations=100),
    published_problem(kind="branin", dimension=100, evaluations=100),
    published_problem(kind="hartmann6", dimension=100, evaluations=200),
    published_problem(kind="levy", dimension=10, evaluations=200),
    published_problem(kind="rosenbrock", dimension=10, evaluations=200),
    published_problem(kind="styblinski_tang", dimension=10, evaluations=200),
    published_problem(kind="rover", dimension=60, evaluations=500, batch=20),
    published_problem(kind="branin", dimension=1000, evaluations=100),
    published_problem(kind="hartmann6", dimension=1000, evaluations=200),
    published_problem(
        kind="branin",
        dimension=100,
        evaluations=50,
        batch=1,
        asked=("random", "turbo 20 first", "alebo", "cmaes sigma 0.25"),
    ),
    published_problem(kind="branin", dimension=500, evaluations=100, batch=1, asked=("baxus",)),
    published_problem(
        kind="hartmann6",
        dimension=100,
        evaluations=200,
        batch=1,
        asked=(
            "random",
            "turbo 20 first",
            "linebo",
            "alebo",
            "cmaes sigma 0.25",
            "linebo coordinate",
            "linebo random",
        ),
    ),
)
"""Those with printed results first: they are run first. The last are as the printed ones were."""
