"""The competitors' table: every optimiser of the registry on functions with published results.

Recorded are the simple regret of the best point so far, which papers print, and that of `best()`,
which an optimiser would hand over. Evaluations are exact, as in the papers. The page has them
beside printed figures.
"""

import csv
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np

from rolecast.benchmarks.functions.literature import (
    PUBLISHED_PROBLEMS,
    embedded,
    published_problem,
)
from rolecast.benchmarks.functions.runs import (
    FunctionProblem,
    FunctionRun,
    OptimizerMethod,
    five_digits,
    incumbents,
    optimizer_of,
    planned_fields,
    unrun_text,
)
from rolecast.benchmarks.result_table import ResultTable, Row, by_table, markdown_table
from rolecast.platform.optimizers.duets.config import MOST_DIMENSIONS
from rolecast.platform.optimizers.registry import BASELINES

REGRET_PLACES: Final = 10
"""Places along the budget at which regret is recorded."""

BAXUS_FIRST: Final = 10
"""Evaluations of its first design, which its authors take off the budget by which it halves."""

ALEBO_BRANIN: Final = 4
"""Dimensions of its authors' embedding for Branin; of 6 inputs they have its default, 12."""


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

LARGEST_DIMENSIONS: Final[Mapping[str, int]] = {
    "saasbo": 100,
    "gibo": 500,
    "duets": MOST_DIMENSIONS,
}
"""Dimensions beyond which an optimiser would take hours, or is refused."""


EXACT_SETTINGS: Final[Mapping[str, Mapping[str, Any]]] = {
    "turbo": {"centre": "observed"},
    "gibo": {"step": 0.25, "width": 0.2},
    **{name: {"improvement": "mean"} for name in ("logei", "spherical_linear", "alebo", "saasbo")},
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
        "observed": [five_digits(function.optimum - each.greatest) for each in found],
        "incumbent": [five_digits(function.optimum - worth) for worth in worths],
    }


PUBLISHED_FILE: Final = Path(__file__).with_name("published.csv")
PROBLEM_HEAD: Final = ("optimiser", "best so far", "`best()`", "published", "seeds", "s a run")
PRINTED_HEAD: Final = (
    "problem, evaluations",
    "method",
    "regret",
    "ours",
    "runs",
    "batch",
    "source",
)


@cache
def published() -> tuple[Mapping[str, str], ...]:
    """Return the printed figures: a line each, by the names of the file's columns."""
    lines = [line for line in PUBLISHED_FILE.read_text().splitlines() if not line.startswith("#")]
    return tuple(csv.DictReader(lines))


def markdown(rows: Sequence[Row]) -> str:
    """Return the page: a table for each problem, then the figures that others have printed."""
    text = [
        "# Competitors on functions with published results",
        "",
        "Simple regret, in the function's own unit, after the last evaluation: of the best point "
        "so far, as papers print it, and of `best()`, which a search would hand over. Median over "
        "seeds, least and greatest in brackets. Evaluations are exact. Settings are the defaults "
        "of `rolecast optimizers NAME`, but for those that authors have for functions alone, and a "
        f"first design of 20 points where 2 D would be most of the budget ({_exact()}). Time "
        "is of one core, all proposals and incumbents of a run. Published: what others printed "
        "for this function, number of dimensions and of evaluations (sources below); batches "
        "differ. Written by `rolecast bench competitors`.",
    ]
    for problem in PUBLISHED_PROBLEMS:
        cells = [row for row in rows if row["problem"] == problem.name]
        if not cells:
            continue
        lines, printed = [], _at_the_end(problem)
        for name in dict.fromkeys(row["contestant"] for row in cells):
            runs = [row for row in cells if row["contestant"] == name]
            seconds = float(np.median([run["seconds"][-1] for run in runs]))
            line = (
                name,
                _spread([run["observed"][-1] for run in runs]),
                _spread([run["incumbent"][-1] for run in runs]),
                _printed(printed.pop(name, None)),
                str(len(runs)),
                f"{seconds:.2g}",
            )
            lines.append(line)
        lines += [(name, "", "", _printed(line), "", "") for name, line in printed.items()]
        text += [
            "",
            f"## {problem.name}, {cells[0]['evaluations'][-1]} evaluations, batches of "
            f"{cells[0]['batch']}",
            "",
            markdown_table(PROBLEM_HEAD, lines),
        ]
    if unrun := unrun_text(rows, published_runs(1)):
        text += ["", unrun]
    text += [
        "",
        "## Published",
        "",
        "Beside them what came out here after as many evaluations, of the contestant named: the "
        "median over seeds, and their range. In square brackets of others: from the tenth to the "
        "ninetieth percent of runs.",
        "",
        markdown_table(PRINTED_HEAD, [_printed_row(rows, line) for line in published()]),
    ]
    return "\n".join(text) + "\n"


def _printed_row(rows: Sequence[Row], line: Mapping[str, str]) -> tuple[str, ...]:
    problem = f"{line['problem']}, {line['evaluations']}"
    source = (line["runs"], line["batch"], line["source"])
    return (problem, line["method"], _printed(line), _ours(rows, line), *source)


def _at_the_end(problem: FunctionProblem) -> dict[str, Mapping[str, str]]:
    """Return the printed figures after as many evaluations as the table has, by contestant.

    Of several the first; of no contestant by the method's own name.
    """
    found: dict[str, Mapping[str, str]] = {}
    for line in published():
        if (line["problem"], int(line["evaluations"])) == (problem.name, problem.evaluations):
            found.setdefault(line["contestant"] or line["method"], line)
    return found


def _ours(rows: Sequence[Row], line: Mapping[str, str]) -> str:
    """Return the regret here after as many evaluations as in a printed line, and of which."""
    at = int(line["evaluations"])
    values = [
        row["observed"][row["evaluations"].index(at)]
        for row in rows
        if (row["problem"], row["contestant"]) == (line["problem"], line["contestant"])
        and at in row["evaluations"]
    ]
    return f"`{line['contestant']}` {_spread(values)}" if values else ""


def _exact() -> str:
    """Return which optimiser has which settings that are not its defaults."""
    return "; ".join(
        f"`{name}`: " + ", ".join(f"`{key}={value}`" for key, value in settings.items())
        for name, settings in {**EXACT_SETTINGS, FEW_FIRST.name: FEW_FIRST.settings}.items()
    ) + (
        "; `baxus`: `evaluations` is what the budget leaves after its first design; `alebo` on "
        f"Branin: `embedding={ALEBO_BRANIN}`"
    )


def _spread(values: Sequence[float]) -> str:
    middle = f"**{np.median(values):.3g}**"
    return middle if len(values) < 2 else f"{middle} [{min(values):.3g}, {max(values):.3g}]"


def _printed(line: Mapping[str, str] | None) -> str:
    if line is None:
        return ""
    sign = "" if line["spread"].startswith("[") else "± "
    return line["regret"] + (f" {sign}{line['spread']}" if line["spread"] else "")


PUBLISHED_TABLE: Final[ResultTable[FunctionRun]] = ResultTable(
    file="competitors.json",
    kinds=("problem", "contestant", "seed"),
    run=run_published,
    order=by_table(
        [problem.name for problem in PUBLISHED_PROBLEMS],
        [method.name for method in published_methods()],
    ),
    line=lambda row: f"regret {row['observed'][-1]} in {row['seconds'][-1]:.1f} s",
    pages=lambda rows: {"competitors.md": markdown(rows).encode()},
    planned=lambda rows: planned_fields(
        published_runs(1 + max(row["seed"] for row in rows)), REGRET_PLACES
    ),
)
