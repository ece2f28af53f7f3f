"""Cells of `rolecast bench duets`: one run of a method each, to a row."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from rolecast.benchmarks.bandits.cluster import arrival_times
from rolecast.benchmarks.bandits.server_cost import SERVER_AGENTS, SERVER_DRAWS, server_cost
from rolecast.benchmarks.functions.runs import five_digits
from rolecast.benchmarks.result_table import Row
from rolecast.benchmarks.timing import machine
from rolecast.core.types import Float
from rolecast.platform.optimizers.duets.kernel import StationaryKernel
from rolecast.platform.optimizers.duets.region import EmptyRegionError
from rolecast.platform.search.bandit.run import BanditResult, bandit_search
from rolecast.tune_configs.duets_fig1 import (
    FIGURE_AGENTS,
    FIGURE_BETAS,
    FIGURE_FUNCTIONS,
    FIGURE_METHODS,
    FIGURE_ROUNDS,
    PAPER_METHODS,
)

GROWING_ROUNDS: Final = (100, 300, 1000, 3000, 10_000)
"""T, with N = 10."""

GROWING_AGENTS: Final = (1, 3, 10, 30, 100, 300, 1000)
"""N, with T = 100."""

OTHER_SEEDS: Final = 5
"""Most seeds of methods that the paper's figure lacks."""

BUMP_COUNT: Final = 8
"""Kernels of which a function of known norm is the sum."""

BUMP_LENGTHSCALE: Final = 0.2


@dataclass(frozen=True, kw_only=True)
class BanditRun:
    """One run."""

    part: str
    """"figure", "rounds" (T grows), "agents" (N grows), "server" (one epoch's cost) or
    "cluster" (time on a simulated one)."""

    function: str
    """A name, or "bumps1" or "bumps2" of so many dimensions; of the server only those count."""

    method: str
    agents: int
    rounds: int
    beta: float
    seed: int

    @property
    def key(self) -> str:
        """Tells it from all others."""
        return (
            f"{self.part} {self.function} {self.method} N={self.agents} T={self.rounds} "
            f"beta={self.beta:g} seed={self.seed}"
        )

    @property
    def names(self) -> Mapping[str, str]:
        """Its names by kind."""
        return {
            "part": self.part,
            "function": self.function,
            "method": self.method,
            "beta": f"{self.beta:g}",
            "seed": str(self.seed),
        }


def figure_runs(seeds: int) -> list[BanditRun]:
    """Return the paper's grid; a seed of all before the next, so that it can stop.

    The methods that the paper's figure lacks have at most five seeds.
    """
    return [
        BanditRun(
            part="figure",
            function=function,
            method=method,
            agents=FIGURE_AGENTS,
            rounds=FIGURE_ROUNDS,
            beta=beta,
            seed=seed,
        )
        for seed in range(seeds)
        for function in FIGURE_FUNCTIONS
        for method in (FIGURE_METHODS if seed < OTHER_SEEDS else PAPER_METHODS)
        for beta in FIGURE_BETAS
    ]


def growth_runs(seeds: int) -> list[BanditRun]:
    """Return runs of DUETS with growing T or N on functions of the kernel's space."""
    sizes = [("rounds", 10, rounds) for rounds in GROWING_ROUNDS]
    sizes += [("agents", agents, 100) for agents in GROWING_AGENTS]
    return _bump_runs(sizes, seeds)


def server_runs(seeds: int) -> list[BanditRun]:
    """Return first epochs of growing length."""
    return _bump_runs([("server", SERVER_AGENTS, draws) for draws in SERVER_DRAWS], seeds)


def _bump_runs(sizes: Sequence[tuple[str, int, int]], seeds: int) -> list[BanditRun]:
    """Return runs of DUETS on functions of the kernel's space, by part, N and T."""
    return [
        BanditRun(
            part=part,
            function=f"bumps{dimension}",
            method="duets",
            agents=agents,
            rounds=rounds,
            beta=1.0,
            seed=seed,
        )
        for seed in range(seeds)
        for dimension in (1, 2)
        for part, agents, rounds in sizes
    ]


def cluster_runs(seeds: int, betas: Mapping[tuple[str, str], float]) -> list[BanditRun]:
    """Return the figure's runs at the beta of each function and method, where there is one."""
    return [
        replace(run, part="cluster")
        for run in figure_runs(seeds)
        if betas.get((run.function, run.method)) == run.beta
    ]


def quick_runs() -> list[BanditRun]:
    """Return runs of seconds that say nothing."""
    small = [run for run in figure_runs(2) if run.function == "branin" and run.beta == 1.0]
    growing = [run for run in growth_runs(2) if run.function == "bumps1"]
    return [run for run in small if run.method in {"duets", "nkernelucb"}] + [
        run for run in growing if run.agents <= 10 and run.rounds <= 300
    ]


def all_runs(seeds: int) -> list[BanditRun]:
    """Return all cells but those of the cluster, whose betas follow from the figure's rows."""
    return [*figure_runs(seeds), *growth_runs(seeds), *server_runs(seeds)]


def run_cell(run: BanditRun) -> Row:
    """Play a run, or an epoch of the server; return its row, JSON values.

    A run of the figure whose region is trimmed to nothing has `failed` instead: the sentence.

    Raises:
        EmptyRegionError: so is the region of a run of another part, each of which has one beta.
    """
    names = ("part", "function", "method", "agents", "rounds", "beta", "seed")
    row = {"key": run.key, **{name: getattr(run, name) for name in names}}
    if run.part == "server":
        dimension = int(run.function.removeprefix("bumps"))
        cost = server_cost(dimension, run.rounds, run.seed, BUMP_LENGTHSCALE)
        row |= {name: five_digits(value) for name, value in cost.items()}
        return row | {"machine": machine({"numpy": "numpy", "scipy": "scipy"})}
    start = time.process_time()
    try:
        found = _played(run)
    except EmptyRegionError as error:
        if run.part != "figure":
            raise
        return row | {"failed": str(error), "seconds": five_digits(time.process_time() - start)}
    assert found.regret_by_round is not None
    if run.part == "cluster":
        times = arrival_times(found, run.seed)
        rounded = [None if each is None else five_digits(each) for each in times]
        return row | {"times": rounded, "seconds": five_digits(time.process_time() - start)}
    marks = [*range(4, run.rounds, 5)] if run.part == "figure" else [run.rounds - 1]
    return row | {
        "rounds_at": [mark + 1 for mark in marks],
        "regret": [five_digits(found.regret_by_round[mark]) for mark in marks],
        "reals": [five_digits(found.reals_by_round[mark]) for mark in marks],
        "exchanges": len(found.epochs),
        "seconds": five_digits(time.process_time() - start),
    }


def _played(run: BanditRun) -> BanditResult:
    settings = {"beta": run.beta}
    if not run.function.startswith("bumps"):
        return bandit_search(
            run.function,
            method=run.method,
            agents=run.agents,
            rounds=run.rounds,
            seed=run.seed,
            settings=settings,
        )
    dimension = int(run.function.removeprefix("bumps"))
    function = KernelSum.drawn(dimension, run.seed)
    return bandit_search(
        function,
        method=run.method,
        agents=run.agents,
        rounds=run.rounds,
        seed=run.seed,
        settings={**settings, "lengthscale": BUMP_LENGTHSCALE},
        bounds=[(0.0, 1.0)] * dimension,
        noise=0.2,
        optimum=function.optimum,
    )


@dataclass(frozen=True, eq=False)
class KernelSum:
    """A function of norm 1 in the space of a squared exponential: a weighted sum of kernels."""

    centres: Float
    """[M, d]."""

    weights: Float
    """[M]."""

    optimum: float
    """Greatest value on a fine grid of the unit cube."""

    @classmethod
    def drawn(cls, dimension: int, seed: int) -> "KernelSum":
        """Draw centres and weights by a seed."""
        rng = np.random.default_rng((dimension, seed))
        centres, weights = rng.random((BUMP_COUNT, dimension)), rng.standard_normal(BUMP_COUNT)
        kernel = StationaryKernel("squared_exponential", BUMP_LENGTHSCALE)
        weights /= np.sqrt(weights @ kernel.matrix(centres, centres) @ weights)
        axis = np.linspace(0.0, 1.0, 100_001 if dimension == 1 else 501)
        grid = np.stack(np.meshgrid(*[axis] * dimension), -1).reshape(-1, dimension)
        return cls(centres, weights, float((kernel.matrix(grid, centres) @ weights).max()))

    def __call__(self, point: Float) -> float:
        """Return the value at a point [d]."""
        squared = np.square(self.centres - point).sum(1) / BUMP_LENGTHSCALE**2
        return float(np.exp(-0.5 * squared) @ self.weights)


def slope(rows: Sequence[Row], size: str, value: str) -> float:
    """Return the least-squares slope of log value against log size, of one seed's rows."""
    sizes = np.log([row[size] for row in rows])
    values = np.log([row[value][-1] for row in rows])
    return float(np.polyfit(sizes, values, 1)[0])
