"""The competitors' table: every optimiser of the registry on functions with published results.

Recorded are the simple regret of the best point so far, which papers print, and that of `best()`,
which an optimiser would hand over. Evaluations are exact, as in the papers.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any, Final

from rolecast.benchmarks.functions.literature import embedded
from rolecast.benchmarks.functions.runs import (
    FunctionProblem,
    FunctionRun,
    OptimizerMethod,
    five_digits,
    incumbents,
    optimizer_of,
)
from rolecast.benchmarks.result_table import Row
from rolecast.platform.optimizers.registry import BASELINES

REGRET_PLACES: Final = 10
"""Places along the budget at which regret is recorded."""

BAXUS_FIRST: Final = 10
"""Evaluations of its first design, which its authors take off the budget by which it halves."""

ALEBO_BRANIN: Final = 4
"""Dimensions of its authors' embedding for Branin; of 6 inputs they have its default, 12."""


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

OWN_SEARCHES: Final = (
    OptimizerMethod(name="dss_gp_ucb", optimizer="dss_gp_ucb", withheld=0),
    OptimizerMethod(name="local_gp", optimizer="local_gp", withheld=0),
    OptimizerMethod(name="dss_gp_ucb unplanned", optimizer="dss_gp_ucb"),
    OptimizerMethod(name="local_gp unplanned", optimizer="local_gp"),
    OptimizerMethod(name="gp_ucb", optimizer="gp_ucb"),
    OptimizerMethod(name="cmaes", optimizer="cmaes"),
    OptimizerMethod(
        name="cmaes full", optimizer="cmaes", settings={"separable": False}, largest=500
    ),
    OptimizerMethod(name="random", optimizer="random"),
)
"""The project's own, which narrow over the budget where they are told it, and yardsticks."""

LARGEST_DIMENSIONS: Final[Mapping[str, int]] = {"saasbo": 100, "gibo": 500}
"""Dimensions beyond which a competitor would take hours."""


EXACT_SETTINGS: Final[Mapping[str, Mapping[str, Any]]] = {
    "turbo": {"centre": "observed"},
    "gibo": {"step": 0.25, "width": 0.2},
    **{name: {"improvement": "mean"} for name in ("logei", "alebo", "saasbo")},
}
"""Settings that its authors use for functions: GIBO's are those of its synthetic experiments, its
defaults those for policies; the others suit exact evaluations alone."""

FEW_FIRST: Final = OptimizerMethod(
    name="turbo 20 first",
    optimizer="turbo",
    settings={**EXACT_SETTINGS["turbo"], "initial": 20},
    smallest=30,
)
"""TuRBO's first design is 2 D points: with many dimensions most of these budgets, or all."""

VARIANT_METHODS: Final = (
    OptimizerMethod(name="cmaes sigma 0.25", optimizer="cmaes", deviation=0.25),
    OptimizerMethod(name="snes sigma 0.25", optimizer="snes", deviation=0.25),
    OptimizerMethod(
        name="turbo 5 regions",
        optimizer="turbo",
        settings={**EXACT_SETTINGS["turbo"], "trust_regions": 5, "initial": 10},
        smallest=6,
        largest=100,
    ),
    *(
        OptimizerMethod(
            name=f"linebo {direction}",
            optimizer="linebo",
            settings={"direction": direction},
            smallest=6,
            largest=100,
        )
        for direction in ("coordinate", "random")
    ),
)
"""Settings of the same that others have printed figures of, or that authors have beside theirs.
Default clouds are made for weights of policies; 0.25 is CMA-ES's where its users say nothing."""


def published_methods() -> tuple[OptimizerMethod, ...]:
    """Return the project's own, then the competitors of the registry, as for exact values."""
    competitors = tuple(
        OptimizerMethod(
            name=name,
            optimizer=name,
            settings=EXACT_SETTINGS.get(name, {}),
            withheld=BAXUS_FIRST if name == "baxus" else None,
            largest=LARGEST_DIMENSIONS.get(name),
            kind_settings={"branin": {"embedding": ALEBO_BRANIN}} if name == "alebo" else {},
        )
        for name in BASELINES
    )
    return (*OWN_SEARCHES, FEW_FIRST, *competitors, *VARIANT_METHODS)


def published_runs(seeds: int) -> list[FunctionRun]:
    """Return the cells of the whole table; a seed of all before the next, so that it can stop."""
    return [
        FunctionRun(problem=problem, method=method, seed=seed)
        for seed in range(seeds)
        for problem in PUBLISHED_PROBLEMS
        for method in published_methods()
        if method.takes(problem)
    ]


def quick_published_runs() -> list[FunctionRun]:
    """Return a table of seconds that says nothing, to see that the command works."""
    problem = published_problem(kind="branin", dimension=3, evaluations=20)
    names = ("random", "cmaes", "snes", "rducb")
    return [
        FunctionRun(problem=problem, method=method, seed=0)
        for method in published_methods()
        if method.name in names
    ]


def run_published(run: FunctionRun) -> Row:
    """Ask and tell to the end of the budget; return one row of the table, JSON values.

    `observed` and `incumbent` are regrets of the best point so far and of `best()`, in the
    function's unit, after each of `evaluations`; `seconds` is the processor time that the optimiser
    took so far.
    """
    problem = run.problem
    function = embedded(problem.kind, problem.dimension, run.seed)
    settings = run.method.settings_for(problem)
    found = list(
        incumbents(
            optimizer_of(run, settings),
            function.value,
            evaluations=problem.evaluations,
            batch=problem.batch,
            marks=REGRET_PLACES,
        )
    )
    worths = [float(function.value(each.point[None])[0]) for each in found]
    return run.row(settings, found) | {
        "batch": problem.batch,
        "observed": [five_digits(function.optimum - each.greatest) for each in found],
        "incumbent": [five_digits(function.optimum - worth) for worth in worths],
    }
