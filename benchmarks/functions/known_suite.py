"""The optimisers' table on functions of known optimum: problems, methods, and one run of both.

Recorded is the true value of `best()`, which an optimiser would hand over if stopped there; not the
greatest noisy value that it met.
"""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Final

import numpy as np

from rolecast.benchmarks.functions.black_boxes import ScaledFunction, additive, embedded
from rolecast.benchmarks.functions.runs import (
    FunctionProblem,
    FunctionRun,
    OptimizerMethod,
    five_digits,
    incumbents,
    optimizer_of,
)
from rolecast.benchmarks.result_table import Row
from rolecast.core.types import Float
from rolecast.platform.optimizers.local_gp.trust_region import POLICY_DEFAULTS, UNIFORM_DEVIATION

REGRET_PLACES: Final = 12
"""Places along the budget, evenly spaced, at which regret is recorded."""

CMAES_DEVIATION: Final = 0.75 * UNIFORM_DEVIATION
"""First standard deviation of a coordinate of CMA-ES: three quarters of a uniform point's."""

KNOWN_PROBLEMS: Final = (
    FunctionProblem(kind="additive", dimension=20, evaluations=600),
    FunctionProblem(kind="additive", dimension=20, noise=0.2, evaluations=600),
    FunctionProblem(kind="additive", dimension=100),
    FunctionProblem(kind="additive", dimension=100, noise=0.2),
    FunctionProblem(kind="additive", dimension=400),
    FunctionProblem(kind="additive", dimension=400, noise=0.2),
    FunctionProblem(kind="hartmann6", dimension=100),
    FunctionProblem(kind="hartmann6", dimension=100, rotated=True),
    FunctionProblem(kind="branin", dimension=300),
    FunctionProblem(kind="branin", dimension=300, rotated=True),
    FunctionProblem(kind="ackley", dimension=100),
    FunctionProblem(kind="ackley", dimension=100, rotated=True),
    FunctionProblem(kind="levy", dimension=100),
    FunctionProblem(kind="levy", dimension=100, rotated=True),
)

LOCAL_SETTINGS: Final = {"configuration": "local"}
NARROW_SETTINGS: Final = {
    **asdict(POLICY_DEFAULTS),
    "outcome_transform": "signed_sqrt",
    "signal_to_noise": 0.0,
    "restart_at_centre": False,
    "mirrored_pairs": False,
}
GLOBAL_SETTINGS: Final = {"configuration": "paper"}

KNOWN_METHODS: Final = (
    OptimizerMethod(name="random", optimizer="random"),
    OptimizerMethod(name="cmaes separable", optimizer="cmaes", deviation=CMAES_DEVIATION),
    OptimizerMethod(
        name="cmaes full",
        optimizer="cmaes",
        settings={"separable": False},
        deviation=CMAES_DEVIATION,
        largest=300,
    ),
    OptimizerMethod(name="local, none", optimizer="local_gp"),
    OptimizerMethod(name="local, found", optimizer="dss_gp_ucb"),
    OptimizerMethod(
        name="local, random", optimizer="dss_gp_ucb", settings=LOCAL_SETTINGS, graph="random"
    ),
    OptimizerMethod(
        name="local, true", optimizer="dss_gp_ucb", settings=LOCAL_SETTINGS, graph="true"
    ),
    OptimizerMethod(name="given, random", optimizer="dss_gp_ucb", graph="random"),
    OptimizerMethod(name="given, true", optimizer="dss_gp_ucb", graph="true"),
    OptimizerMethod(
        name="narrow, none", optimizer="local_gp", settings=NARROW_SETTINGS, kinds=("additive",)
    ),
    OptimizerMethod(
        name="narrow, true",
        optimizer="dss_gp_ucb",
        settings={**NARROW_SETTINGS, **LOCAL_SETTINGS},
        graph="true",
        kinds=("additive",),
    ),
    OptimizerMethod(
        name="global, none",
        optimizer="gp_ucb",
        settings={"max_points": 256, "pool": 512},
        largest=100,
    ),
    OptimizerMethod(
        name="global, found", optimizer="dss_gp_ucb", settings=GLOBAL_SETTINGS, largest=100
    ),
    OptimizerMethod(
        name="global, random",
        optimizer="dss_gp_ucb",
        settings=GLOBAL_SETTINGS,
        graph="random",
        largest=100,
    ),
    OptimizerMethod(
        name="global, true",
        optimizer="dss_gp_ucb",
        settings=GLOBAL_SETTINGS,
        graph="true",
        largest=100,
    ),
)
"""Families: "given", the default for given cliques; the local search of black boxes, the same as
weights of policies are searched; and the global search (with cliques `configuration=paper`, without
`gp_ucb`, of equal numbers of points)."""


def function_of(problem: FunctionProblem, seed: int) -> ScaledFunction:
    """Return the function of a seed."""
    if problem.kind == "additive":
        return additive(problem.dimension, seed)
    return embedded(problem.kind, problem.dimension, problem.rotated, seed)


def known_runs(seeds: int) -> list[FunctionRun]:
    """Return all cells; those of one function follow each other."""
    return _runs(KNOWN_PROBLEMS, seeds)


def quick_known_runs() -> list[FunctionRun]:
    """Return cells of seconds that say nothing, to see that the command works."""
    problems = (
        FunctionProblem(kind="additive", dimension=8, noise=0.2, evaluations=80),
        FunctionProblem(kind="hartmann6", dimension=10, rotated=True, evaluations=80),
    )
    return _runs(problems, 2)


def _runs(problems: Sequence[FunctionProblem], seeds: int) -> list[FunctionRun]:
    return [
        FunctionRun(problem=problem, method=method, seed=seed)
        for problem in problems
        for seed in range(seeds)
        for method in KNOWN_METHODS
        if method.takes(problem)
    ]


def run_known(run: FunctionRun) -> Row:
    """Ask and tell to the end of the budget; return one row of the table, JSON values.

    `regrets` and `seconds` are of the incumbent after each of `evaluations`: regret over that of
    the cube's mean, and the processor time that the optimiser took so far.
    """
    problem = run.problem
    function = function_of(problem, run.seed)
    settings = run.method.settings_for(problem, function.cliques, run.seed)
    rng = np.random.default_rng((run.seed, problem.dimension, 2))
    deviation = problem.noise * function.deviation

    def noisy(candidates: Float) -> Float:
        return function.value(candidates) + deviation * rng.standard_normal(problem.batch)

    found = list(
        incumbents(
            optimizer_of(run, settings),
            noisy,
            evaluations=problem.evaluations,
            batch=problem.batch,
            marks=REGRET_PLACES,
            stderr=deviation,
            after_each=True,
        )
    )
    return run.row(settings, found) | {
        "dimension": problem.dimension,
        "noise": problem.noise,
        "graph": run.method.graph,
        "regrets": [five_digits(function.regret(each.point)) for each in found],
    }
