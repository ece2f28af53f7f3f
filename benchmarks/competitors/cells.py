"""One cell of the competitors' table: a published function, an optimiser, a seed.

Recorded are the simple regret of the best point so far, which papers print, and that of `best()`,
which an optimiser would hand over. Evaluations are exact, as in the papers.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from rolecast.benchmarks.competitors.problems import embedded
from rolecast.benchmarks.incumbents import incumbents
from rolecast.platform.optimizers.registry import BASELINES, make_optimizer

REGRET_PLACES: Final = 10
"""Places along the budget at which regret is recorded."""

BAXUS_FIRST: Final = 10
"""Evaluations of its first design, which its authors take off the budget by which it halves."""

ALEBO_BRANIN: Final = 4
"""Dimensions of its authors' embedding for Branin; of 6 inputs they have its default, 12."""


@dataclass(frozen=True, kw_only=True)
class Problem:
    """What is maximised, and with how much."""

    kind: str
    """Name in `competitors_functions.PUBLISHED`."""

    dimension: int
    """D."""

    evaluations: int
    """Budget."""

    batch: int = 10
    """q."""

    asked: tuple[str, ...] = ()
    """Names of the contestants; none: all that take so many dimensions."""

    @property
    def name(self) -> str:
        """What the table calls it."""
        return f"{self.kind} {self.dimension}" + (" one by one" if self.batch == 1 else "")


@dataclass(frozen=True, kw_only=True)
class Contestant:
    """An optimiser, with its default settings unless said otherwise."""

    name: str
    """As the table names it."""

    optimizer: str
    """Name in the registry."""

    settings: Mapping[str, Any] = field(default_factory=dict)
    """What differs from its defaults."""

    sigma: float | None = None
    """Deviation of a coordinate at first, of an optimiser that takes a `radius`; None: its own."""

    withheld: int | None = None
    """Evaluations by which the budget is more than what it is told as `evaluations`; None: it is
    not told."""

    largest: int = 1000
    """Most dimensions that it is asked to search."""

    smallest: int = 1
    """Fewest."""

    def takes(self, problem: Problem) -> bool:
        """Return whether it is asked about a problem."""
        if problem.asked:
            return self.name in problem.asked
        return self.smallest <= problem.dimension <= self.largest

    def settings_for(self, problem: Problem) -> dict[str, Any]:
        """Return all that differs from its defaults on a problem."""
        chosen = dict(self.settings)
        if self.sigma is not None:
            chosen["radius"] = self.sigma * problem.dimension**0.5
        if self.withheld is not None:
            chosen["evaluations"] = problem.evaluations - self.withheld
        if self.optimizer == "alebo" and problem.kind == "branin":
            chosen["embedding"] = ALEBO_BRANIN
        return chosen


PROBLEMS: Final = (
    Problem(kind="branin", dimension=2, evaluations=200),
    Problem(kind="branin", dimension=30, evaluations=50, batch=5),
    Problem(kind="hartmann6", dimension=6, evaluations=200),
    Problem(kind="ackley", dimension=20, evaluations=460),
    Problem(kind="branin", dimension=500, evaluations=100),
    Problem(kind="branin", dimension=100, evaluations=100),
    Problem(kind="hartmann6", dimension=100, evaluations=200),
    Problem(kind="levy", dimension=10, evaluations=200),
    Problem(kind="rosenbrock", dimension=10, evaluations=200),
    Problem(kind="styblinski_tang", dimension=10, evaluations=200),
    Problem(kind="rover", dimension=60, evaluations=500, batch=20),
    Problem(kind="branin", dimension=1000, evaluations=100),
    Problem(kind="hartmann6", dimension=1000, evaluations=200),
    Problem(
        kind="branin",
        dimension=100,
        evaluations=50,
        batch=1,
        asked=("random", "turbo 20 first", "alebo", "cmaes sigma 0.25"),
    ),
    Problem(kind="branin", dimension=500, evaluations=100, batch=1, asked=("baxus",)),
    Problem(
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
    Contestant(name="dss_gp_ucb", optimizer="dss_gp_ucb", withheld=0),
    Contestant(name="local_gp", optimizer="local_gp", withheld=0),
    Contestant(name="dss_gp_ucb unplanned", optimizer="dss_gp_ucb"),
    Contestant(name="local_gp unplanned", optimizer="local_gp"),
    Contestant(name="gp_ucb", optimizer="gp_ucb"),
    Contestant(name="cmaes", optimizer="cmaes"),
    Contestant(name="cmaes full", optimizer="cmaes", settings={"separable": False}, largest=500),
    Contestant(name="random", optimizer="random"),
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

FEW_FIRST: Final = Contestant(
    name="turbo 20 first",
    optimizer="turbo",
    settings={**EXACT_SETTINGS["turbo"], "initial": 20},
    smallest=30,
)
"""TuRBO's first design is 2 D points: with many dimensions most of these budgets, or all."""

VARIANT_CONTESTANTS: Final = (
    Contestant(name="cmaes sigma 0.25", optimizer="cmaes", sigma=0.25),
    Contestant(name="snes sigma 0.25", optimizer="snes", sigma=0.25),
    Contestant(
        name="turbo 5 regions",
        optimizer="turbo",
        settings={**EXACT_SETTINGS["turbo"], "trust_regions": 5, "initial": 10},
        smallest=6,
        largest=100,
    ),
    *(
        Contestant(
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


def contestants() -> tuple[Contestant, ...]:
    """Return the project's own, then the competitors of the registry, as for exact values."""
    competitors = tuple(
        Contestant(
            name=name,
            optimizer=name,
            settings=EXACT_SETTINGS.get(name, {}),
            withheld=BAXUS_FIRST if name == "baxus" else None,
            largest=LARGEST_DIMENSIONS.get(name, 1000),
        )
        for name in BASELINES
    )
    return (*OWN_SEARCHES, FEW_FIRST, *competitors, *VARIANT_CONTESTANTS)


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One run."""

    problem: Problem
    contestant: Contestant
    seed: int
    """Of the embedding and the optimiser."""

    @property
    def key(self) -> str:
        """What tells this cell from all others."""
        return f"{self.problem.name} / {self.contestant.name} / {self.seed}"


def all_cells(seeds: int) -> list[Cell]:
    """Return the cells of the whole table; a seed of all before the next, so that it can stop."""
    return [
        Cell(problem=problem, contestant=contestant, seed=seed)
        for seed in range(seeds)
        for problem in PROBLEMS
        for contestant in contestants()
        if contestant.takes(problem)
    ]


def quick_cells() -> list[Cell]:
    """Return a table of seconds that says nothing, to see that the command works."""
    problem = Problem(kind="branin", dimension=3, evaluations=20)
    names = ("random", "cmaes", "snes", "rducb")
    return [
        Cell(problem=problem, contestant=contestant, seed=0)
        for contestant in contestants()
        if contestant.name in names
    ]


def run_cell(cell: Cell) -> dict[str, Any]:
    """Ask and tell to the end of the budget; return one row of the table, JSON values.

    `observed` and `incumbent` are regrets of the best point so far and of `best()`, in the
    function's unit, after each of `evaluations`; `seconds` is the processor time that the optimiser
    took so far.
    """
    problem, contestant = cell.problem, cell.contestant
    function = embedded(problem.kind, problem.dimension, cell.seed)
    settings = contestant.settings_for(problem)
    optimizer = make_optimizer(
        contestant.optimizer, dimension=problem.dimension, seed=cell.seed, **settings
    )
    found = list(
        incumbents(
            optimizer,
            function.value,
            evaluations=problem.evaluations,
            batch=problem.batch,
            marks=REGRET_PLACES,
        )
    )
    worths = [float(function.value(each.point[None])[0]) for each in found]
    return {
        "key": cell.key,
        "problem": problem.name,
        "contestant": contestant.name,
        "optimizer": contestant.optimizer,
        "settings": settings,
        "seed": cell.seed,
        "batch": problem.batch,
        "evaluations": [each.evaluations for each in found],
        "observed": [float(f"{function.optimum - each.greatest:.5g}") for each in found],
        "incumbent": [float(f"{function.optimum - worth:.5g}") for worth in worths],
        "seconds": [each.seconds for each in found],
    }
