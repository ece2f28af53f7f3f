"""One run of an optimiser on a function: problem, method and seed, asked and told to the end."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import sqrt
from typing import Any

import numpy as np

from rolecast.benchmarks.functions.black_boxes import Cliques
from rolecast.benchmarks.result_table import Row
from rolecast.core.types import Float
from rolecast.platform.optimizers.protocol import Optimizer, Paced
from rolecast.platform.optimizers.registry import make_optimizer


@dataclass(frozen=True, kw_only=True)
class FunctionProblem:
    """A function that is maximised over the unit cube, and the budget."""

    kind: str
    """Name of the function."""

    dimension: int
    """D."""

    evaluations: int = 1000
    """Budget."""

    batch: int = 20
    """q, candidates asked for at once."""

    rotated: bool = False
    """Whether the function is turned away from the axes."""

    noise: float = 0.0
    """Standard deviation of an evaluation's error, as a share of that of values over the cube."""

    asked: tuple[str, ...] = ()
    """Names of the only methods that are asked; empty: all that take the problem."""

    @property
    def name(self) -> str:
        """Name in the table."""
        turned = ", rotated" if self.rotated else ""
        noisy = f", noise {self.noise:g}" if self.noise else ""
        return f"{self.kind} {self.dimension}{turned}{noisy}" + (
            " one by one" if self.batch == 1 else ""
        )

    @property
    def has_graph(self) -> bool:
        """Whether a graph of the function's interactions is known."""
        return not self.rotated and self.kind != "ackley"

    @property
    def has_wrong_graphs(self) -> bool:
        """Whether exchanged dimensions have another graph: not one of single dimensions."""
        return self.has_graph and self.kind != "levy"


@dataclass(frozen=True, kw_only=True)
class OptimizerMethod:
    """An optimiser with settings, and the problems that it is asked about."""

    name: str
    """Name in the table."""

    optimizer: str
    """Name in the registry."""

    settings: Mapping[str, Any] = field(default_factory=dict)
    """What differs from its defaults, whatever the problem."""

    kind_settings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Further settings by the kind of problem."""

    deviation: float | None = None
    """First standard deviation of a coordinate, of an optimiser with a `radius`; None: its own."""

    withheld: int | None = None
    """Evaluations by which the budget exceeds its setting `evaluations`; None: it is not told."""

    graph: str | None = None
    """Cliques given to it: "true", "random" (the true ones, dimensions exchanged) or None."""

    kinds: tuple[str, ...] = ()
    """The only kinds of problem that it is asked about; empty: all."""

    smallest: int = 1
    """Fewest dimensions that it is asked to search."""

    largest: int | None = None
    """Most dimensions that it is asked to search; None: any number."""

    def takes(self, problem: FunctionProblem) -> bool:
        """Return whether it is asked about a problem."""
        if problem.asked:
            return self.name in problem.asked
        return (
            self.smallest <= problem.dimension <= (self.largest or problem.dimension)
            and (not self.kinds or problem.kind in self.kinds)
            and (self.graph is None or problem.has_graph)
            and (self.graph != "random" or problem.has_wrong_graphs)
        )

    def settings_for(
        self, problem: FunctionProblem, cliques: Cliques | None = None, seed: int = 0
    ) -> dict[str, Any]:
        """Return all that differs from its defaults on a problem.

        Args:
            problem: what is maximised.
            cliques: the true graph, where one is known.
            seed: of the random graph.
        """
        settings = {**self.settings, **self.kind_settings.get(problem.kind, {})}
        if self.deviation is not None:
            settings["radius"] = self.deviation * sqrt(problem.dimension)
        if self.withheld is not None:
            settings["evaluations"] = problem.evaluations - self.withheld
        if self.graph is not None and cliques is not None:
            control = relabelled(cliques, problem.dimension, np.random.default_rng((seed, 1)))
            settings["cliques"] = cliques if self.graph == "true" else control
        return settings


def relabelled(cliques: Cliques, dimension: int, rng: np.random.Generator) -> Cliques:
    """Return the cliques of the same graph with its dimensions exchanged at random: a control."""
    names = rng.permutation(dimension)
    return tuple(tuple(sorted(int(names[one]) for one in clique)) for clique in cliques)


@dataclass(frozen=True)
class Incumbent:
    """What an optimiser has at one place of its budget."""

    point: Float
    """[D], `best()`."""

    greatest: float
    """The greatest value that it was told."""

    evaluations: int
    """Told so far."""

    seconds: float
    """Processor time that it took so far."""


@dataclass(frozen=True, kw_only=True)
class FunctionRun:
    """One cell of a table of functions."""

    problem: FunctionProblem
    method: OptimizerMethod
    seed: int
    """Of function, noise and optimiser."""

    @property
    def key(self) -> str:
        """Name of its row."""
        return f"{self.problem.name} / {self.method.name} / {self.seed}"

    @property
    def names(self) -> Mapping[str, str]:
        """Names by kind of filter."""
        return {
            "problem": self.problem.name,
            "kind": self.problem.kind,
            "contestant": self.method.name,
            "seed": str(self.seed),
        }

    def row(self, settings: Mapping[str, Any], found: Sequence[Incumbent]) -> Row:
        """Return what every table of functions records of a run, JSON values."""
        return {
            "key": self.key,
            "problem": self.problem.name,
            "contestant": self.method.name,
            "optimizer": self.method.optimizer,
            "settings": _recorded(settings),
            "seed": self.seed,
            "batch": self.problem.batch,
            "evaluations": [each.evaluations for each in found],
            "seconds": [each.seconds for each in found],
        }


def _recorded(settings: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in settings.items() if name != "cliques"}


def planned_fields(runs: Iterable[FunctionRun], marks: int) -> dict[str, dict[str, Any]]:
    """Return what rows of runs at a number of marks have, by key, for `ResultTable.planned`."""
    return {
        run.key: {
            "settings": _recorded(run.method.settings_for(run.problem)),
            "evaluations": marked(run.problem.evaluations, run.problem.batch, marks),
            "batch": run.problem.batch,
        }
        for run in runs
    }


def marked(evaluations: int, batch: int, marks: int) -> list[int]:
    """Return the places along a budget, evenly spaced, at the ends of batches."""
    batches = evaluations // batch
    return sorted({batch * round(batches * mark / marks) for mark in range(1, marks + 1)} - {0})


def unrun_text(rows: Sequence[Mapping[str, Any]], planned: Iterable[FunctionRun]) -> str:
    """Say which problems and optimisers of a plan no row has; nothing where all are there."""
    kinds = {"problems": "problem", "optimisers": "contestant"}
    runs = list(planned)
    left = []
    for what, kind in kinds.items():
        there = {row[kind] for row in rows}
        names = dict.fromkeys(run.names[kind] for run in runs if run.names[kind] not in there)
        if names:
            left.append(f"{what} {', '.join(f'`{name}`' for name in names)}")
    return f"Not run: {'; '.join(left)}." if left else ""


def optimizer_of(run: FunctionRun, settings: Mapping[str, Any]) -> Optimizer:
    """Return the fresh optimiser of a run."""
    return make_optimizer(
        run.method.optimizer, dimension=run.problem.dimension, seed=run.seed, **settings
    )


def five_digits(value: float) -> float:
    """Return a number with the digits that a results file keeps."""
    return float(f"{value:.5g}")


def incumbents(
    optimizer: Optimizer,
    evaluate: Callable[[Float], Float],
    *,
    evaluations: int,
    batch: int,
    marks: int,
    stderr: float = 0.0,
    after_each: bool = False,
) -> Iterator[Incumbent]:
    """Yield what an optimiser has at places along its budget, evenly spaced.

    Args:
        optimizer: a fresh one.
        evaluate: values [q] of candidates [q, D].
        evaluations: budget.
        batch: q.
        marks: places.
        stderr: what each evaluation is told to err by.
        after_each: ask for `best()` after each batch, as a search does, so that its time counts;
            else at the marks alone.
    """
    batches = evaluations // batch
    places = marked(evaluations, batch, marks)
    spent, greatest = 0.0, -np.inf
    for place in range(1, batches + 1):
        start = time.process_time()
        if isinstance(optimizer, Paced):
            optimizer.pace((place - 1) / batches)
        candidates = optimizer.ask(batch)
        spent += time.process_time() - start
        values = evaluate(candidates)
        greatest = max(greatest, float(values.max()))
        start = time.process_time()
        optimizer.tell(candidates, values, np.full(batch, stderr))
        best = optimizer.best() if after_each or place * batch in places else None
        spent += time.process_time() - start
        if best is not None and place * batch in places:
            yield Incumbent(best, greatest, place * batch, round(spent, 3))
