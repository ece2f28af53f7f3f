"""One cell of the optimisers' table: a function, an optimiser, a seed; asked and told to the end.

What is recorded is the true value of `best()`, which an optimiser would hand over if stopped there;
not the greatest noisy value that it met.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Final

import numpy as np

from rolecast.benchmarks.functions.additive import relabelled
from rolecast.benchmarks.functions.known_optimum import Function, additive, embedded
from rolecast.benchmarks.incumbents import incumbents
from rolecast.core.types import Float
from rolecast.platform.optimizers.local_gp.trust_region import POLICY_DEFAULTS, UNIFORM_DEVIATION
from rolecast.platform.optimizers.registry import make_optimizer

ASK_BATCH: Final = 20
"""Candidates asked for at once."""

REGRET_PLACES: Final = 12
"""Places along the budget, evenly spaced, at which regret is recorded."""


@dataclass(frozen=True, kw_only=True)
class Problem:
    """What is maximised."""

    kind: str
    """"additive", or the name of a standard function."""

    dimension: int
    """D."""

    rotated: bool = False
    """Whether a standard function is turned away from the axes."""

    noise: float = 0.0
    """Standard deviation of an evaluation's error, as a share of that of values over the cube."""

    evaluations: int = 1000
    """Budget."""

    @property
    def name(self) -> str:
        """What the table calls it."""
        turned = ", rotated" if self.rotated else ""
        noisy = f", noise {self.noise:g}" if self.noise else ""
        return f"{self.kind} {self.dimension}{turned}{noisy}"

    def function(self, seed: int) -> Function:
        """Return the function of a seed."""
        if self.kind == "additive":
            return additive(self.dimension, seed)
        return embedded(self.kind, self.dimension, self.rotated, seed)


@dataclass(frozen=True, kw_only=True)
class Contestant:
    """Who maximises: an optimiser with its settings."""

    name: str
    """As the table names it."""

    optimizer: str
    """Name in the registry."""

    settings: Mapping[str, Any] = field(default_factory=dict)
    """What differs from its defaults, whatever the problem."""

    graph: str | None = None
    """Cliques given to it: "true", "random" (the true ones, dimensions exchanged) or none; then
    `dss_gp_ucb` looks for them itself."""

    width: float | None = None
    """First radius as a share of that of uniform points; None: its default."""

    largest: int | None = None
    """Most dimensions that it can be asked to search within this table's time."""

    kinds: str | None = None
    """The only kind of problem that it is asked about; None: all."""

    def takes(self, problem: Problem) -> bool:
        """Return whether this contestant is asked about a problem."""
        graph = not problem.rotated and problem.kind != "ackley"
        small = self.largest is None or problem.dimension <= self.largest
        return small and (graph or self.graph is None) and self.kinds in (None, problem.kind)

    def settings_for(self, problem: Problem, seed: int) -> dict[str, Any]:
        """Return all settings that differ from the defaults."""
        settings = dict(self.settings)
        if self.width is not None:
            settings["radius"] = self.width * UNIFORM_DEVIATION * float(np.sqrt(problem.dimension))
        cliques = problem.function(seed).cliques
        if self.graph is not None and cliques is not None:
            control = relabelled(cliques, problem.dimension, np.random.default_rng((seed, 1)))
            settings["cliques"] = cliques if self.graph == "true" else control
        return settings


PROBLEMS: Final = (
    Problem(kind="additive", dimension=20, evaluations=600),
    Problem(kind="additive", dimension=20, noise=0.2, evaluations=600),
    Problem(kind="additive", dimension=100),
    Problem(kind="additive", dimension=100, noise=0.2),
    Problem(kind="additive", dimension=400),
    Problem(kind="additive", dimension=400, noise=0.2),
    Problem(kind="hartmann6", dimension=100),
    Problem(kind="hartmann6", dimension=100, rotated=True),
    Problem(kind="branin", dimension=300),
    Problem(kind="branin", dimension=300, rotated=True),
    Problem(kind="ackley", dimension=100),
    Problem(kind="ackley", dimension=100, rotated=True),
    Problem(kind="levy", dimension=100),
    Problem(kind="levy", dimension=100, rotated=True),
)

NARROW_SETTINGS: Final = {
    **asdict(POLICY_DEFAULTS),
    "outcome_transform": "signed_sqrt",
    "signal_to_noise": 0.0,
    "restart_at_centre": False,
}
LITERAL_SETTINGS: Final = {"configuration": "paper"}

CONTESTANTS: Final = (
    Contestant(name="random", optimizer="random"),
    Contestant(name="cmaes separable", optimizer="cmaes", width=0.75),
    Contestant(
        name="cmaes full",
        optimizer="cmaes",
        settings={"separable": False},
        width=0.75,
        largest=300,
    ),
    Contestant(name="local, none", optimizer="local_gp"),
    Contestant(name="local, found", optimizer="dss_gp_ucb"),
    Contestant(name="local, random", optimizer="dss_gp_ucb", graph="random"),
    Contestant(name="local, true", optimizer="dss_gp_ucb", graph="true"),
    Contestant(
        name="narrow, none", optimizer="local_gp", settings=NARROW_SETTINGS, kinds="additive"
    ),
    Contestant(
        name="narrow, true",
        optimizer="dss_gp_ucb",
        settings=NARROW_SETTINGS,
        graph="true",
        kinds="additive",
    ),
    Contestant(
        name="global, none",
        optimizer="gp_ucb",
        settings={"max_points": 256, "pool": 512},
        largest=100,
    ),
    Contestant(
        name="global, found", optimizer="dss_gp_ucb", settings=LITERAL_SETTINGS, largest=100
    ),
    Contestant(
        name="global, random",
        optimizer="dss_gp_ucb",
        settings=LITERAL_SETTINGS,
        graph="random",
        largest=100,
    ),
    Contestant(
        name="global, true",
        optimizer="dss_gp_ucb",
        settings=LITERAL_SETTINGS,
        graph="true",
        largest=100,
    ),
)
"""Families: the local search of black boxes, the same as weights of policies are searched, and the
global search (with cliques `configuration=paper`, without `gp_ucb`, of equal numbers of points)."""


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One run."""

    problem: Problem
    contestant: Contestant
    seed: int
    """Of function, noise and optimiser."""

    @property
    def key(self) -> str:
        """What tells this cell from all others."""
        return f"{self.problem.name} / {self.contestant.name} / {self.seed}"


def function_cells(seeds: int) -> list[Cell]:
    """Return all cells; those of one function follow each other."""
    return [
        Cell(problem=problem, contestant=contestant, seed=seed)
        for problem in PROBLEMS
        for seed in range(seeds)
        for contestant in CONTESTANTS
        if contestant.takes(problem)
    ]


def quick_function_cells() -> list[Cell]:
    """Return cells of seconds that say nothing, to see that the command works."""
    problems = (
        Problem(kind="additive", dimension=8, noise=0.2, evaluations=80),
        Problem(kind="hartmann6", dimension=10, rotated=True, evaluations=80),
    )
    return [
        Cell(problem=problem, contestant=contestant, seed=seed)
        for problem in problems
        for seed in range(2)
        for contestant in CONTESTANTS
        if contestant.takes(problem)
    ]


def run_cell(cell: Cell) -> dict[str, Any]:
    """Ask and tell to the end of the budget; return one row of the table, JSON values.

    `regrets` and `seconds` are of the incumbent after each of `evaluations`: regret over that of
    the cube's mean, and the processor time that the optimiser took so far.
    """
    problem, contestant = cell.problem, cell.contestant
    function = problem.function(cell.seed)
    settings = contestant.settings_for(problem, cell.seed)
    optimizer = make_optimizer(
        contestant.optimizer, dimension=problem.dimension, seed=cell.seed, **settings
    )
    rng = np.random.default_rng((cell.seed, problem.dimension, 2))
    deviation = problem.noise * function.deviation

    def noisy(candidates: Float) -> Float:
        return function.value(candidates) + deviation * rng.standard_normal(ASK_BATCH)

    found = list(
        incumbents(
            optimizer,
            noisy,
            evaluations=problem.evaluations,
            batch=ASK_BATCH,
            marks=REGRET_PLACES,
            stderr=deviation,
            after_each=True,
        )
    )
    return {
        "key": cell.key,
        "problem": problem.name,
        "dimension": problem.dimension,
        "noise": problem.noise,
        "contestant": contestant.name,
        "optimizer": contestant.optimizer,
        "settings": {name: value for name, value in settings.items() if name != "cliques"},
        "graph": contestant.graph,
        "seed": cell.seed,
        "evaluations": [each.evaluations for each in found],
        "regrets": [float(f"{function.regret(each.point):.5g}") for each in found],
        "seconds": [each.seconds for each in found],
    }
